"""The server of tests/endpoint with valid and invalid responses of /v1/chat/completions."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from memsidecar.domain.message import Role
from memsidecar.language.contract import Utterance
from memsidecar.language.openai import PROBE
from tests.endpoint.server import Behaviour, Handler, Request, Server, content, status

USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def completion(text: str | None, finish_reason: str = "stop", **more: object) -> bytes:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    return json.dumps({"object": "chat.completion", "choices": [choice], "usage": USAGE} | more).encode()


def answer_with(text: str | None, finish_reason: str = "stop", **more: object) -> Behaviour:
    return content(completion(text, finish_reason, **more))


def thinking(think: Callable[[Request], str]) -> Behaviour:
    """Answer with a function of the request; a probe is answered with a greeting."""

    def answer(request: Request) -> str:
        return "Hello." if request.contents[1] == PROBE.text else think(request)

    return lambda handler, request: handler.answer(200, completion(answer(request)))


def unless(refuses: Callable[[Request], bool], well: Behaviour, code: int = 400) -> Behaviour:
    """Reject some requests with an error that repeats the request, as some servers do."""

    def behave(handler: Handler, request: Request) -> None:
        refused = status(code, json.dumps({"error": request.body}).encode())
        (refused if refuses(request) else well)(handler, request)

    return behave


def has_format(request: Request) -> bool:
    return "response_format" in request.body


def shown_to(request: Request) -> list[dict[str, object]]:
    """Return the messages of a prompt; raises if a line is no JSON."""
    text = request.contents[1]
    lines = [json.loads(line) for line in text.splitlines() if line and text != PROBE.text]
    return [line for line in lines if "number" in line]


well = answer_with("Ada works at Acme.")


@dataclass
class ModelServer(Server):
    always: Behaviour = well


def user(message_id: str, text: str, name: str = "") -> Utterance:
    return Utterance(message_id, Role.USER, name, text, 0)


def assistant(message_id: str, text: str) -> Utterance:
    return Utterance(message_id, Role.ASSISTANT, "", text, 0)


def words(text: str) -> int:
    """Count words in place of tokens."""
    return len(text.split())
