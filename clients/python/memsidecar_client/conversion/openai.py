"""Messages of OpenAI's chat completions and input items of its Responses API, as dicts.

    memory.add_batch(user_id="ana", session_id="s1", messages=messages_from_openai([question, answer]))
    client.chat.completions.create(model=model, messages=openai_messages(context))

A message of the `openai` package becomes a dict by `model_dump()`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from memsidecar_client.conversion.exchanges import Call, steps
from memsidecar_client.conversion.values import EMPTY, Piece, Value, check_distinct, joined, placeholder
from memsidecar_client.v1.context_pb2 import BuildContextResponse
from memsidecar_client.v1.message_pb2 import Message, Role, ToolCall

ROLES = {
    "system": Role.ROLE_SYSTEM,
    "developer": Role.ROLE_SYSTEM,
    "user": Role.ROLE_USER,
    "assistant": Role.ROLE_ASSISTANT,
    "tool": Role.ROLE_TOOL,
}
NAMES = {Role.ROLE_SYSTEM: "system", Role.ROLE_USER: "user", Role.ROLE_ASSISTANT: "assistant"}

TEXTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
"Parts that are text, and the key of their text."


def messages_from_openai(messages: Sequence[Mapping[str, Any]]) -> list[Message]:
    """Return messages to add, one for each message of chat completions.

    `developer` is stored as system. Parts other than text are stored as their type: `[image_url]`. A message without
    text is stored as `[empty]`. The text of `reasoning_content` or `reasoning` becomes the reasoning. The deprecated
    role `function` and `function_call` are errors, as is everything that is not of the format: ConversionError.
    """
    return [_message(message) for message in Value(messages, "messages").items()]


def openai_messages(context: BuildContextResponse) -> list[dict[str, Any]]:
    """Return `messages` of chat completions."""
    messages: list[dict[str, Any]] = []
    for step in steps(context):
        message: dict[str, Any] = {"role": NAMES[step.role], "content": step.text}
        if step.calls:
            message["content"] = step.text or None
            message["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments_json}}
                for call in step.calls
            ]
        messages.append(message)
        messages += [{"role": "tool", "tool_call_id": call.id, "content": call.result} for call in step.calls]
    return messages


def openai_input(context: BuildContextResponse) -> list[dict[str, Any]]:
    """Return `input` of the Responses API, in which calls and results are separate items."""
    items: list[dict[str, Any]] = []
    for step in steps(context):
        if step.text:
            items.append({"role": NAMES[step.role], "content": step.text})
        items += [_call_item(call) for call in step.calls]
        items += [{"type": "function_call_output", "call_id": call.id, "output": call.result} for call in step.calls]
    return items


def _call_item(call: Call) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments_json}


def _message(value: Value) -> Message:
    role = ROLES[value.field("role").one_of(ROLES)]
    message = Message(role=role, name=value.field("name").optional_text())
    message.content = _content(value.field("content"), role)
    if role == Role.ROLE_ASSISTANT:
        _fill_assistant(message, value)
    elif value.field("tool_calls").value not in (None, []):
        raise value.field("tool_calls").error("only an assistant message has tool calls")
    if role == Role.ROLE_TOOL:
        message.tool_call_id = value.field("tool_call_id").filled_text()
    if not message.content and not message.tool_calls:
        message.content = EMPTY
    return message


def _content(value: Value, role: Role) -> str:
    if value.is_list():
        return joined(map(_piece, value.items()), model=role == Role.ROLE_ASSISTANT)
    if value.is_text() or (value.is_null() and role == Role.ROLE_ASSISTANT):
        return value.optional_text()
    raise value.wrong("a text or a list of parts")


def _piece(part: Value) -> Piece:
    kind = part.field("type").filled_text()
    return Piece(part.field(TEXTS[kind]).text()) if kind in TEXTS else placeholder(kind)


def _fill_assistant(message: Message, value: Value) -> None:
    if not value.field("function_call").is_null():
        raise value.field("function_call").error("function_call is not supported; use tool_calls")
    message.content = message.content or value.field("refusal").optional_text() or _audio(value.field("audio"))
    thoughts = (value.field(key) for key in ("reasoning_content", "reasoning"))
    message.reasoning = next((thought.text() for thought in thoughts if thought.is_text() and thought.value), "")
    if not value.field("tool_calls").is_null():
        calls = list(value.field("tool_calls").items())
        message.tool_calls.extend(map(_tool_call, calls))
        check_distinct(call.field("id") for call in calls)


def _audio(value: Value) -> str:
    """Return what was said in an audio answer."""
    return "" if value.is_null() else value.field("transcript").optional_text() or placeholder("audio").text


def _tool_call(value: Value) -> ToolCall:
    call_id = value.field("id").filled_text()
    kind = "function" if value.field("type").is_null() else value.field("type").one_of(("function", "custom"))
    called = value.field(kind)
    arguments = called.field("arguments" if kind == "function" else "input").optional_text()
    return ToolCall(id=call_id, name=called.field("name").filled_text(), arguments_json=arguments)
