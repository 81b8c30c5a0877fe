"""Reading what a chat completions API answered."""

from typing import NamedTuple

from memsidecar.endpoint.client import json_object
from memsidecar.endpoint.errors import Unanswered
from memsidecar.language.figures import Usage

# More than any token is long, also where each character is escaped.
_LARGEST_TOKEN_BYTES = 64
_LARGEST_FRAME_BYTES = 1 << 20

_THOUGHT_BEGINS, _THOUGHT_ENDS = "<think>", "</think>"


class ChatAnswer(NamedTuple):
    """`cut_off` says that the model would have said more than it was allowed to."""

    text: str
    cut_off: bool
    usage: Usage | None


def largest_answer_bytes(max_tokens: int) -> int:
    """More than any honest answer needs."""
    return max_tokens * _LARGEST_TOKEN_BYTES + _LARGEST_FRAME_BYTES


def read_answer(body: bytes) -> ChatAnswer:
    """Raises Unanswered for anything that is not an answer; that the model said nothing is one."""
    answer = json_object(body)
    choice = _first_choice(answer)
    return ChatAnswer(_text(choice), choice.get("finish_reason") == "length", _usage(answer.get("usage")))


def _first_choice(answer: dict[str, object]) -> dict[str, object]:
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Unanswered("the answer has no list of choices")
    return choices[0]


def _text(choice: dict[str, object]) -> str:
    message = choice.get("message")
    if not isinstance(message, dict) or "content" not in message:
        raise Unanswered("the answer has no message")
    content = message["content"]
    if content is None:
        # So says a model that refuses, or that had nothing left to say after its thoughts.
        content = message.get("refusal") or ""
    if not isinstance(content, str):
        raise Unanswered("the answer is no text")
    # Half a surrogate pair, which JSON can write, would break whoever stores it.
    return _without_thoughts(content.encode("utf-8", "replace").decode())


def _without_thoughts(text: str) -> str:
    """Some servers leave what a model thinks in front of what it says."""
    if not text.lstrip().startswith(_THOUGHT_BEGINS):
        return text
    return text.partition(_THOUGHT_ENDS)[2]


def _usage(usage: object) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    tokens = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    counted = [number for number in tokens if type(number) is int and number >= 0]
    return Usage(*counted) if len(counted) == len(tokens) else None
