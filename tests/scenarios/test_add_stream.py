"""AddStream: messages of one stream are acknowledged one by one, in order."""

import queue
from collections.abc import Iterator

import grpc
import pytest

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.scenarios.conversation import Conversation
from tests.support.process import CALL_SECONDS, Refusal


def add_request(conversation: Conversation, message_id: str, content: str = "some words") -> pb.AddStreamRequest:
    message = Message(id=message_id, role=ROLE_USER, content=content)
    return pb.AddStreamRequest(**conversation.scope_ids, message=message)


def add_stream(conversation: Conversation, *requests: pb.AddStreamRequest) -> tuple[list[str], Refusal | None]:
    """Return the acknowledged ids, and the error that ended the stream."""
    acknowledged: list[str] = []
    try:
        for answer in conversation.client.memory.AddStream(iter(requests), timeout=CALL_SECONDS):
            acknowledged.append(answer.result.message_id)
    except grpc.RpcError as error:
        return acknowledged, Refusal(error)
    return acknowledged, None


def test_a_thousand_messages_are_answered_one_by_one_in_order(conversation: Conversation) -> None:
    ids = [f"m{at}" for at in range(1000)]
    stream = conversation.client.memory.AddStream(
        (add_request(conversation, message_id) for message_id in ids), timeout=CALL_SECONDS
    )
    results = [answer.result for answer in stream]
    assert [result.message_id for result in results] == ids
    assert [result.sequence for result in results] == list(range(1, 1001))
    assert conversation.ids() == ids


def test_requests_of_one_stream_may_name_different_sessions(conversation: Conversation) -> None:
    other = Conversation(conversation.client, f"{conversation.session_id}-other")
    acknowledged, end = add_stream(
        conversation, add_request(conversation, "a"), add_request(other, "a"), add_request(conversation, "b")
    )
    assert (acknowledged, end) == (["a", "a", "b"], None)
    assert (conversation.ids(), other.ids()) == (["a", "b"], ["a"])


def test_an_invalid_request_ends_the_stream_with_its_error_and_acknowledged_messages_stay(
    conversation: Conversation,
) -> None:
    acknowledged, end = add_stream(
        conversation,
        add_request(conversation, "a"),
        add_request(conversation, "b"),
        add_request(conversation, "bad", ""),
        add_request(conversation, "c"),
    )
    assert acknowledged == ["a", "b"]
    assert end is not None
    assert (end.code, end.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")
    assert end.field == "message.content"
    assert conversation.ids() == ["a", "b"]


def test_a_conflict_ends_the_stream_and_nothing_that_came_after_it_is_stored(conversation: Conversation) -> None:
    conversation.add("first body", id="known")
    acknowledged, end = add_stream(
        conversation,
        add_request(conversation, "a"),
        add_request(conversation, "known", "second body"),
        add_request(conversation, "c"),
    )
    assert acknowledged == ["a"]
    assert end is not None and end.reason == "ID_CONFLICT"
    assert conversation.ids() == ["known", "a"]


def test_a_stream_that_is_sent_again_is_answered_with_duplicates(conversation: Conversation) -> None:
    requests = [add_request(conversation, message_id) for message_id in ("a", "b", "c")]
    assert add_stream(conversation, *requests) == add_stream(conversation, *requests)
    assert conversation.ids() == ["a", "b", "c"]


def test_a_message_is_acknowledged_while_the_stream_is_open(conversation: Conversation) -> None:
    requests: queue.SimpleQueue[pb.AddStreamRequest | None] = queue.SimpleQueue()
    stream = conversation.client.memory.AddStream(_until_none(requests), timeout=CALL_SECONDS)
    for at in range(3):
        requests.put(add_request(conversation, f"m{at}"))
        assert next(stream).result.message_id == f"m{at}"
        assert len(conversation.ids()) == at + 1
    requests.put(None)
    assert list(stream) == []


def test_a_client_that_cancels_in_the_middle_keeps_acknowledged_messages(conversation: Conversation) -> None:
    requests: queue.SimpleQueue[pb.AddStreamRequest | None] = queue.SimpleQueue()
    stream = conversation.client.memory.AddStream(_until_none(requests), timeout=CALL_SECONDS)
    for at in range(5):
        requests.put(add_request(conversation, f"m{at}"))
        next(stream)
    stream.cancel()
    requests.put(None)
    with pytest.raises(grpc.RpcError):
        next(stream)
    assert conversation.ids() == [f"m{at}" for at in range(5)]
    assert conversation.add("the session goes on").sequence == 6


def test_a_stream_without_requests_ends_without_answers(conversation: Conversation) -> None:
    assert add_stream(conversation) == ([], None)


def _until_none(requests: "queue.SimpleQueue[pb.AddStreamRequest | None]") -> Iterator[pb.AddStreamRequest]:
    while (request := requests.get()) is not None:
        yield request
