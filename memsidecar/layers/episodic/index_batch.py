"""Change feed -> IndexBatch, with vectors."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memsidecar.embedding.contract import Embedder
from memsidecar.layers.episodic.query import documents_of, messages_of
from memsidecar.layers.text_analysis import indexed
from memsidecar.stores.contract import Claimed, Episodes, Gone, Harvest, Journal, News, Said, Shelved, StoredDocument
from memsidecar.v1.message_pb2 import Message

_CLAIMED_AT_ONCE = 500


@dataclass(slots=True)
class Sheaf:
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
class Gathering:
    """The net effect of a stretch of the log. With `shelf`, of that shelf alone."""

    journal: Journal
    shelf: int | None = None
    _gone: dict[int, int] = field(default_factory=dict)
    _changed: dict[tuple[int, int], None] = field(default_factory=dict)
    _sheaves: dict[tuple[int, int], Sheaf] = field(default_factory=dict)

    def take(self, news: News) -> None:
        if isinstance(news, Said):
            self._say(news, news.lsn)
        elif isinstance(news, Gone):
            self._forget(news.session, news.lsn)
        elif isinstance(news, Claimed):
            self._move(news)
        elif isinstance(news, Shelved):
            self._put(news.document, news.lsn)

    def _say(self, said: Said, written: int) -> None:
        shelf = messages_of(said.user_id, said.session)
        message = said.message
        if said.first_lsn != written:
            self._changed[said.first_lsn, message.sequence] = None
        decoded = Message.FromString(message.body)
        place = (said.first_lsn, message.sequence, written, shelf, said.session)
        figures = (message.role, message.time_us, message.score)
        self._keep(Sheaf(*place, *figures, decoded.name, text_of(decoded), said.vector))

    def _keep(self, sheaf: Sheaf) -> None:
        if self.shelf is None or sheaf.shelf == self.shelf:
            self._sheaves[sheaf.lsn, sheaf.sequence] = sheaf

    def _forget(self, session: int, lsn: int) -> None:
        self._gone[session] = lsn
        for name in [name for name, sheaf in self._sheaves.items() if sheaf.session == session]:
            del self._sheaves[name]

    def _move(self, claimed: Claimed) -> None:
        """The session's messages stand on its user's shelf from now on. What came behind the claim is told by itself:
        told here, it would move the table's watermark over what stands in between.
        """
        self._forget(claimed.session, claimed.lsn)
        after = 0
        while messages := self.journal.said(claimed.session, after, _CLAIMED_AT_ONCE):
            for said in messages:
                if said.lsn > claimed.lsn:
                    return
                self._say(said, claimed.lsn)
            after = messages[-1].message.sequence

    def _put(self, document: StoredDocument, lsn: int) -> None:
        self._forget(-document.number, lsn)
        shelf = documents_of(document.owner)
        for index, chunk in enumerate(document.chunks):
            place = (lsn, index, lsn, shelf, -document.number)
            self._keep(Sheaf(*place, 0, document.create_time_us, None, "", chunk.text))

    def gone(self) -> Harvest:
        """What of it takes away."""
        return Harvest(gone_sessions=list(self._gone), gone_before=list(self._gone.values()))

    def harvest(
        self, vectors_of: Callable[[Sequence[Sheaf]], NDArray[np.float32]], give_way: Callable[[], None] = lambda: None
    ) -> Harvest:
        sheaves = list(self._sheaves.values())
        return Harvest(
            gone_sessions=list(self._gone),
            gone_before=list(self._gone.values()),
            gone_episodes=[name for name in self._changed if name in self._sheaves],
            episodes=episodes_of(sheaves, vectors_of(sheaves), give_way) if sheaves else None,
        )


def text_of(message: Message) -> str:
    """What of a message is found again: its content, and what it asked of tools."""
    parts = [message.content, *(f"{call.name} {call.arguments_json}" for call in message.tool_calls)]
    return "\n".join(part for part in parts if part)


def episodes_of(
    sheaves: Sequence[Sheaf], vectors: NDArray[np.float32], give_way: Callable[[], None] = lambda: None
) -> Episodes:
    def numbers(name: str) -> NDArray[np.int64]:
        return np.array([getattr(one, name) for one in sheaves], np.int64)

    return Episodes(
        lsn=numbers("lsn"),
        sequence=numbers("sequence"),
        written=numbers("written"),
        shelf=numbers("shelf"),
        session=numbers("session"),
        role=np.array([one.role for one in sheaves], np.int8),
        time_us=numbers("time_us"),
        score=np.array([np.nan if one.score is None else one.score for one in sheaves], np.float32),
        name=[one.name for one in sheaves],
        words=[indexed(one.text) for one in _with_pauses(sheaves, give_way)],
        vectors=vectors,
    )


def _with_pauses(sheaves: Sequence[Sheaf], give_way: Callable[[], None]) -> Iterator[Sheaf]:
    for sheaf in sheaves:
        yield sheaf
        give_way()


@dataclass(frozen=True)
class Vectoring:
    """Vectors for episodes: the caller's own where one came along, else the embedder's, a few texts at a time."""

    embedder: Embedder
    give_way: Callable[[], None] = lambda: None

    def __call__(self, sheaves: Sequence[Sheaf]) -> NDArray[np.float32]:
        vectors = np.zeros((len(sheaves), self.embedder.dimensions), np.float32)
        own = [at for at, sheaf in enumerate(sheaves) if self._is_own(sheaf)]
        for at in own:
            vectors[at] = unit(np.frombuffer(sheaves[at].vector or b"", np.float32))
        other = np.setdiff1d(np.arange(len(sheaves)), own)
        at_once = self.embedder.texts_at_once
        for start in range(0, len(other), at_once):
            some = other[start : start + at_once]
            vectors[some] = self.embedder.embed([sheaves[at].text for at in some])
            self.give_way()
        return vectors

    def _is_own(self, sheaf: Sheaf) -> bool:
        """A vector of other dimensions is from before the embedder was changed."""
        return sheaf.vector is not None and len(sheaf.vector) == 4 * self.embedder.dimensions


def unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    length = float(np.linalg.norm(vector.astype(np.float64)))
    return (vector.astype(np.float64) / length).astype(np.float32) if length > 0 else np.zeros_like(vector)


def blank(sheaves: Sequence[Sheaf], dimensions: int) -> NDArray[np.float32]:
    """No vectors: words alone."""
    return np.zeros((len(sheaves), dimensions), np.float32)
