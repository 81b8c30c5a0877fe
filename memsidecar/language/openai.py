"""A language model behind any server that speaks OpenAI's /v1/chat/completions."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import NamedTuple

from memsidecar.endpoint.client import Endpoint
from memsidecar.endpoint.config import Api, EndpointSettings
from memsidecar.endpoint.errors import EndpointAway, EndpointMismatch, InputRefused
from memsidecar.language.chat_answer import ChatAnswer, largest_answer_bytes, read_answer
from memsidecar.language.contract import MalformedAnswer, ModelAway
from memsidecar.language.figures import Ledger, ModelFigures
from memsidecar.language.refused import TextRefused

CHAT = Api("the model endpoint", "/chat/completions")

log = logging.getLogger(__name__)


class _Question(NamedTuple):
    instructions: str
    text: str
    max_tokens: int


# What every model takes: if it is refused, too, then no text is at fault but the configuration.
HARMLESS = _Question("Answer in one word.", "hello", 16)


class OpenAIModel:
    """Thread-safe: callers share kept connections, one breaker, and so many turns."""

    def __init__(self, name: str, settings: EndpointSettings, concurrency: int = 1) -> None:
        self.name = name
        self._endpoint = Endpoint(settings)
        self._turns = BoundedSemaphore(concurrency)
        # As long as somebody else's call may take that is tried to the last.
        self._turn_seconds = settings.timeout_seconds * settings.patience.attempts
        self._ledger = Ledger()
        self._takes_schemas = True

    @property
    def figures(self) -> ModelFigures:
        """What was answered so far, and what it cost."""
        return self._ledger.figures

    def complete(self, instructions: str, text: str, *, max_tokens: int, schema: object | None = None) -> str:
        try:
            with self._turn():
                answer = self._answer(_Question(instructions, text, max_tokens), schema)
        except (EndpointAway, EndpointMismatch) as problem:
            self._ledger.failed()
            raise ModelAway(str(problem)) from problem
        except TextRefused:
            self._ledger.failed()
            raise
        if schema is not None and answer.cut_off:
            raise MalformedAnswer(f"it is longer than {max_tokens} tokens and was cut off")
        return answer.text

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._turns.acquire(timeout=self._turn_seconds):
            raise EndpointAway(f"{self._endpoint.base} is busy with other questions")
        try:
            yield
        finally:
            self._turns.release()

    def _answer(self, question: _Question, schema: object | None) -> ChatAnswer:
        try:
            return self._with_or_without_schema(question, schema)
        except InputRefused as refused:
            # Raises if this is refused, too: then waiting for a better configuration helps.
            self._asked(HARMLESS)
            raise TextRefused(str(refused)) from refused

    def _with_or_without_schema(self, question: _Question, schema: object | None) -> ChatAnswer:
        """Many servers do not know `response_format`, and say so as they would of a text that they do not take."""
        if schema is None or not self._takes_schemas:
            return self._asked(question)
        try:
            return self._asked(question, response_format=_held_to(schema))
        except InputRefused:
            answer = self._asked(question)
        self._takes_schemas = False
        log.info("%s refuses response_format; from now on it is asked without", self._endpoint.base)
        return answer

    def _asked(self, question: _Question, **more: object) -> ChatAnswer:
        told = [{"role": "system", "content": question.instructions}, {"role": "user", "content": question.text}]
        request = {"model": self.name, "messages": told, "temperature": 0, "max_tokens": question.max_tokens, **more}
        # Half a surrogate pair is taken by no JSON reader.
        body = json.dumps(request, ensure_ascii=False).encode("utf-8", "replace")
        answer = self._endpoint.ask(body, largest_answer_bytes(question.max_tokens), read_answer)
        self._ledger.answered(answer.usage)
        return answer


def _held_to(schema: object) -> dict[str, object]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
