"""Bring the messages of a context into the order that providers require.

The sidecar keeps messages in the order of their arrival. Providers are stricter: results directly follow the message
with the calls, each call has one result, and ids do not repeat. `steps` establishes this for all providers:

- a late result moves up to its call
- a call without a result gets NO_RESULT
- a result without a call becomes a user message
- an id that is repeated, too long or contains special characters is replaced, in call and result alike
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from memsidecar_client.conversion.values import IS_ERROR, object_of
from memsidecar_client.v1.context_pb2 import BuildContextResponse
from memsidecar_client.v1.message_pb2 import Message, Role

NO_RESULT = "[no result was recorded]"
BEGINNING = "(The conversation begins.)"
"The first user message, for providers that require one."

MAX_ID_CHARS = 40
MAX_NAME_CHARS = 64


@dataclass
class Call:
    id: str
    name: str
    arguments_json: str
    result: str = NO_RESULT
    is_error: bool = False

    def arguments(self) -> dict[str, Any]:
        """Return the arguments as an object; the model may have written another value."""
        return object_of(self.arguments_json, "arguments")


@dataclass
class Step:
    """One message with its calls. `stable`: it belongs to the prefix that stays the same in the next turn."""

    role: Role
    text: str
    stable: bool
    message: Message
    calls: list[Call] = field(default_factory=list)


def steps(context: BuildContextResponse) -> list[Step]:
    result: list[Step] = []
    open_calls: dict[str, list[Call]] = defaultdict(list)
    ids: set[str] = set()
    for position, message in enumerate(context.messages):
        stable = position < context.stable_prefix_count
        if message.role != Role.ROLE_TOOL:
            step = Step(_role(message), _text(message), stable, message)
            for call in message.tool_calls:
                step.calls.append(_call(call.id, call.name, call.arguments_json, ids))
                open_calls[call.id].append(step.calls[-1])
            result.append(step)
        elif calls := open_calls[message.tool_call_id]:
            answered = calls.pop()
            answered.result = message.content
            answered.is_error = IS_ERROR in message.metadata and message.metadata[IS_ERROR] is True
        else:
            result.append(Step(Role.ROLE_USER, f"Result of a tool: {message.content}", stable, message))
    return result


def _role(message: Message) -> Role:
    """Return the role; one that a later contract adds is sent as the user's."""
    known = message.role in (Role.ROLE_SYSTEM, Role.ROLE_ASSISTANT)
    return message.role if known else Role.ROLE_USER


def _text(message: Message) -> str:
    """Return the text with the speaker's name, because most providers have no field for it."""
    named = message.name and _role(message) == Role.ROLE_USER
    return f"{message.name}: {message.content}" if named else message.content


def _call(call_id: str, name: str, arguments_json: str, ids: set[str]) -> Call:
    arguments = arguments_json if arguments_json.strip() else "{}"
    return Call(_unique_id(call_id, ids), _plain(name, MAX_NAME_CHARS) or "tool", arguments)


def _unique_id(call_id: str, ids: set[str]) -> str:
    plain = _plain(call_id, MAX_ID_CHARS) or "call"
    unique, number = plain, 1
    while unique in ids:
        number += 1
        suffix = f"_{number}"
        unique = plain[: MAX_ID_CHARS - len(suffix)] + suffix
    ids.add(unique)
    return unique


def _plain(text: str, max_chars: int) -> str:
    """Return the text in the characters that all providers accept."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", text)[:max_chars]
