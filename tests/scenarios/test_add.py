"""Add: messages are stored as sent, and the server sets missing fields."""

import time
from uuid import UUID

import pytest

from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_SYSTEM, ROLE_TOOL, ROLE_USER, Message, Role, ToolCall
from tests.scenarios.conversation import Conversation, tagged, timestamp


@pytest.mark.parametrize("role", [ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL])
def test_a_message_of_each_role_is_read_as_it_was_added(conversation: Conversation, role: Role) -> None:
    conversation.add("Grüße, 世界 🌍", role)
    (message,) = conversation.messages()
    assert (message.role, message.content) == (role, "Grüße, 世界 🌍")


def test_sequences_count_from_one_in_the_order_of_acknowledgement(conversation: Conversation) -> None:
    assert [conversation.add(text).sequence for text in ("one", "two", "three")] == [1, 2, 3]
    assert [(message.sequence, message.content) for message in conversation.messages()] == [
        (1, "one"),
        (2, "two"),
        (3, "three"),
    ]


def test_the_server_sets_a_missing_id_to_a_uuid_of_version_7(conversation: Conversation) -> None:
    first, second = conversation.add("hi"), conversation.add("hi")
    assert UUID(first.message_id).version == UUID(second.message_id).version == 7
    assert first.message_id < second.message_id
    assert conversation.ids() == [first.message_id, second.message_id]


def test_the_server_sets_a_missing_time(conversation: Conversation) -> None:
    before = time.time()
    conversation.add("hi")
    (message,) = conversation.messages()
    assert before - 1 <= message.create_time.ToNanoseconds() / 1e9 <= time.time() + 1


def test_a_given_time_is_stored_with_nanoseconds(conversation: Conversation) -> None:
    created = timestamp("2001-02-03T04:05:06.123456789Z")
    conversation.add("imported", create_time=created)
    assert conversation.messages()[0].create_time == created


def test_tags_score_name_and_reasoning_are_stored(conversation: Conversation) -> None:
    tags = tagged({"important": True, "nested": {"list": [1, "two", None]}, "weight": 0.5})
    conversation.assistant("42", name="deep-thought", metadata=tags, evaluation_score=7.5, reasoning="six by nine")
    (message,) = conversation.messages()
    assert (message.name, message.reasoning, message.evaluation_score) == ("deep-thought", "six by nine", 7.5)
    assert message.metadata == tags


def test_a_missing_score_is_distinct_from_a_score_of_zero(conversation: Conversation) -> None:
    conversation.add("not scored")
    conversation.add("bad", evaluation_score=0)
    unscored, bad = conversation.messages()
    assert not unscored.HasField("evaluation_score")
    assert bad.HasField("evaluation_score") and bad.evaluation_score == 0


def test_parallel_tool_calls_and_their_results_come_back_without_loss(conversation: Conversation) -> None:
    calls = [
        ToolCall(id="call_1", name="weather", arguments_json='{"city": "Köln",  "days":3}'),
        ToolCall(id="call_2", name="broken", arguments_json='{"not json'),
        ToolCall(id="call_1", name="weather", arguments_json=""),
    ]
    conversation.assistant("", tool_calls=calls)
    conversation.add_tool_result("call_1", "rain\n\ttomorrow\0")
    call, result = conversation.messages()
    assert list(call.tool_calls) == calls
    assert (result.tool_call_id, result.content) == ("call_1", "rain\n\ttomorrow\0")


def test_output_only_fields_of_a_request_are_ignored(conversation: Conversation) -> None:
    added = conversation.add("hi", sequence=99, tokens=12345, synthetic=True)
    (message,) = conversation.messages()
    assert (message.sequence, message.tokens, message.synthetic) == (1, added.tokens, False)
    assert 0 < added.tokens < 100


def test_a_vector_is_accepted_and_not_returned(conversation: Conversation) -> None:
    conversation.add("with a vector", vector=[0.25] * 256)
    assert list(conversation.messages()[0].vector) == []
    assert list(conversation.client.recent(conversation.session_id, 1)[0].vector) == []


def test_the_response_has_the_session_only_on_request(conversation: Conversation) -> None:
    assert not conversation.add("one").HasField("session")
    added = conversation.add("two", return_session=True)
    assert added.session == conversation.count()
    assert added.session.message_count == 2


def test_text_that_looks_like_a_special_token_is_text(conversation: Conversation) -> None:
    conversation.add("<|endoftext|><|im_start|>system")
    assert conversation.contents() == ["<|endoftext|><|im_start|>system"]


def test_changing_a_read_message_does_not_change_the_stored_one(conversation: Conversation) -> None:
    conversation.add("original")
    read: Message = conversation.messages()[0]
    read.content = "changed by the reader"
    assert conversation.contents() == ["original"]
