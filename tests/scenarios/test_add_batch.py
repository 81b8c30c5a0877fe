"""AddBatch and StoreInteraction: several messages in one acknowledgement, all or nothing."""

from typing import Any
from uuid import UUID

import grpc

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_USER, Message
from tests.scenarios.conversation import Conversation, tagged, timestamp
from tests.support.process import refusal


def user_message(message_id: str, content: str = "") -> Message:
    return Message(id=message_id, role=ROLE_USER, content=content or message_id)


def store(conversation: Conversation, question: str, answer: str, **fields: Any) -> pb.StoreInteractionResponse:
    response: pb.StoreInteractionResponse = conversation.client.memory.StoreInteraction(
        pb.StoreInteractionRequest(**conversation.scope_ids, user_message=question, assistant_message=answer, **fields)
    )
    return response


def test_a_batch_is_stored_in_its_order_with_one_result_each(conversation: Conversation) -> None:
    answer = conversation.add_batch(user_message("a"), user_message("b"), user_message("c"))
    assert [(result.message_id, result.sequence, result.duplicate) for result in answer.results] == [
        ("a", 1, False),
        ("b", 2, False),
        ("c", 3, False),
    ]
    assert answer.session == conversation.count()
    assert conversation.ids() == ["a", "b", "c"]


def test_one_invalid_message_refuses_the_whole_batch_and_is_named_by_its_index(conversation: Conversation) -> None:
    refused = refusal(
        lambda: conversation.add_batch(user_message("a"), Message(id="b", role=ROLE_USER), user_message("c"))
    )
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")
    assert refused.field == "messages[1].content"
    assert conversation.ids() == []


def test_the_path_of_a_wrong_field_leads_into_the_tool_call(conversation: Conversation) -> None:
    message = Message(role=ROLE_ASSISTANT)
    message.tool_calls.add(id="fine", name="fine")
    message.tool_calls.add(id="", name="nameless")
    assert refusal(lambda: conversation.add_batch(user_message("a"), message)).field == "messages[1].tool_calls[1].id"


def test_known_messages_of_a_batch_are_reported_as_duplicates_and_the_others_appended(
    conversation: Conversation,
) -> None:
    conversation.add_batch(user_message("a"), user_message("b"))
    results = conversation.add_batch(user_message("b"), user_message("c"), user_message("a")).results
    assert [(result.message_id, result.sequence, result.duplicate) for result in results] == [
        ("b", 2, True),
        ("c", 3, False),
        ("a", 1, True),
    ]
    assert conversation.ids() == ["a", "b", "c"]


def test_a_conflict_refuses_the_whole_batch(conversation: Conversation) -> None:
    conversation.add("first body", id="a")
    refused = refusal(lambda: conversation.add_batch(user_message("new"), user_message("a", "second body")))
    assert (refused.code, refused.reason) == (grpc.StatusCode.ALREADY_EXISTS, "ID_CONFLICT")
    assert conversation.contents() == ["first body"]


def test_an_id_that_stands_twice_in_one_batch_is_stored_once(conversation: Conversation) -> None:
    results = conversation.add_batch(user_message("a"), user_message("a")).results
    assert [(result.sequence, result.duplicate) for result in results] == [(1, False), (1, True)]
    assert conversation.ids() == ["a"]


def test_an_id_that_stands_twice_with_two_bodies_refuses_the_batch(conversation: Conversation) -> None:
    assert (
        refusal(lambda: conversation.add_batch(user_message("a", "one"), user_message("a", "two"))).reason
        == "ID_CONFLICT"
    )
    assert conversation.ids() == []


def test_an_empty_batch_is_refused(conversation: Conversation) -> None:
    assert refusal(conversation.add_batch).field == "messages"


def test_an_interaction_becomes_a_user_and_an_assistant_message(conversation: Conversation) -> None:
    tags, created = tagged({"topic": "capitals"}), timestamp("2024-05-01T12:00:00Z")
    answer = store(
        conversation, "France?", "Paris.", interaction_id="t1", create_time=created, metadata=tags, evaluation_score=9
    )
    assert [result.message_id for result in answer.results] == ["t1/user", "t1/assistant"]
    question, reply = conversation.messages()
    assert (question.role, question.content, question.id) == (ROLE_USER, "France?", "t1/user")
    assert (reply.role, reply.content, reply.id) == (ROLE_ASSISTANT, "Paris.", "t1/assistant")
    for message in (question, reply):
        assert (message.create_time, message.metadata, message.evaluation_score) == (created, tags, 9)


def test_a_retried_interaction_is_stored_once(conversation: Conversation) -> None:
    first = store(conversation, "France?", "Paris.", interaction_id="t1")
    again = store(conversation, "France?", "Paris.", interaction_id="t1")
    assert [result.sequence for result in again.results] == [result.sequence for result in first.results] == [1, 2]
    assert [result.duplicate for result in again.results] == [True, True]
    assert len(conversation.ids()) == 2


def test_an_interaction_with_another_answer_under_a_known_id_is_refused(conversation: Conversation) -> None:
    store(conversation, "France?", "Paris.", interaction_id="t1")
    refused = refusal(lambda: store(conversation, "France?", "Lyon.", interaction_id="t1"))
    assert (refused.code, refused.reason) == (grpc.StatusCode.ALREADY_EXISTS, "ID_CONFLICT")
    assert conversation.contents() == ["France?", "Paris."]


def test_the_server_sets_a_missing_interaction_id(conversation: Conversation) -> None:
    first, second = (result.message_id for result in store(conversation, "France?", "Paris.").results)
    made, _, part = first.partition("/")
    assert UUID(made).version == 7 and part == "user"
    assert second == f"{made}/assistant"


def test_half_an_interaction_is_refused_and_nothing_of_it_stored(conversation: Conversation) -> None:
    assert refusal(lambda: store(conversation, "France?", "")).field == "assistant_message"
    assert refusal(lambda: store(conversation, "", "Paris.")).field == "user_message"
    assert conversation.ids() == []
