"""AddStream: a history comes in as one stream, and each message is acknowledged in its turn."""

import queue
from collections.abc import Iterator

import grpc
import pytest

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.scenarios.talk import Talk
from tests.support.process import CALL_SECONDS, Refusal


def said(talk: Talk, message_id: str, content: str = "some words") -> pb.AddStreamRequest:
    message = Message(id=message_id, role=ROLE_USER, content=content)
    return pb.AddStreamRequest(**talk.names, message=message)


def answered(talk: Talk, *requests: pb.AddStreamRequest) -> tuple[list[str], Refusal | None]:
    """The ids that were acknowledged, and how the stream ended."""
    acknowledged: list[str] = []
    try:
        for answer in talk.client.memory.AddStream(iter(requests), timeout=CALL_SECONDS):
            acknowledged.append(answer.result.message_id)
    except grpc.RpcError as error:
        return acknowledged, Refusal(error)
    return acknowledged, None


def test_a_thousand_messages_are_answered_one_by_one_in_order(talk: Talk) -> None:
    ids = [f"m{at}" for at in range(1000)]
    stream = talk.client.memory.AddStream((said(talk, one) for one in ids), timeout=CALL_SECONDS)
    results = [answer.result for answer in stream]
    assert [one.message_id for one in results] == ids
    assert [one.sequence for one in results] == list(range(1, 1001))
    assert talk.ids() == ids


def test_requests_of_one_stream_may_name_different_sessions(talk: Talk) -> None:
    other = Talk(talk.client, f"{talk.session_id}-other")
    acknowledged, end = answered(talk, said(talk, "a"), said(other, "a"), said(talk, "b"))
    assert (acknowledged, end) == (["a", "a", "b"], None)
    assert (talk.ids(), other.ids()) == (["a", "b"], ["a"])


def test_an_invalid_request_ends_the_stream_with_its_error_and_what_was_answered_stays(talk: Talk) -> None:
    acknowledged, end = answered(talk, said(talk, "a"), said(talk, "b"), said(talk, "bad", ""), said(talk, "c"))
    assert acknowledged == ["a", "b"]
    assert end is not None
    assert (end.code, end.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")
    assert end.field == "message.content"
    assert talk.ids() == ["a", "b"]


def test_a_conflict_ends_the_stream_and_nothing_that_came_after_it_is_stored(talk: Talk) -> None:
    talk.say("first body", id="known")
    acknowledged, end = answered(talk, said(talk, "a"), said(talk, "known", "second body"), said(talk, "c"))
    assert acknowledged == ["a"]
    assert end is not None and end.reason == "ID_CONFLICT"
    assert talk.ids() == ["known", "a"]


def test_a_stream_that_is_sent_again_is_answered_with_duplicates(talk: Talk) -> None:
    requests = [said(talk, one) for one in ("a", "b", "c")]
    assert answered(talk, *requests) == answered(talk, *requests)
    assert talk.ids() == ["a", "b", "c"]


def test_an_answer_comes_while_the_stream_is_still_open(talk: Talk) -> None:
    requests: queue.SimpleQueue[pb.AddStreamRequest | None] = queue.SimpleQueue()
    stream = talk.client.memory.AddStream(_taken_from(requests), timeout=CALL_SECONDS)
    for at in range(3):
        requests.put(said(talk, f"m{at}"))
        assert next(stream).result.message_id == f"m{at}"
        assert len(talk.ids()) == at + 1
    requests.put(None)
    assert list(stream) == []


def test_a_client_that_cancels_in_the_middle_keeps_what_was_answered(talk: Talk) -> None:
    requests: queue.SimpleQueue[pb.AddStreamRequest | None] = queue.SimpleQueue()
    stream = talk.client.memory.AddStream(_taken_from(requests), timeout=CALL_SECONDS)
    for at in range(5):
        requests.put(said(talk, f"m{at}"))
        next(stream)
    stream.cancel()
    requests.put(None)
    with pytest.raises(grpc.RpcError):
        next(stream)
    assert talk.ids() == [f"m{at}" for at in range(5)]
    assert talk.say("the session goes on").sequence == 6


def test_a_stream_without_requests_ends_without_answers(talk: Talk) -> None:
    assert answered(talk) == ([], None)


def _taken_from(requests: "queue.SimpleQueue[pb.AddStreamRequest | None]") -> Iterator[pb.AddStreamRequest]:
    while (request := requests.get()) is not None:
        yield request
