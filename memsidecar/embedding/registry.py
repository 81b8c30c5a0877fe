"""Configured embedders; ClientEmbedder."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from urllib.parse import unquote

import numpy as np

from memsidecar.embedding.bundled_model import DIMENSIONS, BundledModel
from memsidecar.embedding.contract import Embedder, InvalidEmbedder, Vectors
from memsidecar.embedding.openai import EMBEDDINGS, OpenAIEmbedder, OpenAIEmbedderConfig
from memsidecar.embedding.static import StaticEmbedder
from memsidecar.endpoint.config import parse_address
from memsidecar.endpoint.resilience import RetryPolicy


@dataclass(frozen=True)
class ClientEmbedder:
    """Zeros for every text, so that a row without its client's vector is found by its words alone."""

    dimensions: int

    ready = True
    batch_size = 1_000

    def __post_init__(self) -> None:
        if self.dimensions < 1:
            raise InvalidEmbedder(f"dimensions must be 1 or more, not {self.dimensions}")

    @property
    def identity(self) -> str:
        return f"client/{self.dimensions}"

    def warm(self) -> None:
        """There is nothing to load."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.zeros((len(texts), self.dimensions), dtype=np.float32)


@dataclass(frozen=True)
class EmbedderConfig:
    """What the settings say of the embedder."""

    kind: str = "static"
    """static (bundled, without a network), openai (an endpoint) or client (clients bring their vectors)."""

    dimensions: int | None = None
    """Only the bundled model has a number of its own."""

    url: str = field(default="", repr=False)
    model: str = ""
    key: str | None = field(default=None, repr=False)
    send_dimensions: bool = False
    timeout_seconds: float = 10.0
    texts_per_request: int = 64
    max_text_bytes: int = 24_000
    attempts: int = 3


class ConfiguredEmbedders:
    """Thread-safe. Asking for an embedder loads nothing and asks no network; its first text does."""

    def __init__(self, choice: EmbedderConfig) -> None:
        """Raises InvalidEmbedder, so that a wrong setting is refused at start."""
        self._choice = choice
        self._bundled: BundledModel | None = None
        self._lock = Lock()
        self.default: Embedder = self._configured()
        self._by_identity: dict[str, Embedder | None] = {self.default.identity: self.default}
        self._hurried: dict[str, Embedder] = {}

    def of_identity(self, identity: str) -> Embedder | None:
        """The same instance for the same identity; None for one that no embedder of this version has."""
        with self._lock:
            if identity not in self._by_identity:
                self._by_identity[identity] = self._reconstructed(identity)
            return self._by_identity[identity]

    def interactive(self, embedder: Embedder) -> Embedder:
        """The same instance for the same identity. Where no network is asked there is nothing to be impatient of."""
        if not isinstance(embedder, OpenAIEmbedder):
            return embedder
        with self._lock:
            if embedder.identity not in self._hurried:
                self._hurried[embedder.identity] = embedder.interactive()
            return self._hurried[embedder.identity]

    def _configured(self) -> Embedder:
        choice = self._choice
        if choice.kind == "static":
            return self._static(choice.dimensions or DIMENSIONS)
        if choice.kind not in {"openai", "client"}:
            raise InvalidEmbedder(f"embedder {choice.kind!r} is not known; known: static, openai, client")
        if choice.dimensions is None:
            raise InvalidEmbedder(f"embedder {choice.kind!r} needs the number of dimensions")
        if choice.kind == "client":
            return ClientEmbedder(choice.dimensions)
        return self._openai(choice.url, choice.key, choice.model, choice.dimensions)

    def _reconstructed(self, identity: str) -> Embedder | None:
        """Whatever is made must say the same identity again: else a part of it is not of this version."""
        kind, _, rest = identity.partition("/")
        make = self._makers.get(kind)
        try:
            embedder = make(rest) if make else None
        except ValueError:
            return None
        return embedder if embedder and embedder.identity == identity else None

    @property
    def _makers(self) -> Mapping[str, Callable[[str], Embedder]]:
        return {"static": self._static_again, "openai": self._openai_again, "client": self._client_again}

    def _static_again(self, rest: str) -> Embedder:
        model, _, _ = rest.partition("/")
        return self._static(int(model.rpartition("-")[2]))

    def _client_again(self, rest: str) -> Embedder:
        return ClientEmbedder(int(rest))

    def _openai_again(self, rest: str) -> Embedder:
        url, model, dimensions = rest.rsplit("/", 2)
        return self._openai(*self._opened(url), unquote(model), int(dimensions))

    def _opened(self, url: str) -> tuple[str, str | None]:
        """The URL with what opens it: nothing, unless it is of the configured host. A key is for who issued it."""
        if self._choice.kind != "openai":
            return url, None
        asked, configured = parse_address(url, EMBEDDINGS), parse_address(self._choice.url, EMBEDDINGS)
        if asked.origin != configured.origin:
            return url, None
        same_path = asked == replace(configured, authorization=None)
        return self._choice.url if same_path else url, self._choice.key

    def _static(self, dimensions: int) -> Embedder:
        """All lengths share one model in memory."""
        self._bundled = self._bundled or BundledModel()
        return StaticEmbedder(dimensions, self._bundled)

    def _openai(self, url: str, key: str | None, model: str, dimensions: int) -> Embedder:
        choice = self._choice
        return OpenAIEmbedder(
            OpenAIEmbedderConfig(
                url=url,
                model=model,
                dimensions=dimensions,
                key=key,
                send_dimensions=choice.send_dimensions,
                timeout_seconds=choice.timeout_seconds,
                texts_per_request=choice.texts_per_request,
                max_text_bytes=choice.max_text_bytes,
                retry_policy=RetryPolicy(attempts=choice.attempts),
            )
        )
