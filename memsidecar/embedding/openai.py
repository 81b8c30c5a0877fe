"""/v1/embeddings client and response parsing."""

import json
import logging
import time
from array import array
from base64 import b64decode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TypeGuard
from urllib.parse import quote

import numpy as np

from memsidecar.embedding.contract import EmbedderMismatch, EmbedderUnavailable, InvalidEmbedder, Vectors, unit_rows
from memsidecar.embedding.static import sanitize
from memsidecar.endpoint.client import EndpointClient, json_object
from memsidecar.endpoint.config import EndpointApi, EndpointConfig
from memsidecar.endpoint.errors import (
    EndpointMismatch,
    EndpointUnavailable,
    InvalidEndpoint,
    RequestRejected,
    RetryableError,
)
from memsidecar.endpoint.resilience import CircuitBreaker, RetryPolicy

# Digits, sign, exponent, comma and the white space of a pretty printer.
_LARGEST_NUMBER_BYTES = 64
_LARGEST_FRAME_BYTES = 1 << 20

EMBEDDINGS = EndpointApi("the embedding endpoint", "/embeddings")

# A text of this length is within the limit of any model; if it is refused, its length is not why.
SHORTEST_CUT_CHARACTERS = 128

# What every model takes: if it is refused, too, then no text is at fault but the configuration.
HARMLESS_TEXT = "hello"

# For somebody who waits for a search, which is answered by words alone if this is not enough.
INTERACTIVE_TIMEOUT_SECONDS = 2.0

log = logging.getLogger(__name__)


def max_response_bytes(rows: int, dimensions: int) -> int:
    """More than any honest answer needs."""
    return rows * dimensions * _LARGEST_NUMBER_BYTES + _LARGEST_FRAME_BYTES


def read_vectors(body: bytes, rows: int, dimensions: int) -> Vectors:
    """One row for each text sent, in their order, not yet normalised.

    Raises EndpointMismatch for other dimensions, and Unanswered for anything else that is not as it should be.
    """
    embeddings = _in_order(_items(body), rows)
    vectors = [_numbers(embedding) for embedding in embeddings]
    found = {len(vector) for vector in vectors} - {dimensions}
    if found:
        raise EndpointMismatch(f"the embedding model has {found.pop()} dimensions, but {dimensions} are configured")
    stacked = np.stack(vectors)
    if not np.isfinite(stacked).all():
        raise RetryableError("the answer has numbers that are not finite")
    return stacked


def _items(body: bytes) -> list[object]:
    items = json_object(body).get("data")
    if not isinstance(items, list):
        raise RetryableError("the answer has no list of data")
    return items


def _in_order(items: list[object], rows: int) -> list[object]:
    """The embeddings by their own index: servers answer in any order."""
    by_index = {item["index"]: item.get("embedding") for item in items if _has_index(item)}
    if len(items) != rows or by_index.keys() != set(range(rows)):
        raise RetryableError(f"the answer has not one row for each of {rows} texts")
    return [by_index[index] for index in range(rows)]


def _has_index(item: object) -> TypeGuard[dict[str, object]]:
    return isinstance(item, dict) and type(item.get("index")) is int


def _numbers(embedding: object) -> Vectors:
    try:
        if isinstance(embedding, str):
            return np.frombuffer(b64decode(embedding, validate=True), dtype="<f4").astype(np.float32)
        if isinstance(embedding, list):
            return _single(array("d", embedding))
    except (ValueError, TypeError, OverflowError) as garbled:
        raise RetryableError("the answer has an embedding that is not made of numbers") from garbled
    raise RetryableError("the answer has an item without an embedding")


def _single(numbers: "array[float]") -> Vectors:
    with np.errstate(over="ignore"):
        return np.array(numbers).astype(np.float32)


@dataclass(frozen=True)
class OpenAIEmbedderConfig:
    """Raises InvalidEmbedder, so that a wrong setting is refused at start."""

    url: str = field(repr=False)
    """The API's base, such as http://host:port/v1."""

    model: str
    dimensions: int
    """What the model answers with; anything else is refused, not stored."""

    key: str | None = field(default=None, repr=False)
    """Sent as a bearer token."""

    send_dimensions: bool = False
    """Ask the model for so many dimensions; many servers refuse the field."""

    timeout_seconds: float = 10.0
    """For connecting, for each wait for the server, and for the whole answer once it begins."""

    texts_per_request: int = 64
    bytes_per_request: int = 1 << 19
    """About 150,000 tokens: OpenAI takes 300,000 in one request."""

    max_text_bytes: int = 24_000
    """Longer texts are embedded by their beginning. About 8,000 tokens, at 3 bytes each in most scripts."""

    retry_policy: RetryPolicy = field(default_factory=RetryPolicy)
    failures_before_open: int = 5
    """After so many failed requests in a row none is sent for a while."""

    cool_down_seconds: float = 30.0
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self.endpoint()
        if not self.model:
            raise InvalidEmbedder("an embedding endpoint needs the name of a model")
        for name in ("dimensions", "texts_per_request", "bytes_per_request", "longest_text_bytes"):
            if getattr(self, name) <= 0:
                raise InvalidEmbedder(f"{name} must be more than 0, not {getattr(self, name)}")

    def endpoint(self) -> EndpointConfig:
        """What of it concerns the way there. Raises InvalidEmbedder."""
        try:
            return EndpointConfig(
                EMBEDDINGS,
                self.url,
                self.key,
                timeout_seconds=self.timeout_seconds,
                retry_policy=self.retry_policy,
                failures_before_open=self.failures_before_open,
                cool_down_seconds=self.cool_down_seconds,
                clock=self.clock,
            )
        except InvalidEndpoint as wrong:
            raise InvalidEmbedder(str(wrong)) from None


