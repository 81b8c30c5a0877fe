"""Change feed -> IndexBatch, with vectors."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memsidecar.embedding.contract import Embedder
from memsidecar.layers.episodic.query import document_partition, message_partition
from memsidecar.layers.text_analysis import index_terms
from memsidecar.stores.contract import (
    DocumentWritten,
    Episodes,
    IndexBatch,
    Journal,
    LogEntry,
    MessageWritten,
    RowsErased,
    SessionClaimed,
    StoredDocument,
)
from memsidecar.v1.message_pb2 import Message

_CLAIMED_AT_ONCE = 500


@dataclass(slots=True)
class PendingRow:
    """An episode on its way: all but its vector, or the vector that came with it."""

    lsn: int
    sequence: int
    written: int
    shelf: int
    session: int
    role: int
    time_us: int
    score: float | None
    name: str
    text: str
    vector: bytes | None = None


@dataclass
class BatchBuilder:
    """The net effect of a stretch of the log. With `shelf`, of that shelf alone."""

    journal: Journal
    shelf: int | None = None
    _gone: dict[int, int] = field(default_factory=dict)
    _changed: dict[tuple[int, int], None] = field(default_factory=dict)
    _sheaves: dict[tuple[int, int], PendingRow] = field(default_factory=dict)

    def take(self, news: LogEntry) -> None:
        if isinstance(news, MessageWritten):
            self._say(news, news.lsn)
        elif isinstance(news, RowsErased):
            self._forget(news.session, news.lsn)
        elif isinstance(news, SessionClaimed):
            self._move(news)
        elif isinstance(news, DocumentWritten):
            self._put(news.document, news.lsn)

    def _say(self, said: MessageWritten, written: int) -> None:
        shelf = message_partition(said.user_id, said.session)
        message = said.message
        if said.first_lsn != written:
            self._changed[said.first_lsn, message.sequence] = None
        decoded = Message.FromString(message.body)
        place = (said.first_lsn, message.sequence, written, shelf, said.session)
        figures = (message.role, message.time_us, message.score)
        self._keep(PendingRow(*place, *figures, decoded.name, text_of(decoded), said.vector))

    def _keep(self, sheaf: PendingRow) -> None:
        if self.shelf is None or sheaf.shelf == self.shelf:
            self._sheaves[sheaf.lsn, sheaf.sequence] = sheaf

    def _forget(self, session: int, lsn: int) -> None:
        self._gone[session] = lsn
        for name in [name for name, sheaf in self._sheaves.items() if sheaf.session == session]:
            del self._sheaves[name]

    def _move(self, claimed: SessionClaimed) -> None:
        """The session's messages stand on its user's shelf from now on. What came behind the claim is told by itself:
        told here, it would move the table's watermark over what stands in between.
        """
        self._forget(claimed.session, claimed.lsn)
        after = 0
        while messages := self.journal.read_session(claimed.session, after, _CLAIMED_AT_ONCE):
            for said in messages:
                if said.lsn > claimed.lsn:
                    return
                self._say(said, claimed.lsn)
            after = messages[-1].message.sequence

    def _put(self, document: StoredDocument, lsn: int) -> None:
        self._forget(-document.row_id, lsn)
        shelf = document_partition(document.owner)
        for index, chunk in enumerate(document.chunks):
            place = (lsn, index, lsn, shelf, -document.row_id)
            self._keep(PendingRow(*place, 0, document.create_time_us, None, "", chunk.text))

    def gone(self) -> IndexBatch:
        """What of it takes away."""
        return IndexBatch(deleted_sessions=list(self._gone), deleted_before=list(self._gone.values()))

    def harvest(
        self,
        vectors_of: Callable[[Sequence[PendingRow]], NDArray[np.float32]],
        yield_cpu: Callable[[], None] = lambda: None,
    ) -> IndexBatch:
        sheaves = list(self._sheaves.values())
        return IndexBatch(
            deleted_sessions=list(self._gone),
            deleted_before=list(self._gone.values()),
            deleted_episodes=[name for name in self._changed if name in self._sheaves],
            episodes=episodes_of(sheaves, vectors_of(sheaves), yield_cpu) if sheaves else None,
        )


def text_of(message: Message) -> str:
    """What of a message is found again: its content, and what it asked of tools."""
    parts = [message.content, *(f"{call.name} {call.arguments_json}" for call in message.tool_calls)]
    return "\n".join(part for part in parts if part)


def episodes_of(
    sheaves: Sequence[PendingRow], vectors: NDArray[np.float32], yield_cpu: Callable[[], None] = lambda: None
) -> Episodes:
    def numbers(name: str) -> NDArray[np.int64]:
        return np.array([getattr(one, name) for one in sheaves], np.int64)

    return Episodes(
        lsn=numbers("lsn"),
        sequence=numbers("sequence"),
        written_lsn=numbers("written"),
        partition=numbers("shelf"),
        session=numbers("session"),
        role=np.array([one.role for one in sheaves], np.int8),
        time_us=numbers("time_us"),
        score=np.array([np.nan if one.score is None else one.score for one in sheaves], np.float32),
        name=[one.name for one in sheaves],
        terms=[index_terms(one.text) for one in _with_pauses(sheaves, yield_cpu)],
        vectors=vectors,
    )


def _with_pauses(sheaves: Sequence[PendingRow], yield_cpu: Callable[[], None]) -> Iterator[PendingRow]:
    for sheaf in sheaves:
        yield sheaf
        yield_cpu()


@dataclass(frozen=True)
class BatchEmbedder:
    """Vectors for episodes: the caller's own where one came along, else the embedder's, a few texts at a time."""

    embedder: Embedder
    yield_cpu: Callable[[], None] = lambda: None

    def __call__(self, sheaves: Sequence[PendingRow]) -> NDArray[np.float32]:
        vectors = np.zeros((len(sheaves), self.embedder.dimensions), np.float32)
        own = [at for at, sheaf in enumerate(sheaves) if self._is_own(sheaf)]
        for at in own:
            vectors[at] = unit(np.frombuffer(sheaves[at].vector or b"", np.float32))
        other = np.setdiff1d(np.arange(len(sheaves)), own)
        at_once = self.embedder.batch_size
        for start in range(0, len(other), at_once):
            some = other[start : start + at_once]
            vectors[some] = self.embedder.embed([sheaves[at].text for at in some])
            self.yield_cpu()
        return vectors

    def _is_own(self, sheaf: PendingRow) -> bool:
        """A vector of other dimensions is from before the embedder was changed."""
        return sheaf.vector is not None and len(sheaf.vector) == 4 * self.embedder.dimensions


def unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    length = float(np.linalg.norm(vector.astype(np.float64)))
    return (vector.astype(np.float64) / length).astype(np.float32) if length > 0 else np.zeros_like(vector)


def zero_vectors(sheaves: Sequence[PendingRow], dimensions: int) -> NDArray[np.float32]:
    """No vectors: words alone."""
    return np.zeros((len(sheaves), dimensions), np.float32)
