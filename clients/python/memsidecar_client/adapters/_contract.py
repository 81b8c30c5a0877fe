"""What the contract asks of a message's fields, for texts and ids that come from anywhere."""

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, TypedDict

from memsidecar_client import Message, Role, ToolCall


class Place(TypedDict):
    """Which session is meant, as all calls have it."""

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
    """Only an assistant that calls a tool may say nothing: elsewhere the contract wants a text, and NOTHING is one."""
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
    """The content of a message that was made here, or by any other client."""
    return "" if found.content == NOTHING else found.content


def tool_call(call_id: str | None, name: str | None, arguments: Any) -> ToolCall:
    """`arguments` as the text that the model wrote, or as what was read from it."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(id=id_of(call_id) or "none", name=id_of(name) or "none", arguments_json=sendable(text))


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """As an object. What the model wrote need not be one."""
    try:
        read = json.loads(call.arguments_json or "{}")
    except ValueError:
        read = call.arguments_json
    return read if isinstance(read, dict) else {"arguments": read}


def id_of(text: str | None) -> str:
    """The same for the same text: itself, or the sum of one that is too long or has signs that no id may have."""
    text = text or ""
    if len(sendable(text).encode()) <= MAX_ID_BYTES and sendable(text) == text and not _has_control(text):
        return text
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def sendable(text: str) -> str:
    """Half of a surrogate pair is text for Python, and not for UTF-8."""
    return text.encode(errors="replace").decode()


def _has_control(text: str) -> bool:
    return any(unicodedata.category(sign) == "Cc" for sign in text)
