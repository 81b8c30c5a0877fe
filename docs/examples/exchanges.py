"""Bring the messages of a context into the order that providers require.

The sidecar keeps messages in the order of their arrival. Providers are stricter: results directly follow the message
with the calls, each call has one result, and ids do not repeat. `steps` establishes this for all providers.
"""

import json
import re
import sys
from collections import defaultdict
from dataclasses import dataclass, field

import grpc

from memsidecar.v1.context_pb2 import BuildContextRequest, BuildContextResponse
from memsidecar.v1.memory_pb2_grpc import MemoryServiceStub
from memsidecar.v1.message_pb2 import Message, Role

NO_RESULT = "[no result was recorded]"
MAX_ID_CHARS = 40


@dataclass
class Call:
    id: str
    name: str
    arguments_json: str
    result: str = NO_RESULT


@dataclass
class Step:
    """One message with its calls. `stable`: it belongs to the prefix that stays the same in the next turn."""

    role: Role
    text: str
    stable: bool
    calls: list[Call] = field(default_factory=list)
    message: Message = field(default_factory=Message)


def steps(context: BuildContextResponse) -> list[Step]:
    result: list[Step] = []
    open_calls: dict[str, list[Call]] = defaultdict(list)
    ids: set[str] = set()
    for position, message in enumerate(context.messages):
        stable = position < context.stable_prefix_count
        if message.role != Role.ROLE_TOOL:
            step = Step(message.role, _text(message), stable, message=message)
            for call in message.tool_calls:
                step.calls.append(Call(_unique_id(call.id, ids), call.name, call.arguments_json))
                open_calls[call.id].append(step.calls[-1])
            result.append(step)
        elif calls := open_calls[message.tool_call_id]:
            calls.pop().result = message.content
        else:
            result.append(Step(Role.ROLE_USER, f"Result of a tool: {message.content}", stable, message=message))
    return result


def _text(message: Message) -> str:
    """Return the text with the speaker's name, because most providers have no field for it."""
    named = message.name and message.role == Role.ROLE_USER
    return f"{message.name}: {message.content}" if named else message.content


def _unique_id(call_id: str, ids: set[str]) -> str:
    """Return a short, unique id of plain characters: some providers repeat ids, others reject such ids."""
    plain = re.sub(r"[^a-zA-Z0-9_-]", "_", call_id)[:MAX_ID_CHARS]
    unique, number = plain, 1
    while unique in ids:
        number += 1
        unique = f"{plain[: MAX_ID_CHARS - 4]}_{number}"
    ids.add(unique)
    return unique


def arguments_of(call: Call) -> dict[str, object]:
    """Return the arguments as an object; the model may have written another value."""
    return as_object(call.arguments_json or "{}", "arguments")


def as_object(text: str, otherwise: str) -> dict[str, object]:
    """Return the JSON object in a text; any other text becomes the value of the key `otherwise`."""
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    return value if isinstance(value, dict) else {otherwise: value}


def context_from_args() -> BuildContextResponse:
    """Build the context for `python docs/examples/NAME.py ADDRESS SESSION`, as in `... 127.0.0.1:7600 s1`."""
    address, session_id = sys.argv[1:3]
    with grpc.insecure_channel(address) as channel:
        memory = MemoryServiceStub(channel)
        context: BuildContextResponse = memory.BuildContext(BuildContextRequest(session_id=session_id))
        return context
