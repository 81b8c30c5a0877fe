"""Client of /v1/chat/completions: requests, response parsing, usage counters."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import BoundedSemaphore, Lock
from typing import NamedTuple

from memsidecar.endpoint.client import EndpointClient, json_object
from memsidecar.endpoint.config import EndpointApi, EndpointConfig
from memsidecar.endpoint.resilience import EndpointMismatch, EndpointUnavailable, RequestRejected, RetryableError
from memsidecar.language.contract import MalformedAnswer, ModelUnavailable, TextRejected

CHAT = EndpointApi("the model endpoint", "/chat/completions")

# An upper bound, with every character escaped.
_MAX_TOKEN_BYTES = 64
_MAX_FRAME_BYTES = 1 << 20

_THINKING_START, _THINKING_END = "<think>", "</think>"

log = logging.getLogger(__name__)


class _Prompt(NamedTuple):
    instructions: str
    text: str
    max_tokens: int


PROBE = _Prompt("Answer in one word.", "hello", 16)
"Accepted by every working model: if the endpoint rejects it, the configuration is wrong and not the text before it."


class TokenUsage(NamedTuple):
    """Tokens of one request, as the endpoint counts them."""

    prompt_tokens: int
    completion_tokens: int


class ChatAnswer(NamedTuple):
    """`truncated` says that the answer reached the limit of tokens."""

    text: str
    truncated: bool
    usage: TokenUsage | None


@dataclass(frozen=True)
class ModelStats:
    """Totals since the process started."""

    answers: int = 0
    failures: int = 0
    """Calls that ended without an answer; retries within a call are not counted."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    unreported: int = 0
    """Answers without a token usage; they are in neither sum of tokens."""


class OpenAIModel:
    """LanguageModel over HTTP. Callers share connections, one circuit breaker and `concurrency` request slots."""

    def __init__(self, name: str, settings: EndpointConfig, concurrency: int = 1) -> None:
        self.name = name
        self._endpoint = EndpointClient(settings)
        self._slots = BoundedSemaphore(concurrency)
        # The longest time that another caller can hold a slot.
        self._slot_timeout_seconds = settings.timeout_seconds * settings.retry_policy.attempts
        self._usage = UsageCounter()
        self._supports_schema = True

    @property
    def stats(self) -> ModelStats:
        return self._usage.stats

    def complete(self, instructions: str, text: str, *, max_tokens: int, schema: object | None = None) -> str:
        try:
            with self._slot():
                answer = self._complete(_Prompt(instructions, text, max_tokens), schema)
        except (EndpointUnavailable, EndpointMismatch) as error:
            self._usage.count_failure()
            raise ModelUnavailable(str(error)) from error
        except TextRejected:
            self._usage.count_failure()
            raise
        if schema is not None and answer.truncated:
            raise MalformedAnswer(f"it is longer than {max_tokens} tokens and was cut off")
        return answer.text

    @contextmanager
    def _slot(self) -> Iterator[None]:
        if not self._slots.acquire(timeout=self._slot_timeout_seconds):
            raise EndpointUnavailable(f"{self._endpoint.base} is busy with other requests")
        try:
            yield
        finally:
            self._slots.release()

    def _complete(self, prompt: _Prompt, schema: object | None) -> ChatAnswer:
        try:
            return self._complete_with_schema(prompt, schema)
        except RequestRejected as error:
            # Raises if the probe is rejected too: the text may then succeed with another configuration.
            self._request(PROBE)
            raise TextRejected(str(error)) from error

    def _complete_with_schema(self, prompt: _Prompt, schema: object | None) -> ChatAnswer:
        """Send the schema unless the server does not know `response_format`, which it reports like a rejected text."""
        if schema is None or not self._supports_schema:
            return self._request(prompt)
        try:
            return self._request(prompt, response_format=_response_format(schema))
        except RequestRejected:
            answer = self._request(prompt)
        self._supports_schema = False
        log.info("%s rejects response_format; later requests are sent without it", self._endpoint.base)
        return answer

    def _request(self, prompt: _Prompt, **fields: object) -> ChatAnswer:
        messages = [{"role": "system", "content": prompt.instructions}, {"role": "user", "content": prompt.text}]
        request = {
            "model": self.name,
            "messages": messages,
            "temperature": 0,
            "max_tokens": prompt.max_tokens,
            **fields,
        }
        # No JSON parser accepts half a surrogate pair.
        body = json.dumps(request, ensure_ascii=False).encode("utf-8", "replace")
        answer = self._endpoint.post(body, max_answer_bytes(prompt.max_tokens), parse_answer)
        self._usage.count_answer(answer.usage)
        return answer


def _response_format(schema: object) -> dict[str, object]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}


class UsageCounter:
    """Counts answers, failures and tokens. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._stats = ModelStats()

    @property
    def stats(self) -> ModelStats:
        return self._stats

    def count_answer(self, usage: TokenUsage | None) -> None:
        tokens = usage or TokenUsage(0, 0)
        with self._lock:
            before = self._stats
            self._stats = replace(
                before,
                answers=before.answers + 1,
                prompt_tokens=before.prompt_tokens + tokens.prompt_tokens,
                completion_tokens=before.completion_tokens + tokens.completion_tokens,
                unreported=before.unreported + (usage is None),
            )

    def count_failure(self) -> None:
        with self._lock:
            self._stats = replace(self._stats, failures=self._stats.failures + 1)


def max_answer_bytes(max_tokens: int) -> int:
    """Return a bound on the body that is larger than any valid answer."""
    return max_tokens * _MAX_TOKEN_BYTES + _MAX_FRAME_BYTES


def parse_answer(body: bytes) -> ChatAnswer:
    """Parse a response; an empty text is an answer. Raises the endpoint's retryable error for anything else."""
    answer = json_object(body)
    choice = _first_choice(answer)
    return ChatAnswer(_text(choice), choice.get("finish_reason") == "length", _token_usage(answer.get("usage")))


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
        # A refusal stands in a field of its own; a model that only reasoned has none.
        content = message.get("refusal") or ""
    if not isinstance(content, str):
        raise RetryableError("the answer's content is not text")
    # JSON can encode half a surrogate pair, which no store accepts.
    return _strip_thinking(content.encode("utf-8", "replace").decode())


def _strip_thinking(text: str) -> str:
    """Remove the reasoning that some servers leave in front of the answer."""
    if not text.lstrip().startswith(_THINKING_START):
        return text
    return text.partition(_THINKING_END)[2]


def _token_usage(usage: object) -> TokenUsage | None:
    if not isinstance(usage, dict):
        return None
    tokens = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    valid = [number for number in tokens if type(number) is int and number >= 0]
    return TokenUsage(*valid) if len(valid) == len(tokens) else None
