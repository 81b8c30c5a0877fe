"""Annotate: metadata and scores of stored messages."""

import grpc
import pytest

from memsidecar.v1 import memory_pb2 as pb
from tests.scenarios.conversation import Conversation, tagged
from tests.support.process import refusal


def ids_with_tags(conversation: Conversation, **tags: object) -> list[str]:
    request = pb.GetAllRequest(**conversation.scope_ids, metadata_filter=tagged(dict(tags)))
    return [message.id for message in conversation.client.memory.GetAll(request).messages]


def test_tags_are_merged_into_the_existing_ones(conversation: Conversation) -> None:
    conversation.add("hi", id="m", metadata=tagged({"kept": 1, "changed": "old"}))
    answer = conversation.annotate("m", {"changed": "new", "added": True})
    assert answer.metadata == tagged({"kept": 1, "changed": "new", "added": True})
    assert conversation.messages() == [answer]


def test_a_null_removes_its_tag(conversation: Conversation) -> None:
    conversation.add("hi", id="m", metadata=tagged({"kept": 1, "removed": 2}))
    assert conversation.annotate("m", {"removed": None, "never set": None}).metadata == tagged({"kept": 1})


def test_an_annotated_score_is_set_and_the_tags_stay(conversation: Conversation) -> None:
    conversation.add("hi", id="m", metadata=tagged({"kept": 1}))
    message = conversation.annotate("m", evaluation_score=8.5)
    assert (message.evaluation_score, message.metadata) == (8.5, tagged({"kept": 1}))


def test_content_tokens_and_sequence_do_not_change(conversation: Conversation) -> None:
    conversation.add_turns(2)
    before = conversation.messages()
    conversation.annotate("a1", {"important": True}, evaluation_score=1)
    after = conversation.messages()
    assert [
        (message.id, message.content, message.tokens, message.sequence, message.create_time) for message in after
    ] == [(message.id, message.content, message.tokens, message.sequence, message.create_time) for message in before]


def test_all_reads_return_the_annotation(conversation: Conversation) -> None:
    conversation.add("hi", id="m")
    conversation.annotate("m", {"topic": "greeting"})
    wanted = tagged({"topic": "greeting"})
    (recent,) = conversation.client.recent(conversation.session_id, 1)
    assert recent.metadata == wanted
    assert conversation.search("hi").hits[0].message.metadata == wanted
    assert ids_with_tags(conversation, topic="greeting") == ["m"]
    assert conversation.find("hi", metadata_filter=wanted) == ["hi"]


def test_a_removed_tag_no_longer_matches_the_filter(conversation: Conversation) -> None:
    conversation.add("hi", id="m", metadata=tagged({"important": True}))
    assert ids_with_tags(conversation, important=True) == ["m"]
    conversation.annotate("m", {"important": None})
    assert ids_with_tags(conversation, important=True) == []


def test_a_pruned_message_can_be_annotated_and_stays_pruned(conversation: Conversation) -> None:
    conversation.add_turns(3)
    conversation.prune(1)
    conversation.annotate("q1", {"important": True})
    assert "q1" not in conversation.ids()
    assert conversation.messages(include_pruned=True)[0].metadata == tagged({"important": True})


def test_a_retry_of_an_annotated_message_is_a_duplicate(conversation: Conversation) -> None:
    conversation.add("hi", id="m")
    conversation.annotate("m", {"a": 1}, evaluation_score=3)
    assert conversation.add("hi", id="m").duplicate
    assert conversation.messages()[0].metadata == tagged({"a": 1})


@pytest.mark.parametrize("message_id", ["unknown", "M"])
def test_an_unknown_message_is_not_found(conversation: Conversation, message_id: str) -> None:
    conversation.add("hi", id="m")
    refused = refusal(lambda: conversation.annotate(message_id, evaluation_score=1))
    assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")


def test_a_message_of_an_unknown_session_is_not_found_and_no_session_is_created(conversation: Conversation) -> None:
    assert refusal(lambda: conversation.annotate("m", evaluation_score=1)).reason == "NOT_FOUND"
    assert conversation.count().last_sequence == 0


def test_a_score_outside_0_to_10_is_refused(conversation: Conversation) -> None:
    conversation.add("hi", id="m")
    assert refusal(lambda: conversation.annotate("m", evaluation_score=10.5)).field == "evaluation_score"
    assert not conversation.messages()[0].HasField("evaluation_score")
