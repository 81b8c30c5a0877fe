"""Add: what an agent says is stored as it was said, and completed by the server where it said nothing."""

import time
from uuid import UUID

import pytest

from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_SYSTEM, ROLE_TOOL, ROLE_USER, Message, Role, ToolCall
from tests.scenarios.talk import Talk, at, tagged


@pytest.mark.parametrize("role", [ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL])
def test_a_message_of_every_role_is_read_back_as_it_was_said(talk: Talk, role: Role) -> None:
    talk.say("Grüße, 世界 🌍", role)
    (message,) = talk.messages()
    assert (message.role, message.content) == (role, "Grüße, 世界 🌍")


def test_sequences_count_from_one_in_the_order_of_acknowledgement(talk: Talk) -> None:
    assert [talk.say(text).sequence for text in ("one", "two", "three")] == [1, 2, 3]
    assert [(message.sequence, message.content) for message in talk.messages()] == [
        (1, "one"),
        (2, "two"),
        (3, "three"),
    ]


def test_the_server_makes_a_uuid_of_version_7_where_no_id_was_given(talk: Talk) -> None:
    first, second = talk.say("hi"), talk.say("hi")
    assert UUID(first.message_id).version == UUID(second.message_id).version == 7
    assert first.message_id < second.message_id
    assert talk.ids() == [first.message_id, second.message_id]


def test_the_server_sets_the_time_where_none_was_given(talk: Talk) -> None:
    before = time.time()
    talk.say("hi")
    (message,) = talk.messages()
    assert before - 1 <= message.create_time.ToNanoseconds() / 1e9 <= time.time() + 1


def test_a_time_that_was_given_is_kept_to_the_nanosecond(talk: Talk) -> None:
    said_at = at("2001-02-03T04:05:06.123456789Z")
    talk.say("imported", create_time=said_at)
    assert talk.messages()[0].create_time == said_at


def test_tags_score_name_and_reasoning_are_kept(talk: Talk) -> None:
    tags = tagged({"important": True, "nested": {"list": [1, "two", None]}, "weight": 0.5})
    talk.assistant("42", name="deep-thought", metadata=tags, evaluation_score=7.5, reasoning="six by nine")
    (message,) = talk.messages()
    assert (message.name, message.reasoning, message.evaluation_score) == ("deep-thought", "six by nine", 7.5)
    assert message.metadata == tags


def test_a_message_that_nobody_judged_has_no_score_and_a_score_of_zero_is_one(talk: Talk) -> None:
    talk.say("not judged")
    talk.say("bad", evaluation_score=0)
    unjudged, bad = talk.messages()
    assert not unjudged.HasField("evaluation_score")
    assert bad.HasField("evaluation_score") and bad.evaluation_score == 0


def test_parallel_tool_calls_and_their_results_come_back_without_loss(talk: Talk) -> None:
    calls = [
        ToolCall(id="call_1", name="weather", arguments_json='{"city": "Köln",  "days":3}'),
        ToolCall(id="call_2", name="broken", arguments_json='{"not json'),
        ToolCall(id="call_1", name="weather", arguments_json=""),
    ]
    talk.assistant("", tool_calls=calls)
    talk.answer("call_1", "rain\n\ttomorrow\0")
    asked, answered = talk.messages()
    assert list(asked.tool_calls) == calls
    assert (answered.tool_call_id, answered.content) == ("call_1", "rain\n\ttomorrow\0")


def test_what_only_the_server_may_say_is_ignored_in_a_request(talk: Talk) -> None:
    added = talk.say("hi", sequence=99, tokens=12345, synthetic=True)
    (message,) = talk.messages()
    assert (message.sequence, message.tokens, message.synthetic) == (1, added.tokens, False)
    assert 0 < added.tokens < 100


def test_a_vector_is_taken_and_not_echoed(talk: Talk) -> None:
    talk.say("with a vector", vector=[0.25] * 256)
    assert list(talk.messages()[0].vector) == []
    assert list(talk.client.recent(talk.session_id, 1)[0].vector) == []


def test_the_session_comes_with_the_answer_only_where_it_was_asked_for(talk: Talk) -> None:
    assert not talk.say("one").HasField("session")
    added = talk.say("two", return_session=True)
    assert added.session == talk.count()
    assert added.session.message_count == 2


def test_text_that_looks_like_a_special_token_is_text(talk: Talk) -> None:
    talk.say("<|endoftext|><|im_start|>system")
    assert talk.contents() == ["<|endoftext|><|im_start|>system"]


def test_what_is_read_is_a_copy(talk: Talk) -> None:
    talk.say("original")
    read: Message = talk.messages()[0]
    read.content = "changed by the reader"
    assert talk.contents() == ["original"]
