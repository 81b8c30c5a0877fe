"""Messages of Anthropic's Messages API, as dicts.

    memory.add_batch(user_id="ana", session_id="s1", messages=messages_from_anthropic([question, answer]))
    client.messages.create(model=model, max_tokens=1_000, **anthropic_messages(context))

A message of the `anthropic` package becomes a dict by `model_dump()`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from memsidecar_client.conversion.exchanges import BEGINNING, Call, steps
from memsidecar_client.conversion.values import EMPTY, IS_ERROR, Piece, Value, check_distinct, joined, placeholder
from memsidecar_client.v1.context_pb2 import BuildContextResponse
from memsidecar_client.v1.message_pb2 import Message, Role, ToolCall

ROLES = {"user": Role.ROLE_USER, "assistant": Role.ROLE_ASSISTANT, "system": Role.ROLE_SYSTEM}
OWNERS = {"tool_use": "assistant", "thinking": "assistant", "redacted_thinking": "assistant", "tool_result": "user"}
"Blocks of one role only."

CACHED = {"type": "ephemeral"}
Block = dict[str, Any]


def messages_from_anthropic(
    messages: Sequence[Mapping[str, Any]], system: str | Sequence[Mapping[str, Any]] | None = None
) -> list[Message]:
    """Return messages to add; `system`, if any, becomes the first.

    Each tool result becomes a message of its own; `is_error` is in its metadata. Thinking becomes the reasoning without
    its signature, redacted thinking is left out. Blocks other than text are stored as their type: `[image]`. A message
    without text is stored as `[empty]`. What is not of the format is a ConversionError.
    """
    instructions = Value(system, "system")
    text = "" if instructions.is_null() else _text(instructions)
    result = [Message(role=Role.ROLE_SYSTEM, content=text)] if text else []
    for message in Value(messages, "messages").items():
        result += _messages(message)
    return result


def anthropic_messages(context: BuildContextResponse) -> dict[str, list[Block]]:
    """Return `system` and `messages`, with a cache breakpoint after each stable part.

    The stable system message becomes `system`. Retrieved memory, also a system message, becomes a text block of the
    newest user message: not every model accepts system messages elsewhere, and `system` stays the same for the cache.
    """
    system: list[Block] = []
    messages: list[Block] = []
    last_stable: Block | None = None
    for step in steps(context):
        text: list[Block] = [{"type": "text", "text": step.text}] if step.text.strip() else []
        if step.role == Role.ROLE_SYSTEM and step.stable:
            system += text
            continue
        _append(messages, "assistant" if step.role == Role.ROLE_ASSISTANT else "user", text)
        _append(messages, "assistant", [_use(call) for call in step.calls])
        # All results of parallel calls are in one message, before any text.
        _append(messages, "user", [_result(call) for call in step.calls])
        if step.stable and messages:
            last_stable = messages[-1]["content"][-1]
    for block in (system[-1] if system else None, last_stable):
        if block is not None:
            block["cache_control"] = CACHED
    if messages and messages[0]["role"] != "user":
        messages.insert(0, {"role": "user", "content": [{"type": "text", "text": BEGINNING}]})
    return {"system": system, "messages": messages}


def _append(messages: list[Block], role: str, blocks: list[Block]) -> None:
    """Append blocks; roles must alternate, so blocks of the same role join the last message."""
    if blocks and messages and messages[-1]["role"] == role:
        messages[-1]["content"] += blocks
    elif blocks:
        messages.append({"role": role, "content": blocks})


def _use(call: Call) -> Block:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments()}


def _result(call: Call) -> Block:
    block: Block = {"type": "tool_result", "tool_use_id": call.id, "content": call.result}
    return {**block, "is_error": True} if call.is_error else block


def _messages(value: Value) -> list[Message]:
    role = value.field("role").one_of(ROLES)
    content = value.field("content")
    if not content.is_list():
        return [Message(role=ROLES[role], content=_text(content) or EMPTY)]
    return _assistant(content) if role == "assistant" else _results_and_texts(content, role)


def _assistant(content: Value) -> list[Message]:
    message = Message(role=Role.ROLE_ASSISTANT)
    pieces: list[Piece] = []
    thoughts: list[Piece] = []
    ids: list[Value] = []
    for block in content.items():
        kind = _kind(block, "assistant")
        if kind == "tool_use":
            message.tool_calls.append(_tool_call(block))
            ids.append(block.field("id"))
        elif kind == "thinking":
            thoughts.append(Piece(block.field("thinking").text()))
        elif kind != "redacted_thinking":
            pieces.append(_piece(block, kind))
    check_distinct(ids)
    message.content = joined(pieces, model=True)
    message.reasoning = joined(thoughts, model=False)
    if not message.content and not message.tool_calls:
        message.content = EMPTY
    return [message]


def _results_and_texts(content: Value, role: str) -> list[Message]:
    """Return the messages in the order of the blocks; texts between results are one message."""
    result: list[Message] = []
    pieces: list[Piece] = []
    for block in content.items():
        kind = _kind(block, role)
        if kind != "tool_result":
            pieces.append(_piece(block, kind))
            continue
        if text := joined(pieces, model=False):
            result.append(Message(role=ROLES[role], content=text))
        result.append(_tool_result(block))
        pieces = []
    text = joined(pieces, model=False)
    if text or not result:
        result.append(Message(role=ROLES[role], content=text or EMPTY))
    return result


def _tool_result(block: Value) -> Message:
    content, is_error = block.field("content"), block.field("is_error")
    if not is_error.is_null() and not isinstance(is_error.value, bool):
        raise is_error.wrong("a boolean")
    message = Message(role=Role.ROLE_TOOL, tool_call_id=block.field("tool_use_id").filled_text())
    message.content = ("" if content.is_null() else _text(content)) or EMPTY
    if is_error.value:
        message.metadata[IS_ERROR] = True
    return message


def _tool_call(block: Value) -> ToolCall:
    given = block.field("input")
    if not given.is_null() and not given.is_object():
        raise given.wrong("an object")
    return ToolCall(
        id=block.field("id").filled_text(),
        name=block.field("name").filled_text(),
        arguments_json="{}" if given.is_null() else given.json(),
    )


def _text(content: Value) -> str:
    """Return the text of a content without tools."""
    if content.is_list():
        return joined((_piece(block, _kind(block, "")) for block in content.items()), model=False)
    if content.is_text():
        return content.text()
    raise content.wrong("a text or a list of blocks")


def _kind(block: Value, role: str) -> str:
    kind = block.field("type").filled_text()
    if OWNERS.get(kind, role) != role:
        raise block.field("type").error(f'"{kind}" is only for the role {OWNERS[kind]}')
    return kind


def _piece(block: Value, kind: str) -> Piece:
    return Piece(block.field("text").text()) if kind == "text" else placeholder(kind)
