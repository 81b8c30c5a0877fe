"""Convert a context for OpenAI. `python docs/examples/openai_messages.py ADDRESS SESSION` prints both formats."""

import json

from exchanges import context_from_args, steps

from memsidecar.v1.context_pb2 import BuildContextResponse
from memsidecar.v1.message_pb2 import Role

ROLES = {Role.ROLE_SYSTEM: "system", Role.ROLE_USER: "user", Role.ROLE_ASSISTANT: "assistant"}


def chat_messages(context: BuildContextResponse) -> list[dict[str, object]]:
    """Return `messages` of chat completions."""
    messages: list[dict[str, object]] = []
    for step in steps(context):
        message: dict[str, object] = {"role": ROLES[step.role], "content": step.text or None}
        if step.calls:
            message["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments_json}}
                for call in step.calls
            ]
        messages.append(message)
        messages += [{"role": "tool", "tool_call_id": call.id, "content": call.result} for call in step.calls]
    return messages


def responses_input(context: BuildContextResponse) -> list[dict[str, object]]:
    """Return `input` of the Responses API, in which calls and results are separate items."""
    items: list[dict[str, object]] = []
    for step in steps(context):
        if step.text:
            items.append({"role": ROLES[step.role], "content": step.text})
        for call in step.calls:
            item = {"call_id": call.id, "name": call.name, "arguments": call.arguments_json}
            items.append({"type": "function_call", **item})
        for call in step.calls:
            items.append({"type": "function_call_output", "call_id": call.id, "output": call.result})
    return items


if __name__ == "__main__":
    context = context_from_args()
    print(json.dumps({"messages": chat_messages(context), "input": responses_input(context)}, indent=2))
