"""Episodic memory in this process, assembled as in `memsidecar.assembly`; tests drive indexing step by step."""

import asyncio
import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memsidecar.api.executors import Executors
from memsidecar.api.page_tokens import PageTokens
from memsidecar.api.search import SearchHandler
from memsidecar.domain.session import SessionKey
from memsidecar.embedding.contract import Embedder, EmbedderMismatch, Embedders, EmbedderUnavailable
from memsidecar.embedding.registry import ConfiguredEmbedders, EmbedderConfig
from memsidecar.layers.episodic import EpisodicLimits, EpisodicMemory
from memsidecar.layers.episodic.generations import GenerationManager
from memsidecar.layers.episodic.hits import ChunkSearcher
from memsidecar.layers.episodic.indexer import Indexer
from memsidecar.layers.working.memory import WorkingLimits, WorkingMemory
from memsidecar.stores.contract import Erase, Generation, Index, IndexBatch, IndexUnavailable, Journal
from memsidecar.stores.volatile.index import VolatileIndex, VolatileTable
from memsidecar.stores.volatile.journal import VolatileJournal
from memsidecar.tokens.registry import CounterRegistry
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_USER, SCOPE_NAMESPACE, SCOPE_SESSION, SCOPE_USER, Message, Role, Scope

DIMENSIONS = 8
SCOPES = (SCOPE_SESSION, SCOPE_USER, SCOPE_NAMESPACE)
MODES = (pb.SEARCH_MODE_KEYWORD, pb.SEARCH_MODE_SEMANTIC, pb.SEARCH_MODE_HYBRID)
HYBRID, KEYWORD, SEMANTIC = pb.SEARCH_MODE_HYBRID, pb.SEARCH_MODE_KEYWORD, pb.SEARCH_MODE_SEMANTIC
NO_RAM = EpisodicLimits(memory_bytes=1)
"""No partition fits into RAM: searches rank candidates of the index."""
STATIC = ConfiguredEmbedders(EmbedderConfig())
"""The bundled model, loaded once for all tests."""


@dataclass
class ToyEmbedder:
    """Embeds words by their digest; fails on demand."""

    identity: str = "toy/8"
    dimensions: int = DIMENSIONS
    fault: type[EmbedderUnavailable] | type[EmbedderMismatch] | None = None
    texts: list[str] = field(default_factory=list)
    ready: bool = True
    batch_size: int = 16
    unrelated_cosine: float = 0.0

    def warm(self) -> None:
        """Do nothing: it is always warm."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.fault is not None:
            raise self.fault("as the test wants it")
        self.texts += texts
        return np.stack([self.vector(text) for text in texts])

    def vector(self, text: str) -> NDArray[np.float32]:
        total = np.zeros(self.dimensions)
        for word in text.casefold().split():
            total += _direction_of(f"{self.identity} {word}", self.dimensions)
        length = float(np.linalg.norm(total))
        return (total / length if length else total).astype(np.float32)


@cache
def _direction_of(name: str, dimensions: int) -> NDArray[np.float64]:
    seed = hashlib.sha256(name.encode()).digest()
    return np.random.default_rng(list(seed)).standard_normal(dimensions)


class BlockingEmbedder(ToyEmbedder):
    """Blocks until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.called, self.released = threading.Event(), threading.Event()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.called.set()
        self.released.wait()
        return super().embed(texts)


@dataclass
class ToyEmbedders:
    default: Embedder
    older: Mapping[str, Embedder] = field(default_factory=dict)

    def of_identity(self, identity: str) -> Embedder | None:
        return self.default if identity == self.default.identity else self.older.get(identity)

    def interactive(self, embedder: Embedder) -> Embedder:
        return embedder

    def for_queries(self, embedder: Embedder) -> Embedder:
        return embedder


class StuckTable(VolatileTable):
    """A table whose writes fail while its index is stuck."""

    def __init__(self, generation: Generation, index: "StuckIndex") -> None:
        super().__init__(generation)
        self._index = index

    def apply(self, batch: IndexBatch) -> None:
        if self._index.stuck:
            raise IndexUnavailable("as the test wants it")
        super().apply(batch)


class StuckIndex(VolatileIndex):
    def __init__(self, stuck: bool = True) -> None:
        super().__init__()
        self.stuck = stuck

    def create(self, namespace: str, generation: Generation) -> VolatileTable:
        with self._lock:
            table = self._tables[namespace, generation.number] = StuckTable(generation, self)
        return table


class SteppedMemory(EpisodicMemory):
    """The real memory, but indexing runs on demand on the thread of the test."""

    def open(self, open_index: Callable[[], Index]) -> None:
        self._index = open_index()
        self.generations = GenerationManager(self._journal, self._index, self.embedders, self._lsns_at_start)
        self.indexer = Indexer(self._journal, self.generations, self._partitions, self._commits)
        self._searcher.generations = self.generations

    def step(self, namespace: str, entries: int) -> int:
        """Process a batch of at most this many entries; return their number."""
        batch = self._journal.read_changes(namespace, self.indexer.position(namespace), entries)
        if batch:
            self.indexer.process(namespace, batch)
        return len(batch)

    def catch_up(self, batch_entries: int = 256) -> None:
        for namespace in self._journal.last_lsns():
            while self.step(namespace, batch_entries):
                pass
        while self.indexer.maintain(idle=True):
            pass


