"""Embedder of an OpenAI-compatible endpoint (/v1/embeddings), and its response parser."""

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
from memsidecar.endpoint.resilience import (
    CircuitBreaker,
    EndpointMismatch,
    EndpointUnavailable,
    InvalidEndpoint,
    RequestRejected,
    RetryableError,
    RetryPolicy,
)

EMBEDDINGS = EndpointApi("the embedding endpoint", "/embeddings")

# Any model accepts a text of this length, so its length is not why it is rejected.
MIN_TRUNCATED_CHARACTERS = 128

# Every model accepts this text: if it is rejected, too, the configuration is wrong.
PROBE_TEXT = "hello"

INTERACTIVE_TIMEOUT_SECONDS = 2.0
"For a waiting search, which ranks by words alone if there is no vector in time."

# A number with digits, sign, exponent, comma and the white space of a pretty printer.
_MAX_NUMBER_BYTES = 64
_MAX_ENVELOPE_BYTES = 1 << 20

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class OpenAIEmbedderConfig:
    """Raises InvalidEmbedder, so that a wrong setting fails at start."""

    url: str = field(repr=False)
    """The API's base, such as http://host:port/v1."""

    model: str
    dimensions: int
    """The dimensions of the model's vectors. Vectors of other dimensions are rejected and not stored."""

    key: str | None = field(default=None, repr=False)
    """Sent as a bearer token."""

    send_dimensions: bool = False
    """Send `dimensions` in requests; many servers reject the field."""

    timeout_seconds: float = 10.0
    """Limit of the connect, of each read, and of the whole response."""

    texts_per_request: int = 64
    bytes_per_request: int = 1 << 19
    """About 150,000 tokens; OpenAI's limit is 300,000 in one request."""

    max_text_bytes: int = 24_000
    """Longer texts are embedded by their beginning. About 8,000 tokens, at 3 bytes each in most scripts."""

    retry_policy: RetryPolicy = field(default_factory=RetryPolicy)
    failures_before_open: int = 5
    """Consecutive failed requests after which the circuit breaker opens."""

    cool_down_seconds: float = 30.0
    """Time for which the circuit breaker stays open."""

    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self.endpoint()
        if not self.model:
            raise InvalidEmbedder("an embedding endpoint needs the name of a model")
        for name in ("dimensions", "texts_per_request", "bytes_per_request", "max_text_bytes"):
            if getattr(self, name) <= 0:
                raise InvalidEmbedder(f"{name} must be more than 0, not {getattr(self, name)}")

    def endpoint(self) -> EndpointConfig:
        """Return the endpoint's part of the configuration. Raises InvalidEmbedder."""
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
        except InvalidEndpoint as error:
            raise InvalidEmbedder(str(error)) from None


