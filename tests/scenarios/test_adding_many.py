"""AddBatch and StoreInteraction: several messages in one acknowledgement, all or nothing."""

from typing import Any
from uuid import UUID

import grpc

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_USER, Message
from tests.scenarios.talk import Talk, at, tagged
from tests.support.process import refusal


def said(message_id: str, content: str = "") -> Message:
    return Message(id=message_id, role=ROLE_USER, content=content or message_id)


def store(talk: Talk, question: str, answer: str, **fields: Any) -> pb.StoreInteractionResponse:
    response: pb.StoreInteractionResponse = talk.client.memory.StoreInteraction(
        pb.StoreInteractionRequest(**talk.names, user_message=question, assistant_message=answer, **fields)
    )
    return response


def test_a_batch_is_stored_in_its_order_with_one_result_each(talk: Talk) -> None:
    answer = talk.batch(said("a"), said("b"), said("c"))
    assert [(one.message_id, one.sequence, one.duplicate) for one in answer.results] == [
        ("a", 1, False),
        ("b", 2, False),
        ("c", 3, False),
    ]
    assert answer.session == talk.count()
    assert talk.ids() == ["a", "b", "c"]


def test_one_invalid_message_refuses_the_whole_batch_and_is_named_by_its_place(talk: Talk) -> None:
    refused = refusal(lambda: talk.batch(said("a"), Message(id="b", role=ROLE_USER), said("c")))
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")
    assert refused.field == "messages[1].content"
    assert talk.ids() == []


def test_the_path_of_a_wrong_field_leads_into_the_tool_call(talk: Talk) -> None:
    message = Message(role=ROLE_ASSISTANT)
    message.tool_calls.add(id="fine", name="fine")
    message.tool_calls.add(id="", name="nameless")
    assert refusal(lambda: talk.batch(said("a"), message)).field == "messages[1].tool_calls[1].id"


def test_known_messages_of_a_batch_are_reported_as_duplicates_and_the_others_appended(talk: Talk) -> None:
    talk.batch(said("a"), said("b"))
    results = talk.batch(said("b"), said("c"), said("a")).results
    assert [(one.message_id, one.sequence, one.duplicate) for one in results] == [
        ("b", 2, True),
        ("c", 3, False),
        ("a", 1, True),
    ]
    assert talk.ids() == ["a", "b", "c"]


def test_a_conflict_refuses_the_whole_batch(talk: Talk) -> None:
    talk.say("first body", id="a")
    refused = refusal(lambda: talk.batch(said("new"), said("a", "second body")))
    assert (refused.code, refused.reason) == (grpc.StatusCode.ALREADY_EXISTS, "ID_CONFLICT")
    assert talk.contents() == ["first body"]


def test_an_id_that_stands_twice_in_one_batch_is_stored_once(talk: Talk) -> None:
    results = talk.batch(said("a"), said("a")).results
    assert [(one.sequence, one.duplicate) for one in results] == [(1, False), (1, True)]
    assert talk.ids() == ["a"]


def test_an_id_that_stands_twice_with_two_bodies_refuses_the_batch(talk: Talk) -> None:
    assert refusal(lambda: talk.batch(said("a", "one"), said("a", "two"))).reason == "ID_CONFLICT"
    assert talk.ids() == []


def test_an_empty_batch_is_refused(talk: Talk) -> None:
    assert refusal(talk.batch).field == "messages"


def test_an_interaction_becomes_a_user_and_an_assistant_message(talk: Talk) -> None:
    tags, said_at = tagged({"topic": "capitals"}), at("2024-05-01T12:00:00Z")
    answer = store(
        talk, "France?", "Paris.", interaction_id="t1", create_time=said_at, metadata=tags, evaluation_score=9
    )
    assert [one.message_id for one in answer.results] == ["t1/user", "t1/assistant"]
    question, reply = talk.messages()
    assert (question.role, question.content, question.id) == (ROLE_USER, "France?", "t1/user")
    assert (reply.role, reply.content, reply.id) == (ROLE_ASSISTANT, "Paris.", "t1/assistant")
    for message in (question, reply):
        assert (message.create_time, message.metadata, message.evaluation_score) == (said_at, tags, 9)


def test_a_retried_interaction_is_stored_once(talk: Talk) -> None:
    first = store(talk, "France?", "Paris.", interaction_id="t1")
    again = store(talk, "France?", "Paris.", interaction_id="t1")
    assert [one.sequence for one in again.results] == [one.sequence for one in first.results] == [1, 2]
    assert [one.duplicate for one in again.results] == [True, True]
    assert len(talk.ids()) == 2


def test_an_interaction_with_another_answer_under_a_known_id_is_refused(talk: Talk) -> None:
    store(talk, "France?", "Paris.", interaction_id="t1")
    refused = refusal(lambda: store(talk, "France?", "Lyon.", interaction_id="t1"))
    assert (refused.code, refused.reason) == (grpc.StatusCode.ALREADY_EXISTS, "ID_CONFLICT")
    assert talk.contents() == ["France?", "Paris."]


def test_the_server_makes_the_id_of_an_interaction_where_none_was_given(talk: Talk) -> None:
    first, second = (one.message_id for one in store(talk, "France?", "Paris.").results)
    made, _, part = first.partition("/")
    assert UUID(made).version == 7 and part == "user"
    assert second == f"{made}/assistant"


def test_half_an_interaction_is_refused_and_nothing_of_it_stored(talk: Talk) -> None:
    assert refusal(lambda: store(talk, "France?", "")).field == "assistant_message"
    assert refusal(lambda: store(talk, "", "Paris.")).field == "user_message"
    assert talk.ids() == []