class EpisodicClient:
    """A memory that is called as by the service. With `stepped`, indexing waits for `index()`."""

    def __init__(
        self,
        journal: Journal | None = None,
        *,
        embedders: Embedders | None = None,
        limits: EpisodicLimits | None = None,
        index: Index | None = None,
        opened: bool = True,
        stepped: bool = True,
    ) -> None:
        self.journal = journal or VolatileJournal()
        self.embedders = embedders or ToyEmbedders(ToyEmbedder())
        dimensions = self.embedders.default.dimensions
        self.working = WorkingMemory(
            self.journal, CounterRegistry("chars4"), WorkingLimits(vector_dimensions=dimensions)
        )
        kind = SteppedMemory if stepped else EpisodicMemory
        self.episodic = kind(self.journal, self.embedders, limits or EpisodicLimits(linger_seconds=0.0))
        self.tables: Index = index or VolatileIndex()
        self._loop = asyncio.new_event_loop()
        self._executors = self._loop.run_until_complete(_executors())
        self._search = SearchHandler(self.working, self.episodic, self._executors, PageTokens(bytes(32)))
        if opened:
            self.open()

    def open(self) -> None:
        self.episodic.open(lambda: self.tables)

    @property
    def stepped(self) -> SteppedMemory:
        assert isinstance(self.episodic, SteppedMemory)
        return self.episodic

    # -- calls

    def add(
        self, content: str, session: str = "s", *, user: str = "", namespace: str = "default", **fields: Any
    ) -> str:
        """Add a message; return its id."""
        message = Message(role=fields.pop("role", ROLE_USER), content=content, **fields)
        return self.add_all([message], session, user=user, namespace=namespace)[0]

    def add_all(
        self, messages: Sequence[Message], session: str = "s", *, user: str = "", namespace: str = "default"
    ) -> list[str]:
        copies = [Message.FromString(message.SerializeToString()) for message in messages]
        return [result.id for result in self.working.add(SessionKey(namespace, session), user, copies).results]

    def search(self, query: str, **fields: Any) -> pb.SearchResponse:
        return self._loop.run_until_complete(self._search(pb.SearchRequest(query=query, **fields)))

    def find(self, query: str, **fields: Any) -> list[str]:
        """Return the contents of the hits, best first."""
        return [hit.message.content for hit in self.search(query, **fields).hits]

    def pages(self, query: str, size: int, between: Callable[[], object] = lambda: None, **fields: Any) -> list[str]:
        """Return the ids of all hits, read page by page; call `between` between two pages."""
        found: list[str] = []
        token = ""
        while True:
            page = self.search(query, limit=size, page_token=token, **fields)
            found += [hit.message.id for hit in page.hits]
            token = page.next_page_token
            if not token:
                return found
            between()

    def erase(
        self, session: str = "s", *, user: str = "", namespace: str = "default", delete_session: bool = False
    ) -> None:
        self.working.sessions.submit_erase(Erase(SessionKey(namespace, session), user, delete_session)).wait()

    def forget(self, message_id: str, session: str = "s", *, user: str = "") -> None:
        command = self.working.sessions.forget_command(SessionKey("default", session), user, [message_id])
        self.working.sessions.submit_erase(command).wait()

    def annotate(self, message_id: str, score: float, session: str = "s", *, user: str = "") -> None:
        self.working.annotate(SessionKey("default", session), user, message_id, score, None)

    def chunks(self) -> ChunkSearcher:
        return ChunkSearcher(self.episodic.hits, self.episodic.limits.weights)

    # -- the index

    def index(self, batch_entries: int = 256) -> None:
        """Index until the log is processed."""
        self.stepped.catch_up(batch_entries)

    def close(self) -> None:
        self.abandon()
        self.journal.close()

    def abandon(self) -> None:
        """Close everything but the journal."""
        self._executors.close()
        self._loop.close()
        self.episodic.close()


async def _executors() -> Executors:
    return Executors(2)


@contextmanager
def episodic_client(journal: Journal | None = None, **options: Any) -> Iterator[EpisodicClient]:
    opened = EpisodicClient(journal, **options)
    try:
        yield opened
    finally:
        opened.close()


def messages_of(*contents: str, role: Role = ROLE_USER, **fields: Any) -> list[Message]:
    return [Message(role=role, content=content, **fields) for content in contents]


def names_of(scope: Scope, user: str = "u", session: str = "s") -> dict[str, Any]:
    """Return the fields of a request for this scope."""
    return {"scope": scope, "user_id": user, "session_id": "" if scope == SCOPE_USER and user else session}
