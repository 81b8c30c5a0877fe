"""What the conversion returns is valid for the types of the `openai` package, and it takes what the package dumps."""

import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from openai.types.chat import ChatCompletionMessage, ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter

from memsidecar_client import BuildContextResponse
from memsidecar_client.conversion.openai import messages_from_openai, openai_input, openai_messages

TABLE = json.loads((Path(__file__).parents[3] / "scenarios" / "conversion.json").read_text(encoding="utf-8"))
MESSAGES: TypeAdapter[Any] = TypeAdapter(list[ChatCompletionMessageParam])
ITEMS: TypeAdapter[Any] = TypeAdapter(list[ResponseInputItemParam])


@pytest.mark.parametrize("case", TABLE["contexts"], ids=lambda case: case["name"])
def test_requests_are_valid_for_the_package(case: dict[str, Any]) -> None:
    fields = {key: case[key] for key in ("messages", "stable_prefix_count")}
    context = ParseDict(fields, BuildContextResponse())
    MESSAGES.validate_python(openai_messages(context), strict=True)
    ITEMS.validate_python(openai_input(context), strict=True)


def test_an_answer_of_the_package_is_converted() -> None:
    called = {"id": "call_1", "type": "function", "function": {"name": "rain", "arguments": '{"city": "Porto"}'}}
    answer = ChatCompletionMessage.model_validate({"role": "assistant", "content": None, "tool_calls": [called]})
    (message,) = messages_from_openai([answer.model_dump()])
    assert [(call.id, call.name, call.arguments_json) for call in message.tool_calls] == [
        ("call_1", "rain", '{"city": "Porto"}')
    ]
    assert message.content == ""
