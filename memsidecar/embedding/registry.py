"""Registry of embedders: the configured one, those of older indexes, and the client's own vectors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from urllib.parse import unquote

import numpy as np

from memsidecar.embedding.contract import Embedder, InvalidEmbedder, Vectors
from memsidecar.embedding.onnx import OnnxEmbedder
from memsidecar.embedding.openai import EMBEDDINGS, OpenAIEmbedder, OpenAIEmbedderConfig
from memsidecar.embedding.static import DIMENSIONS, BundledModel, StaticEmbedder
from memsidecar.endpoint.config import parse_address
from memsidecar.endpoint.resilience import RetryPolicy


@dataclass(frozen=True)
class ClientEmbedder:
    """Embedder for clients that send their own vectors. A text without one gets zeros, and is found by its words."""

    dimensions: int

    ready = True
    batch_size = 1_000
    unrelated_cosine = 0.0

    def __post_init__(self) -> None:
        if self.dimensions < 1:
            raise InvalidEmbedder(f"dimensions must be 1 or more, not {self.dimensions}")

    @property
    def identity(self) -> str:
        return f"client/{self.dimensions}"

    def warm(self) -> None:
        """Do nothing: there is no model."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.zeros((len(texts), self.dimensions), dtype=np.float32)


@dataclass(frozen=True)
class EmbedderConfig:
    """Settings of the embedder."""

    kind: str = "static"
    """static (bundled), onnx (an export in a directory), openai (an endpoint) or client (clients send vectors)."""

    dimensions: int | None = None
    """Required but for the bundled model, which has a default."""

    url: str = field(default="", repr=False)
    model: str = ""
    """The name at the endpoint, or the directory of the export."""

    key: str | None = field(default=None, repr=False)
    send_dimensions: bool = False
    timeout_seconds: float = 10.0
    texts_per_request: int = 64
    max_text_bytes: int = 24_000
    attempts: int = 3
    threads: int = 1


class ConfiguredEmbedders:
    """Implements `Embedders`. Thread-safe.

    The bundled model is loaded, and a connection is made, with the first text; an export is loaded at once.
    """

    def __init__(self, config: EmbedderConfig) -> None:
        """Raises InvalidEmbedder, so that a wrong setting fails at start."""
        self._config = config
        self._bundled: BundledModel | None = None
        self._lock = Lock()
        self.default: Embedder = self._configured()
        self._by_identity: dict[str, Embedder | None] = {self.default.identity: self.default}
        self._interactive: dict[str, Embedder] = {}

    def of_identity(self, identity: str) -> Embedder | None:
        """Return the same instance for the same identity; None if this version has no such embedder."""
        with self._lock:
            if identity not in self._by_identity:
                self._by_identity[identity] = self._create(identity)
            return self._by_identity[identity]

    def interactive(self, embedder: Embedder) -> Embedder:
        """Return the same instance for the same identity of an endpoint; the embedder itself if it is fast."""
        if isinstance(embedder, OnnxEmbedder):
            return embedder.interactive()
        if not isinstance(embedder, OpenAIEmbedder):
            return embedder
        with self._lock:
            if embedder.identity not in self._interactive:
                self._interactive[embedder.identity] = embedder.interactive()
            return self._interactive[embedder.identity]

    def for_queries(self, embedder: Embedder) -> Embedder:
        return embedder.for_queries() if isinstance(embedder, OnnxEmbedder) else self.interactive(embedder)

    def _configured(self) -> Embedder:
        config = self._config
        if config.kind == "static":
            return self._static(config.dimensions or DIMENSIONS)
        if config.kind not in {"onnx", "openai", "client"}:
            raise InvalidEmbedder(f"embedder {config.kind!r} is not known; known: static, onnx, openai, client")
        if config.dimensions is None:
            raise InvalidEmbedder(f"embedder {config.kind!r} needs the number of dimensions")
        if config.kind == "client":
            return ClientEmbedder(config.dimensions)
        if config.kind == "onnx":
            return OnnxEmbedder.load(Path(config.model), config.dimensions, config.threads)
        return self._openai(config.url, config.key, config.model, config.dimensions)

    def _create(self, identity: str) -> Embedder | None:
        """Create the embedder of an identity; None unless the result has the same identity in this version."""
        kind, _, rest = identity.partition("/")
        factory = self._factories.get(kind)
        try:
            embedder = factory(rest) if factory else None
        except ValueError:
            return None
        return embedder if embedder and embedder.identity == identity else None

    @property
    def _factories(self) -> Mapping[str, Callable[[str], Embedder]]:
        return {"static": self._create_static, "openai": self._create_openai, "client": self._create_client}

    def _create_static(self, rest: str) -> Embedder:
        model, _, _ = rest.partition("/")
        return self._static(int(model.rpartition("-")[2]))

    def _create_client(self, rest: str) -> Embedder:
        return ClientEmbedder(int(rest))

    def _create_openai(self, rest: str) -> Embedder:
        url, model, dimensions = rest.rsplit("/", 2)
        return self._openai(*self._with_credentials(url), unquote(model), int(dimensions))

    def _with_credentials(self, url: str) -> tuple[str, str | None]:
        """Return URL and key. The configured credentials are used for the configured origin only."""
        if self._config.kind != "openai":
            return url, None
        address, configured = parse_address(url, EMBEDDINGS), parse_address(self._config.url, EMBEDDINGS)
        if address.origin != configured.origin:
            return url, None
        is_same = address == replace(configured, authorization=None)
        return self._config.url if is_same else url, self._config.key

    def _static(self, dimensions: int) -> Embedder:
        """Embedders of all dimensions share one model in memory."""
        self._bundled = self._bundled or BundledModel()
        return StaticEmbedder(dimensions, self._bundled)

    def _openai(self, url: str, key: str | None, model: str, dimensions: int) -> Embedder:
        config = self._config
        return OpenAIEmbedder(
            OpenAIEmbedderConfig(
                url=url,
                model=model,
                dimensions=dimensions,
                key=key,
                send_dimensions=config.send_dimensions,
                timeout_seconds=config.timeout_seconds,
                texts_per_request=config.texts_per_request,
                max_text_bytes=config.max_text_bytes,
                retry_policy=RetryPolicy(attempts=config.attempts),
            )
        )