class OpenAIEmbedder:
    """Thread-safe: callers share kept connections and one breaker."""

    ready = True

    def __init__(self, settings: OpenAIEmbedderConfig, elder: CircuitBreaker | None = None) -> None:
        """While the breaker `elder` refuses requests, so does this embedder."""
        self._endpoint = EndpointClient(settings.endpoint(), elder)
        self.dimensions = settings.dimensions
        self.batch_size = settings.texts_per_request
        # A model's name may hold slashes; quoted, the parts of an identity can be told apart.
        self.identity = f"openai/{self._endpoint.base}/{quote(settings.model, safe='')}/{settings.dimensions}"
        self._settings = settings
        self.rejected_count = 0
        self._counting = Lock()

    def interactive(self) -> "OpenAIEmbedder":
        """The same model by one short attempt. What this one learns of a dead server spares the other its wait."""
        settings = self._settings
        hurried = replace(
            settings,
            timeout_seconds=min(INTERACTIVE_TIMEOUT_SECONDS, settings.timeout_seconds),
            retry_policy=replace(settings.retry_policy, attempts=1),
        )
        return OpenAIEmbedder(hurried, self._endpoint.breaker)

    def warm(self) -> None:
        """There is nothing to load; the first text connects."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        try:
            return self._embedded(texts)
        except EndpointUnavailable as away:
            raise EmbedderUnavailable(f"no vectors: {away}") from away
        except EndpointMismatch as mismatch:
            raise EmbedderMismatch(str(mismatch)) from mismatch

    def _embedded(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        sent = {place: text for place, raw in enumerate(texts) if (text := self._readable(raw))}
        for places in self._batches(sent):
            vectors[places] = unit_rows(self._rows([sent[place] for place in places]))
        return vectors

    def _readable(self, text: str) -> str:
        return sanitize(text, self._settings.max_text_bytes)

    def _batches(self, texts: dict[int, str]) -> Iterator[list[int]]:
        batch: list[int] = []
        room_bytes = self._settings.bytes_per_request
        for place, text in texts.items():
            size = len(text.encode())
            if batch and (len(batch) == self._settings.texts_per_request or size > room_bytes):
                yield batch
                batch, room_bytes = [], self._settings.bytes_per_request
            batch.append(place)
            room_bytes -= size
        if batch:
            yield batch

    def _rows(self, texts: list[str]) -> Vectors:
        """Ask for all; if the input is refused, for each half apart, down to the one text that is too long.

        That one is cut in half until it is taken, and is zeros if it never is. It is cut only when refused alone, so
        that its vector does not depend on its neighbours.
        """
        try:
            return self._answered(texts)
        except RequestRejected:
            if len(texts) > 1:
                middle = len(texts) // 2
                return np.concatenate([self._rows(texts[:middle]), self._rows(texts[middle:])])
        (text,) = texts
        return self._rows([text[: len(text) // 2]]) if len(text) > SHORTEST_CUT_CHARACTERS else self._refused()

    def _refused(self) -> Vectors:
        """The row of a text that is refused at any length: one such text must not stop all that come after it.

        Raises InputRefused if any text is: zeros for each of them would hide a wrong setting, and be stored for ever.
        """
        self._answered([HARMLESS_TEXT])
        with self._counting:
            self.rejected_count += 1
            first = self.rejected_count == 1
        if first:
            # Once, and never the text: where there is one there are many, and what they say is nobody's business.
            log.warning(
                "%s refuses a text at any length; such texts are found by their words alone", self._endpoint.base
            )
        return np.zeros((1, self.dimensions), dtype=np.float32)

    def _answered(self, texts: list[str]) -> Vectors:
        rows = len(texts)
        largest_bytes = max_response_bytes(rows, self.dimensions)
        return self._endpoint.post(
            self._body(texts), largest_bytes, lambda body: read_vectors(body, rows, self.dimensions)
        )

    def _body(self, texts: list[str]) -> bytes:
        request: dict[str, object] = {"model": self._settings.model, "input": texts, "encoding_format": "float"}
        if self._settings.send_dimensions:
            request["dimensions"] = self.dimensions
        return json.dumps(request, ensure_ascii=False).encode()
