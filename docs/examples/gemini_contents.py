"""Convert a context for Gemini. `python docs/examples/gemini_contents.py ADDRESS USER SESSION` prints the request."""

import json
from typing import Any

from context import context_from_args

from memsidecar_client import BuildContextResponse, Role
from memsidecar_client.conversion.exchanges import BEGINNING, Call, Step, steps
from memsidecar_client.conversion.values import object_of

SIGNATURE = "thought_signature"
"Metadata key under which the agent stores the thoughtSignature of a call, which Gemini 3 requires back."
Part = dict[str, Any]


def gemini_request(context: BuildContextResponse) -> dict[str, object]:
    """Return `system_instruction` and `contents` of generateContent."""
    instructions: list[Part] = []
    contents: list[Part] = []
    for step in steps(context):
        text: list[Part] = [{"text": step.text}] if step.text else []
        if step.role == Role.ROLE_SYSTEM and step.stable:
            instructions += text
            continue
        _append(contents, "model" if step.role == Role.ROLE_ASSISTANT else "user", text)
        _append(contents, "model", _calls(step))
        _append(contents, "user", [_result(call) for call in step.calls])
    if contents and contents[0]["role"] != "user":
        contents.insert(0, {"role": "user", "parts": [{"text": BEGINNING}]})
    request: dict[str, object] = {"contents": contents}
    if instructions:
        request["system_instruction"] = {"parts": instructions}
    return request


def _calls(step: Step) -> list[Part]:
    """Return the calls of a step; the signature belongs to the first of parallel calls."""
    values = ({"id": call.id, "name": call.name, "args": call.arguments()} for call in step.calls)
    calls: list[Part] = [{"functionCall": value} for value in values]
    if calls and SIGNATURE in step.message.metadata:
        calls[0]["thoughtSignature"] = step.message.metadata[SIGNATURE]
    return calls


def _result(call: Call) -> Part:
    return {"functionResponse": {"id": call.id, "name": call.name, "response": object_of(call.result, "result")}}


def _append(contents: list[Part], role: str, parts: list[Part]) -> None:
    """Append parts; roles must alternate, so parts of the same role join the last content."""
    if parts and contents and contents[-1]["role"] == role:
        contents[-1]["parts"] += parts
    elif parts:
        contents.append({"role": role, "parts": parts})


if __name__ == "__main__":
    print(json.dumps(gemini_request(context_from_args()), indent=2))