class OpenAIEmbedder:
    """Thread-safe: callers share a connection pool and a circuit breaker."""

    ready = True
    unrelated_cosine = 0.0

    def __init__(self, config: OpenAIEmbedderConfig, parent: CircuitBreaker | None = None) -> None:
        """`parent` is a circuit breaker that blocks this embedder's requests, too."""
        self._endpoint = EndpointClient(config.endpoint(), parent)
        self.dimensions = config.dimensions
        self.batch_size = config.texts_per_request
        # The model's name is quoted, because it may contain slashes, which separate the parts of an identity.
        self.identity = f"openai/{self._endpoint.base}/{quote(config.model, safe='')}/{config.dimensions}"
        self._config = config
        self.rejected_count = 0
        self._count_lock = Lock()

    def interactive(self) -> "OpenAIEmbedder":
        """Return an embedder of the same model with one attempt and a short timeout.

        While this embedder's circuit breaker is open, the other one fails at once, too.
        """
        config = replace(
            self._config,
            timeout_seconds=min(INTERACTIVE_TIMEOUT_SECONDS, self._config.timeout_seconds),
            retry_policy=replace(self._config.retry_policy, attempts=1),
        )
        return OpenAIEmbedder(config, self._endpoint.breaker)

    def warm(self) -> None:
        """Do nothing: the first text connects."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        try:
            return self._embed(texts)
        except EndpointUnavailable as error:
            raise EmbedderUnavailable(f"no vectors: {error}") from error
        except EndpointMismatch as error:
            raise EmbedderMismatch(str(error)) from error

    def _embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        max_bytes = self._config.max_text_bytes
        sanitized = {row: text for row, raw in enumerate(texts) if (text := sanitize(raw, max_bytes))}
        for rows in self._batches(sanitized):
            vectors[rows] = unit_rows(self._request_rows([sanitized[row] for row in rows]))
        return vectors

    def _batches(self, texts: dict[int, str]) -> Iterator[list[int]]:
        """Yield the rows of each request, bounded in texts and in bytes."""
        batch: list[int] = []
        bytes_left = self._config.bytes_per_request
        for row, text in texts.items():
            size = len(text.encode())
            if batch and (len(batch) == self._config.texts_per_request or size > bytes_left):
                yield batch
                batch, bytes_left = [], self._config.bytes_per_request
            batch.append(row)
            bytes_left -= size
        if batch:
            yield batch

    def _request_rows(self, texts: list[str]) -> Vectors:
        """Request the vectors of all texts. If the input is rejected, bisect down to the rejected text.

        That text is cut in half until it is accepted; its vector is zeros if it never is. It is cut only if it is
        rejected alone, so that its vector does not depend on the other texts.
        """
        try:
            return self._request(texts)
        except RequestRejected:
            if len(texts) > 1:
                middle = len(texts) // 2
                return np.concatenate([self._request_rows(texts[:middle]), self._request_rows(texts[middle:])])
        (text,) = texts
        if len(text) > MIN_TRUNCATED_CHARACTERS:
            return self._request_rows([text[: len(text) // 2]])
        return self._rejected_row()

    def _rejected_row(self) -> Vectors:
        """Return zeros for a text that is rejected at any length, so that it does not stop later texts.

        Raises RequestRejected if every text is rejected: zeros would hide a wrong setting, and be stored for ever.
        """
        self._request([PROBE_TEXT])
        with self._count_lock:
            self.rejected_count += 1
            is_first = self.rejected_count == 1
        if is_first:
            # Logged once, because there may be many, and without the text, which is confidential.
            log.warning(
                "%s rejects a text at any length; such texts are found by their words alone", self._endpoint.base
            )
        return np.zeros((1, self.dimensions), dtype=np.float32)

    def _request(self, texts: list[str]) -> Vectors:
        rows = len(texts)
        return self._endpoint.post(
            self._body(texts),
            max_response_bytes(rows, self.dimensions),
            lambda body: parse_vectors(body, rows, self.dimensions),
        )

    def _body(self, texts: list[str]) -> bytes:
        request: dict[str, object] = {"model": self._config.model, "input": texts, "encoding_format": "float"}
        if self._config.send_dimensions:
            request["dimensions"] = self.dimensions
        return json.dumps(request, ensure_ascii=False).encode()


def max_response_bytes(rows: int, dimensions: int) -> int:
    """Return a bound above the size of any valid response."""
    return rows * dimensions * _MAX_NUMBER_BYTES + _MAX_ENVELOPE_BYTES


def parse_vectors(body: bytes, rows: int, dimensions: int) -> Vectors:
    """Return one row for each text of the request, in its order, not normalized.

    Raises EndpointMismatch for other dimensions, and RetryableError for any other malformed response.
    """
    items = json_object(body).get("data")
    if not isinstance(items, list):
        raise RetryableError("the answer has no list of data")
    vectors = [_numbers(embedding) for embedding in _in_order(items, rows)]
    others = {len(vector) for vector in vectors} - {dimensions}
    if others:
        raise EndpointMismatch(f"the embedding model has {others.pop()} dimensions, but {dimensions} are configured")
    stacked = np.stack(vectors)
    if not np.isfinite(stacked).all():
        raise RetryableError("the answer has numbers that are not finite")
    return stacked


def _in_order(items: list[object], rows: int) -> list[object]:
    """Return the embeddings ordered by their index: servers may return them in any order."""
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
            return _to_float32(array("d", embedding))
    except (ValueError, TypeError, OverflowError) as error:
        raise RetryableError("the answer has an embedding that is not made of numbers") from error
    raise RetryableError("the answer has an item without an embedding")


def _to_float32(numbers: "array[float]") -> Vectors:
    with np.errstate(over="ignore"):
        return np.array(numbers).astype(np.float32)
