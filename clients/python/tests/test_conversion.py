"""The cases of clients/scenarios/conversion.json, which all clients run, and input that only Python can have."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict

from memsidecar_client import BuildContextResponse, Message
from memsidecar_client.conversion.anthropic import anthropic_messages, messages_from_anthropic
from memsidecar_client.conversion.openai import messages_from_openai, openai_input, openai_messages
from memsidecar_client.conversion.values import ConversionError

TABLE = json.loads((Path(__file__).parents[2] / "scenarios" / "conversion.json").read_text(encoding="utf-8"))
Case = dict[str, Any]


def cases(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", TABLE[name], ids=lambda case: case["name"])


def context_of(messages: list[Message], stable_prefix_count: int = 0) -> BuildContextResponse:
    return BuildContextResponse(messages=messages, stable_prefix_count=stable_prefix_count)


def verify(case: Case, convert: Any) -> None:
    if "error" in case:
        with pytest.raises(ConversionError) as caught:
            convert()
        assert {"field": caught.value.field, "problem": caught.value.problem} == case["error"]
        assert str(caught.value) == f"{case['error']['field']}: {case['error']['problem']}"
    else:
        assert comparable(convert()) == comparable([ParseDict(message, Message()) for message in case["expected"]])


def comparable(messages: list[Message]) -> list[Message]:
    """Return the messages with their arguments in one form, if they are JSON."""
    for call in (call for message in messages for call in message.tool_calls):
        call.arguments_json = json.dumps(_parsed(call.arguments_json), sort_keys=True)
    return messages


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@cases("messages_from_openai")
def test_messages_of_openai_become_messages_or_an_error(case: Case) -> None:
    verify(case, lambda: messages_from_openai(case["messages"]))


@cases("messages_from_anthropic")
def test_messages_of_anthropic_become_messages_or_an_error(case: Case) -> None:
    verify(case, lambda: messages_from_anthropic(case["messages"], case["system"]))


@cases("contexts")
def test_a_context_becomes_the_requests_of_providers(case: Case) -> None:
    messages = [ParseDict(message, Message()) for message in case["messages"]]
    context = context_of(messages, case["stable_prefix_count"])
    before = context.SerializeToString(deterministic=True)
    assert openai_messages(context) == case["openai_messages"]
    assert openai_input(context) == case["openai_input"]
    assert anthropic_messages(context) == case["anthropic_messages"]
    assert context.SerializeToString(deterministic=True) == before


@cases("openai_round_trips")
def test_messages_of_openai_return_unchanged(case: Case) -> None:
    assert openai_messages(context_of(messages_from_openai(case["messages"]))) == case["messages"]


@cases("anthropic_round_trips")
def test_messages_of_anthropic_return_unchanged(case: Case) -> None:
    request = anthropic_messages(context_of(messages_from_anthropic(case["messages"])))
    assert request == {"system": [], "messages": case["messages"]}


def test_input_of_a_call_keeps_the_order_of_its_keys() -> None:
    block = {"type": "tool_use", "id": "t1", "name": "put", "input": {"b": 1, "a": "ä"}}
    (message,) = messages_from_anthropic([{"role": "assistant", "content": [block]}])
    assert message.tool_calls[0].arguments_json == '{"b":1,"a":"ä"}'


def test_arguments_that_python_cannot_send_as_json_are_sent_as_text() -> None:
    for arguments in ("[" * 100_000, "[" * 100_000 + "]" * 100_000, "1" * 10_000, '{"n": [-1e999]}', '{"n": NaN}'):
        message = Message(role="ROLE_ASSISTANT", tool_calls=[{"id": "c1", "name": "run", "arguments_json": arguments}])
        request = anthropic_messages(context_of([message]))
        assert request["messages"][1]["content"][0]["input"] == {"arguments": arguments}


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({"role": "user", "content": "a\ud800b"}, "messages[0].content"),
        ({"role": "user", "content": [{"type": "text", "text": "\udfff"}]}, "messages[0].content[0].text"),
        ({"role": "user", "content": b"bytes"}, "messages[0].content"),
        ({"role": "\ud800", "content": "Hi"}, "messages[0].role"),
        ({"role": "assistant", "content": "Hi", "reasoning": "\ud800"}, "messages[0].reasoning"),
    ],
)
def test_what_is_no_json_is_named_in_messages_of_openai(message: Any, field: str) -> None:
    with pytest.raises(ConversionError) as caught:
        messages_from_openai([message])
    assert caught.value.field == field


@pytest.mark.parametrize("value", ["\ud800", b"bytes", float("nan"), float("inf"), object(), {1, 2}])
def test_input_of_a_call_that_is_no_json_is_named(value: object) -> None:
    block = {"type": "tool_use", "id": "t1", "name": "put", "input": {"value": value}}
    with pytest.raises(ConversionError) as caught:
        messages_from_anthropic([{"role": "assistant", "content": [block]}])
    assert caught.value.field == "messages[0].content[0].input"


def test_input_of_a_call_that_contains_itself_is_named() -> None:
    given: dict[str, object] = {}
    given["self"] = given
    block = {"type": "tool_use", "id": "t1", "name": "put", "input": given}
    with pytest.raises(ConversionError, match="is not JSON"):
        messages_from_anthropic([{"role": "assistant", "content": [block]}])


def test_the_error_survives_pickling() -> None:
    copy = pickle.loads(pickle.dumps(ConversionError("messages[0].role", "a text is required, not null")))
    assert (copy.field, str(copy)) == ("messages[0].role", "messages[0].role: a text is required, not null")
