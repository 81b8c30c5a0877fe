"""Retries and compare-and-set: a message sent twice is stored once, and an unexpected sequence is refused."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest

from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_USER, Message, ToolCall
from tests.scenarios.conversation import Conversation, tagged, timestamp
from tests.support.process import Refusal, refusal

CALL = ToolCall(id="c", name="lookup", arguments_json="{}")


def test_a_retried_message_returns_the_first_result(conversation: Conversation) -> None:
    first = conversation.add("hello", id="m")
    conversation.add("in between")
    again = conversation.add("hello", id="m")
    assert (again.message_id, again.sequence, again.tokens) == (first.message_id, first.sequence, first.tokens)
    assert (first.duplicate, again.duplicate) == (False, True)
    assert conversation.contents() == ["hello", "in between"]


def test_tags_score_and_time_are_not_compared_and_a_retry_does_not_change_them(conversation: Conversation) -> None:
    conversation.add("hello", id="m", metadata=tagged({"a": 1}), create_time=timestamp("2024-05-01T12:00:00Z"))
    before = conversation.messages()
    assert conversation.add("hello", id="m", metadata=tagged({"b": 2}), evaluation_score=3, reasoning="else").duplicate
    assert conversation.messages() == before


@pytest.mark.parametrize(
    "other",
    [
        {"content": "another"},
        {"role": ROLE_USER, "tool_calls": []},
        {"name": "another"},
        {"tool_calls": [CALL, CALL]},
        {"tool_calls": [ToolCall(id="c", name="lookup", arguments_json="{ }")]},
    ],
    ids=lambda other: next(iter(other)),
)
def test_another_body_under_a_known_id_is_refused(conversation: Conversation, other: dict[str, Any]) -> None:
    fields: dict[str, Any] = {"id": "m", "role": ROLE_ASSISTANT, "content": "hello", "tool_calls": [CALL]}
    conversation.add_batch(Message(**fields))
    refused = refusal(lambda: conversation.add_batch(Message(**{**fields, **other})))
    assert (refused.code, refused.reason) == (grpc.StatusCode.ALREADY_EXISTS, "ID_CONFLICT")
    assert conversation.contents() == ["hello"]


def test_ids_are_unique_in_their_session_only(conversation: Conversation) -> None:
    conversation.add("here", id="m")
    other = Conversation(conversation.client, f"{conversation.session_id}-other")
    assert not other.add("there", id="m").duplicate


def test_one_message_sent_many_times_at_once_is_stored_once(conversation: Conversation) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: conversation.add("hello", id="m"), range(32)))
    assert sorted(answer.duplicate for answer in answers) == [False] + [True] * 31
    assert {answer.sequence for answer in answers} == {1}
    assert conversation.contents() == ["hello"]


def test_a_write_that_expects_the_last_sequence_succeeds(conversation: Conversation) -> None:
    assert conversation.add("one", expected_sequence=0).sequence == 1
    assert conversation.add("two", expected_sequence=1).sequence == 2


@pytest.mark.parametrize("expected", [0, 1, 3])
def test_a_write_that_expects_another_sequence_is_refused_with_the_last_one(
    conversation: Conversation, expected: int
) -> None:
    conversation.add("one")
    conversation.add("two")
    refused = refusal(lambda: conversation.add("three", expected_sequence=expected))
    assert (refused.code, refused.reason) == (grpc.StatusCode.ABORTED, "SEQUENCE_MISMATCH")
    assert refused.metadata["last_sequence"] == "2"
    assert conversation.contents() == ["one", "two"]


def test_a_new_session_has_a_last_sequence_of_zero(conversation: Conversation) -> None:
    refused = refusal(lambda: conversation.add("one", expected_sequence=5))
    assert refused.metadata["last_sequence"] == "0"
    assert conversation.count().last_sequence == 0


def test_a_retry_with_an_old_expected_sequence_is_a_duplicate(conversation: Conversation) -> None:
    conversation.add("one", id="m", expected_sequence=0)
    conversation.add("two")
    again = conversation.add("one", id="m", expected_sequence=0)
    assert (again.duplicate, again.sequence) == (True, 1)


def test_a_batch_is_compared_once_before_its_first_new_message(conversation: Conversation) -> None:
    one, two, three = (Message(id=text, role=ROLE_USER, content=text) for text in ("one", "two", "three"))
    conversation.add_batch(one, expected_sequence=0)
    assert [result.sequence for result in conversation.add_batch(one, two, three, expected_sequence=1).results] == [
        1,
        2,
        3,
    ]
    assert all(result.duplicate for result in conversation.add_batch(two, three, expected_sequence=1).results)
    four = Message(id="four", role=ROLE_USER, content="four")
    refused = refusal(lambda: conversation.add_batch(three, four, expected_sequence=1))
    assert (refused.reason, refused.metadata["last_sequence"]) == ("SEQUENCE_MISMATCH", "3")


def test_of_concurrent_writes_that_expect_the_same_sequence_one_succeeds(conversation: Conversation) -> None:
    def outcome(number: int) -> grpc.StatusCode:
        try:
            conversation.add(f"mine {number}", expected_sequence=0)
        except grpc.RpcError as error:
            return Refusal(error).code
        return grpc.StatusCode.OK

    with ThreadPoolExecutor(8) as pool:
        outcomes = Counter(pool.map(outcome, range(16)))
    assert outcomes == {grpc.StatusCode.OK: 1, grpc.StatusCode.ABORTED: 15}
    assert len(conversation.ids()) == 1
