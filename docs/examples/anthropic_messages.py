"""Convert a context for Anthropic. `python docs/examples/anthropic_messages.py ADDRESS SESSION` prints the request."""

import json
from typing import Any

from exchanges import Call, arguments_of, context_from_args, steps

from memsidecar.v1.context_pb2 import BuildContextResponse
from memsidecar.v1.message_pb2 import Role

CACHED = {"type": "ephemeral"}
Block = dict[str, Any]


def anthropic_request(context: BuildContextResponse) -> dict[str, list[Block]]:
    """Return `system` and `messages` of the Messages API, with a cache breakpoint after each stable part."""
    system: list[Block] = []
    messages: list[Block] = []
    last_stable: Block | None = None
    for step in steps(context):
        text: list[Block] = [{"type": "text", "text": step.text}] if step.text.strip() else []
        if step.role == Role.ROLE_SYSTEM and step.stable:
            system += text
            continue
        # The second system message, retrieved for this turn, becomes a part of the user message.
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
        messages.insert(0, {"role": "user", "content": [{"type": "text", "text": "(The conversation begins.)"}]})
    return {"system": system, "messages": messages}


def _append(messages: list[Block], role: str, blocks: list[Block]) -> None:
    """Append blocks; roles must alternate, so blocks of the same role join the last message."""
    if blocks and messages and messages[-1]["role"] == role:
        messages[-1]["content"] += blocks
    elif blocks:
        messages.append({"role": role, "content": blocks})


def _use(call: Call) -> Block:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments_of(call)}


def _result(call: Call) -> Block:
    return {"type": "tool_result", "tool_use_id": call.id, "content": call.result}


if __name__ == "__main__":
    print(json.dumps(anthropic_request(context_from_args()), indent=2))
