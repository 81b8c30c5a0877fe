"""Converts texts and ids of frameworks to what the contract accepts."""

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, TypedDict

from memsidecar_client import Message, Role, ToolCall


class Place(TypedDict):
    """Fields of a request that identify a session."""

    namespace: str
    user_id: str
    session_id: str


MAX_ID_BYTES = 256
NOTHING = "[empty]"


def message(
    role: Role,
    texts: Iterable[str],
    *,
    message_id: str = "",
    name: str = "",
    reasoning: str = "",
    tool_calls: Sequence[ToolCall] = (),
    tool_call_id: str = "",
) -> Message:
    """Return a content that the contract accepts: NOTHING for an empty one, except with tool calls."""
    content = sendable("\n".join(texts))
    calls = tool_calls if role == Role.ROLE_ASSISTANT else ()
    return Message(
        id=id_of(message_id),
        role=role,
        content=content if content or calls else NOTHING,
        name=id_of(name),
        reasoning=sendable(reasoning),
        tool_calls=calls,
        tool_call_id=id_of(tool_call_id) if role == Role.ROLE_TOOL else "",
    )


def said(found: Message) -> str:
    """Return the content of a stored message, without the placeholder NOTHING."""
    return "" if found.content == NOTHING else found.content


def tool_call(call_id: str | None, name: str | None, arguments: Any) -> ToolCall:
    """Return a tool call; `arguments` is a text or a parsed value."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(id=id_of(call_id) or "none", name=id_of(name) or "none", arguments_json=sendable(text))


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """Return arguments as an object, although a model may write another value."""
    try:
        read = json.loads(call.arguments_json or "{}")
    except ValueError:
        read = call.arguments_json
    return read if isinstance(read, dict) else {"arguments": read}


def id_of(text: str | None) -> str:
    """Return an id for a text: the text itself, or its hash if it is no valid id."""
    text = text or ""
    if len(sendable(text).encode()) <= MAX_ID_BYTES and sendable(text) == text and not _has_control(text):
        return text
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def sendable(text: str) -> str:
    """Return the text without unpaired surrogates, which UTF-8 cannot encode."""
    return text.encode(errors="replace").decode()


def _has_control(text: str) -> bool:
    return any(unicodedata.category(sign) == "Cc" for sign in text)
