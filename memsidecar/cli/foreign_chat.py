"""Conversations of other systems: their messages become records of an archive, with ids that depend on them only."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any

from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.struct_pb2 import Struct

from memsidecar.domain.errors import SidecarError
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_SYSTEM, ROLE_TOOL, ROLE_USER, Message, Role, ToolCall
from memsidecar.v1.session_pb2 import ArchiveRecord

ROLES: dict[str, Role] = {
    "system": ROLE_SYSTEM,
    "developer": ROLE_SYSTEM,
    "user": ROLE_USER,
    "human": ROLE_USER,
    "assistant": ROLE_ASSISTANT,
    "ai": ROLE_ASSISTANT,
    "model": ROLE_ASSISTANT,
    "tool": ROLE_TOOL,
    "function": ROLE_TOOL,
}
_DERIVED = "import/"
"The beginning of derived ids."
INVALID_UNICODE = "has a text that is not valid Unicode"
EMPTY = "[empty]"
"The content of a message without any text: the sidecar stores no empty one, except with tool calls."
_MAX_ID_CHARACTERS = 200
_DIGEST_BYTES = 16
_MAX_FIELDS_NAMED = 8


class WrongFormat(SidecarError):
    """The content does not have the shape of its format. `message` is the number or the id of the wrong message."""

    def __init__(self, problem: str, message: str = "") -> None:
        super().__init__(problem)
        self.message = message


@contextmanager
def naming(message: str) -> Iterator[None]:
    """Name the message in its problems."""
    try:
        yield
    except WrongFormat as problem:
        raise WrongFormat(str(problem), message) from None
    except UnicodeError:
        raise WrongFormat(INVALID_UNICODE, message) from None


@dataclass
class ForeignChat:
    """A conversation of a file. `session_id` is empty if the file does not name it."""

    session_id: str = ""
    user_id: str = ""
    messages: list[Message] = field(default_factory=list)

    def add(self, role: object, content: str, **fields: Any) -> Message:
        """Add a message and return it. One without text and tool calls gets the content EMPTY."""
        message = Message(role=role_of(role), **fields)
        message.content = content or ("" if message.tool_calls else EMPTY)
        if message.role != ROLE_TOOL:
            message.ClearField("tool_call_id")
        self.messages.append(message)
        return message

    def records(self, session_id: str, user_id: str, before: int = 0) -> Iterator[ArchiveRecord]:
        """Yield the messages as records. A message without an id gets one that a second import gives it again.

        `before` is the number of messages that the file has before them in their session.
        """
        session_id, user_id = self.session_id or session_id, self.user_id or user_id
        for at, message in enumerate(self.messages, before):
            if not message.id or len(message.id) > _MAX_ID_CHARACTERS:
                message.id = derived_id(session_id, at, message)
            yield ArchiveRecord(user_id=user_id, session_id=session_id, message=message)


def derived_id(session_id: str, at: int, message: Message) -> str:
    """Return an id made of the place and the content of a message."""
    calls = [(call.id, call.name, call.arguments_json) for call in message.tool_calls]
    name = json.dumps([session_id, at, message.id, message.role, message.content, message.tool_call_id, calls])
    return f"{_DERIVED}{blake2b(name.encode(), digest_size=_DIGEST_BYTES).hexdigest()}"


def role_of(name: object) -> Role:
    if not isinstance(name, str) or name.lower() not in ROLES:
        raise WrongFormat(f"the role {name!r} is not known: {', '.join(ROLES)} are")
    return ROLES[name.lower()]


def is_assistant(role: object) -> bool:
    return role_of(role) == ROLE_ASSISTANT


def text_of(content: object, *, joined: bool = False) -> str:
    """Return the text of a content: a text, or a list of parts, each on its own line.

    A part that is no text is named in brackets. Texts of a model can be `joined`: it splits them at citations.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise WrongFormat("a content is neither a text nor a list of parts")
    text, continues = "", False
    for part in content:
        piece, is_text = _part_text(part)
        if piece:
            text += piece if not text or (joined and continues and is_text) else f"\n{piece}"
            continues = is_text
    return text


def _part_text(part: object) -> tuple[str, bool]:
    """Return the text of a part, or its placeholder, and whether it is its text."""
    if isinstance(part, str):
        return part, True
    if not isinstance(part, dict):
        raise WrongFormat("a part of a content is neither a text nor an object")
    for key in ("text", "refusal"):
        if isinstance(part.get(key), str):
            return str(part[key]), True
    return f"[{part.get('type') or part.get('content_type') or 'part'}]", False


def arguments_json(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)


def tool_call(call_id: str, name: object, arguments: object) -> ToolCall:
    if not isinstance(name, str) or not name:
        raise WrongFormat("a tool call has no name")
    return ToolCall(id=call_id or name, name=name, arguments_json=arguments_json(arguments))


def objects_of(value: object, what: str) -> Sequence[dict[str, Any]]:
    """Return a list of objects; none for an absent one."""
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise WrongFormat(f"{what} is not a list of objects")
    return value


def required(given: dict[str, Any], key: str) -> Any:
    """Return a field; raise WrongFormat if it is absent."""
    if given.get(key) is None:
        fields = ", ".join([*given][:_MAX_FIELDS_NAMED]) or "no field"
        raise WrongFormat(f"has no {key}, but {fields}")
    return given[key]


def object_of(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise WrongFormat(f"{what} is not an object")
    return value


def first_text(given: dict[str, Any], keys: Sequence[str]) -> str:
    """Return the first of these fields that is a text and not empty."""
    values = (given.get(key) for key in keys)
    return next((value for value in values if isinstance(value, str) and value), "")


def first_id(given: dict[str, Any], keys: Sequence[str]) -> str:
    """Return the first of these fields that is neither absent nor empty. A number becomes its decimal text."""
    for key in keys:
        value = given.get(key)
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not is_number and not isinstance(value, str | None):
            raise WrongFormat(f"the field {key} is neither a text nor a number")
        if value is not None and value != "":
            return str(value)
    return ""


def set_time(message: Message, value: object) -> None:
    """Set the time of a message: seconds since 1970, or a text as in RFC 3339. An absent one stays unset."""
    if value is None or value == "":
        return
    try:
        if isinstance(value, str):
            message.create_time.FromDatetime(datetime.fromisoformat(value))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            message.create_time.FromNanoseconds(round(value * 1_000_000) * 1_000)
        else:
            raise ValueError
    except (ValueError, OverflowError):
        raise WrongFormat("a time is neither a number of seconds nor a text like 2026-01-31T12:00:00Z") from None


def metadata_of(value: object) -> Struct | None:
    if value is None:
        return None
    try:
        return ParseDict(object_of(value, "metadata"), Struct())
    except (ParseError, ValueError):
        raise WrongFormat("metadata is no JSON object of texts, numbers, lists and objects") from None
