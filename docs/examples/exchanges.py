"""A context's messages in the order that providers ask for: behind each call its result, and no result without a call.

The sidecar keeps messages in the order in which they came. Providers are stricter: results stand right behind the
message with the calls, each call has one, and ids do not repeat. Here this is put right, once for all of them.
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
LONGEST_ID = 40


@dataclass
class Call:
    id: str
    name: str
    arguments_json: str
    result: str = NO_RESULT


@dataclass
class Step:
    """What one message says. `stable`: it is part of the prefix that will be the same next turn."""

    role: Role
    text: str
    stable: bool
    calls: list[Call] = field(default_factory=list)
    message: Message = field(default_factory=Message)


def steps(context: BuildContextResponse) -> list[Step]:
    found: list[Step] = []
    open_calls: dict[str, list[Call]] = defaultdict(list)
    ids: set[str] = set()
    for at, message in enumerate(context.messages):
        stable = at < context.stable_prefix_count
        if message.role != Role.ROLE_TOOL:
            step = Step(message.role, _said(message), stable, message=message)
            for call in message.tool_calls:
                step.calls.append(Call(_new(call.id, ids), call.name, call.arguments_json))
                open_calls[call.id].append(step.calls[-1])
            found.append(step)
        elif waiting := open_calls[message.tool_call_id]:
            waiting.pop().result = message.content
        else:
            found.append(Step(Role.ROLE_USER, f"Result of a tool: {message.content}", stable, message=message))
    return found


def _said(message: Message) -> str:
    """Several people in one conversation are told apart by their names, which most providers have no field for."""
    named = message.name and message.role == Role.ROLE_USER
    return f"{message.name}: {message.content}" if named else message.content


def _new(call_id: str, ids: set[str]) -> str:
    """Some providers reuse ids from answer to answer; others refuse two that are the same, long ones, and odd signs."""
    plain = re.sub(r"[^a-zA-Z0-9_-]", "_", call_id)[:LONGEST_ID]
    fresh, number = plain, 1
    while fresh in ids:
        number += 1
        fresh = f"{plain[: LONGEST_ID - 4]}_{number}"
    ids.add(fresh)
    return fresh


def arguments_of(call: Call) -> dict[str, object]:
    """As an object. What the model wrote need not be one."""
    return as_object(call.arguments_json or "{}", "arguments")


def as_object(text: str, otherwise: str) -> dict[str, object]:
    """The object that a text is; any other text under a name."""
    try:
        read = json.loads(text)
    except ValueError:
        read = text
    return read if isinstance(read, dict) else {otherwise: read}


def context_of_the_command_line() -> BuildContextResponse:
    """`python docs/examples/NAME.py ADDRESS SESSION`, as in `... 127.0.0.1:7600 s1`."""
    address, session_id = sys.argv[1:3]
    with grpc.insecure_channel(address) as channel:
        memory = MemoryServiceStub(channel)
        context: BuildContextResponse = memory.BuildContext(BuildContextRequest(session_id=session_id))
        return context
