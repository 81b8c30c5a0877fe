"""Retries and compare-and-set: the same message twice is one message, and nobody writes onto the unseen."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest

from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_USER, Message, ToolCall
from tests.scenarios.talk import Talk, at, tagged
from tests.support.process import Refusal, refusal

CALL = ToolCall(id="c", name="lookup", arguments_json="{}")


def test_the_same_message_again_is_answered_with_the_first_answer(talk: Talk) -> None:
    first = talk.say("hello", id="m")
    talk.say("in between")
    again = talk.say("hello", id="m")
    assert (again.message_id, again.sequence, again.tokens) == (first.message_id, first.sequence, first.tokens)
    assert (first.duplicate, again.duplicate) == (False, True)
    assert talk.contents() == ["hello", "in between"]


def test_tags_score_and_time_are_no_part_of_the_body_and_a_retry_does_not_change_them(talk: Talk) -> None:
    talk.say("hello", id="m", metadata=tagged({"a": 1}), create_time=at("2024-05-01T12:00:00Z"))
    before = talk.messages()
    assert talk.say("hello", id="m", metadata=tagged({"b": 2}), evaluation_score=3, reasoning="else").duplicate
    assert talk.messages() == before


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
def test_another_body_under_a_known_id_is_refused(talk: Talk, other: dict[str, Any]) -> None:
    said: dict[str, Any] = {"id": "m", "role": ROLE_ASSISTANT, "content": "hello", "tool_calls": [CALL]}
    talk.batch(Message(**said))
    refused = refusal(lambda: talk.batch(Message(**{**said, **other})))
    assert (refused.code, refused.reason) == (grpc.StatusCode.ALREADY_EXISTS, "ID_CONFLICT")
    assert talk.contents() == ["hello"]


def test_ids_are_unique_in_their_session_only(talk: Talk) -> None:
    talk.say("here", id="m")
    other = Talk(talk.client, f"{talk.session_id}-other")
    assert not other.say("there", id="m").duplicate


def test_one_message_sent_many_times_at_once_is_stored_once(talk: Talk) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: talk.say("hello", id="m"), range(32)))
    assert sorted(answer.duplicate for answer in answers) == [False] + [True] * 31
    assert {answer.sequence for answer in answers} == {1}
    assert talk.contents() == ["hello"]


def test_a_write_that_expects_the_last_sequence_succeeds(talk: Talk) -> None:
    assert talk.say("one", expected_sequence=0).sequence == 1
    assert talk.say("two", expected_sequence=1).sequence == 2


@pytest.mark.parametrize("expected", [0, 1, 3])
def test_a_write_that_expects_another_sequence_is_told_the_last_one(talk: Talk, expected: int) -> None:
    talk.say("one")
    talk.say("two")
    refused = refusal(lambda: talk.say("three", expected_sequence=expected))
    assert (refused.code, refused.reason) == (grpc.StatusCode.ABORTED, "SEQUENCE_MISMATCH")
    assert refused.metadata["last_sequence"] == "2"
    assert talk.contents() == ["one", "two"]


def test_a_new_session_has_a_last_sequence_of_zero(talk: Talk) -> None:
    refused = refusal(lambda: talk.say("one", expected_sequence=5))
    assert refused.metadata["last_sequence"] == "0"
    assert talk.count().last_sequence == 0


def test_a_retry_with_a_stale_expectation_is_answered_as_the_duplicate_it_is(talk: Talk) -> None:
    talk.say("one", id="m", expected_sequence=0)
    talk.say("two")
    again = talk.say("one", id="m", expected_sequence=0)
    assert (again.duplicate, again.sequence) == (True, 1)


def test_a_batch_is_compared_once_before_its_first_new_message(talk: Talk) -> None:
    one, two, three = (Message(id=text, role=ROLE_USER, content=text) for text in ("one", "two", "three"))
    talk.batch(one, expected_sequence=0)
    assert [result.sequence for result in talk.batch(one, two, three, expected_sequence=1).results] == [1, 2, 3]
    assert all(result.duplicate for result in talk.batch(two, three, expected_sequence=1).results)
    four = Message(id="four", role=ROLE_USER, content="four")
    refused = refusal(lambda: talk.batch(three, four, expected_sequence=1))
    assert (refused.reason, refused.metadata["last_sequence"]) == ("SEQUENCE_MISMATCH", "3")


def test_of_many_who_expect_the_same_sequence_one_wins(talk: Talk) -> None:
    def outcome(number: int) -> grpc.StatusCode:
        try:
            talk.say(f"mine {number}", expected_sequence=0)
        except grpc.RpcError as error:
            return Refusal(error).code
        return grpc.StatusCode.OK

    with ThreadPoolExecutor(8) as pool:
        outcomes = Counter(pool.map(outcome, range(16)))
    assert outcomes == {grpc.StatusCode.OK: 1, grpc.StatusCode.ABORTED: 15}
    assert len(talk.ids()) == 1
