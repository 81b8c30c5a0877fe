"""/v1/chat/completions client, response parsing, usage counters."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import BoundedSemaphore, Lock
from typing import NamedTuple

from memsidecar.endpoint.client import EndpointClient, json_object
from memsidecar.endpoint.config import EndpointApi, EndpointConfig
from memsidecar.endpoint.errors import EndpointMismatch, EndpointUnavailable, RequestRejected, RetryableError
from memsidecar.language.contract import MalformedAnswer, ModelUnavailable, TextRejected

# More than any token is long, also where each character is escaped.
_LARGEST_TOKEN_BYTES = 64
_LARGEST_FRAME_BYTES = 1 << 20

_THOUGHT_BEGINS, _THOUGHT_ENDS = "<think>", "</think>"

CHAT = EndpointApi("the model endpoint", "/chat/completions")

log = logging.getLogger(__name__)


class Usage(NamedTuple):
    """Tokens of one answer, as the endpoint counts them."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True)
class ModelStats:
    """Since the start."""

    answers: int = 0
    failures: int = 0
    """Calls that ended without an answer, however often they were tried."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    unreported: int = 0
    """Answers whose endpoint did not say their tokens, which are in neither sum."""


class Ledger:
    """Counts. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._figures = ModelStats()

    @property
    def stats(self) -> ModelStats:
        return self._figures

    def answered(self, usage: Usage | None) -> None:
        cost = usage or Usage(0, 0)
        with self._lock:
            was = self._figures
            self._figures = replace(
                was,
                answers=was.answers + 1,
                prompt_tokens=was.prompt_tokens + cost.prompt_tokens,
                completion_tokens=was.completion_tokens + cost.completion_tokens,
                unreported=was.unreported + (usage is None),
            )

    def failed(self) -> None:
        with self._lock:
            self._figures = replace(self._figures, failures=self._figures.failures + 1)


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
        raise RetryableError("the answer has no list of choices")
    return choices[0]


def _text(choice: dict[str, object]) -> str:
    message = choice.get("message")
    if not isinstance(message, dict) or "content" not in message:
        raise RetryableError("the answer has no message")
    content = message["content"]
    if content is None:
        # So says a model that refuses, or that had nothing left to say after its thoughts.
        content = message.get("refusal") or ""
    if not isinstance(content, str):
        raise RetryableError("the answer is no text")
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


class _Question(NamedTuple):
    instructions: str
    text: str
    max_tokens: int


# What every model takes: if it is refused, too, then no text is at fault but the configuration.
HARMLESS = _Question("Answer in one word.", "hello", 16)


class OpenAIModel:
    """Thread-safe: callers share kept connections, one breaker, and so many turns."""

    def __init__(self, name: str, settings: EndpointConfig, concurrency: int = 1) -> None:
        self.name = name
        self._endpoint = EndpointClient(settings)
        self._turns = BoundedSemaphore(concurrency)
        # As long as somebody else's call may take that is tried to the last.
        self._turn_seconds = settings.timeout_seconds * settings.retry_policy.attempts
        self._ledger = Ledger()
        self._takes_schemas = True

    @property
    def stats(self) -> ModelStats:
        """What was answered so far, and what it cost."""
        return self._ledger.stats

    def complete(self, instructions: str, text: str, *, max_tokens: int, schema: object | None = None) -> str:
        try:
            with self._turn():
                answer = self._answer(_Question(instructions, text, max_tokens), schema)
        except (EndpointUnavailable, EndpointMismatch) as problem:
            self._ledger.failed()
            raise ModelUnavailable(str(problem)) from problem
        except TextRejected:
            self._ledger.failed()
            raise
        if schema is not None and answer.cut_off:
            raise MalformedAnswer(f"it is longer than {max_tokens} tokens and was cut off")
        return answer.text

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._turns.acquire(timeout=self._turn_seconds):
            raise EndpointUnavailable(f"{self._endpoint.base} is busy with other questions")
        try:
            yield
        finally:
            self._turns.release()

    def _answer(self, question: _Question, schema: object | None) -> ChatAnswer:
        try:
            return self._with_or_without_schema(question, schema)
        except RequestRejected as refused:
            # Raises if this is refused, too: then waiting for a better configuration helps.
            self._asked(HARMLESS)
            raise TextRejected(str(refused)) from refused

    def _with_or_without_schema(self, question: _Question, schema: object | None) -> ChatAnswer:
        """Many servers do not know `response_format`, and say so as they would of a text that they do not take."""
        if schema is None or not self._takes_schemas:
            return self._asked(question)
        try:
            return self._asked(question, response_format=_held_to(schema))
        except RequestRejected:
            answer = self._asked(question)
        self._takes_schemas = False
        log.info("%s refuses response_format; from now on it is asked without", self._endpoint.base)
        return answer

    def _asked(self, question: _Question, **more: object) -> ChatAnswer:
        told = [{"role": "system", "content": question.instructions}, {"role": "user", "content": question.text}]
        request = {"model": self.name, "messages": told, "temperature": 0, "max_tokens": question.max_tokens, **more}
        # Half a surrogate pair is taken by no JSON reader.
        body = json.dumps(request, ensure_ascii=False).encode("utf-8", "replace")
        answer = self._endpoint.post(body, largest_answer_bytes(question.max_tokens), read_answer)
        self._ledger.answered(answer.usage)
        return answer


def _held_to(schema: object) -> dict[str, object]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
