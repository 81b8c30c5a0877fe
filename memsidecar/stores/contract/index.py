"""What an index of episodes promises. It is derived: whatever happens to it, the journal can make it again.

An episode is a message, or a chunk of a document. Everything here is numbers but for words: no text of a caller ever
reaches a query language.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memsidecar.domain.errors import SidecarError

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

_NUMBERS = ("lsn", "sequence", "written", "shelf", "session", "role", "time_us", "score", "vectors")


class IndexUnavailable(SidecarError):
    """The index cannot answer or cannot be written now. Never leaves the layers: a search is then degraded."""


@dataclass(frozen=True, slots=True)
class Episodes:
    """Episodes in columns; all of one length.

    (`lsn`, `sequence`) names an episode: the entry of the log by which it came, and its place in its session. `session`
    is the session's number in the journal, for a chunk the negative number of its document. `shelf` says whose it is
    (see layers/episodic/shelves.py). `written` is the entry of the log by which this row was made or remade. `words`
    are the words of the text as they are matched, joined by single spaces. `score` is not-a-number where there is none.
    `vectors` has one row each: of length 1, or all zeros.
    """

    lsn: Ints
    sequence: Ints
    written_lsn: Ints
    partition: Ints
    session: Ints
    role: NDArray[np.int8]
    time_us: Ints
    score: Floats
    name: Sequence[str]
    terms: Sequence[str]
    vectors: Floats

    def __len__(self) -> int:
        return len(self.lsn)

    @classmethod
    def together(cls, parts: "Sequence[Episodes]") -> "Episodes":
        """Those of each part, one after another; there is at least one part."""
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _NUMBERS}
        names, terms = [one for part in parts for one in part.name], [one for part in parts for one in part.terms]
        return cls(**columns, name=names, terms=terms)

    def chosen(self, rows: Ints) -> "Episodes":
        """These alone, in this order."""
        columns = {name: getattr(self, name)[rows] for name in _NUMBERS}
        names, terms = [self.name[row] for row in rows], [self.terms[row] for row in rows]
        return Episodes(**columns, name=names, terms=terms)


@dataclass(frozen=True, slots=True)
class IndexBatch:
    """What a stretch of the log means for the index: what goes, then what comes."""

    deleted_sessions: Sequence[int] = ()
    "All rows of these, but those with `written` at or above the number beside it in `gone_before`."
    deleted_before: Sequence[int] = ()
    deleted_episodes: Sequence[tuple[int, int]] = ()
    "These (lsn, sequence), because they come again changed."
    episodes: Episodes | None = None

    def since(self, lsn: int) -> "IndexBatch":
        """What of it comes from entries after this one."""
        kept = [at for at, before in enumerate(self.deleted_before) if before > lsn]
        return IndexBatch(
            deleted_sessions=[self.deleted_sessions[at] for at in kept],
            deleted_before=[self.deleted_before[at] for at in kept],
            deleted_episodes=self.deleted_episodes,
            episodes=self.episodes and self.episodes.take(np.flatnonzero(self.episodes.written_lsn > lsn)),
        )

    def in_partitions(self, shelves: Sequence[int]) -> "IndexBatch":
        """What of it concerns these shelves; what is gone may be gone from any."""
        return self._where(lambda episodes: np.isin(episodes.partition, list(shelves)))

    def of_kind(self, chunks: bool) -> "IndexBatch":
        """What of it concerns chunks of documents, or messages."""
        return self._where(lambda episodes: (episodes.session < 0) == chunks)

    def _where(self, chosen: Callable[[Episodes], NDArray[np.bool_]]) -> "IndexBatch":
        episodes = self.episodes and self.episodes.take(np.flatnonzero(chosen(self.episodes)))
        return replace(self, episodes=episodes)


@dataclass(frozen=True, slots=True)
class TableFilter:
    """Where to look: a whole table, or one shelf, or one session of it; by role and time where given."""

    partition: int | None = None
    session: int | None = None
    roles: Sequence[int] = ()
    after_us: int | None = None
    before_us: int | None = None
    chunks: bool = False
    "Chunks of documents, or messages; never both."


@dataclass(frozen=True, slots=True)
class TableStats:
    """What a person who runs this wants to see of one table."""

    rows: int = 0
    fragments: int = 0
    versions: int = 0
    unindexed_rows: int = 0
    disk_bytes: int = 0
    maintenance_failures: int = 0
    last_maintenance_error: str = ""


@dataclass(frozen=True, slots=True)
class Generation:
    """One table of a namespace: made by one embedder, and from words of one version. A new embedder, other words, or a
    rebuild begin the next number."""

    number: int
    embedder: str
    dimensions: int
    terms: int = 1


class Table(Protocol):
    """One generation of one namespace. Any thread may do anything; writes and upkeep come one at a time."""

    generation: Generation

    @property
    def watermark(self) -> int:
        """The largest `written`: what the log said up to there is in the table. 0 when it is empty."""

    def apply(self, harvest: IndexBatch) -> None:
        """Take away, then append. Applying the same again after a crash in between leaves no duplicate.

        Raises IndexUnavailable and may have done a part of it when it cannot.
        """

    def partition(self, number: int, chunks: bool) -> Iterator[Episodes]:
        """All of a shelf, part by part, because it may be large; in no order."""

    def count(self, within: TableFilter) -> int: ...

    def matching(self, terms: Sequence[str], within: TableFilter, limit: int) -> Episodes:
        """The best by any of the words (BM25), best first."""

    def nearest(self, vector: Floats, within: TableFilter, limit: int) -> Episodes:
        """The nearest by cosine, nearest first; rows without a vector are never among them."""

    def around(self, places: Sequence[tuple[int, int]]) -> Episodes:
        """The episodes at these (session, sequence), as far as there are any, in no order."""

    def upkeep(self, idle: bool) -> bool:
        """Compact, refresh indexes, forget old versions, as far as it is due; when idle, whatever there is to do.

        True if something was done. A failure is counted and shown in the figures, and tried again at the next call.
        """

    def purge(self) -> None:
        """Leave no byte of what was taken away in any file, old versions included."""

    def figures(self) -> TableStats: ...


class Index(Protocol):
    """All tables. Thread-safe."""

    def generations(self, namespace: str) -> Sequence[Generation]:
        """What is there, by number. What cannot be read at all is not there."""

    def open(self, namespace: str, number: int) -> Table | None:
        """The table, healed if need be; None if there is none or nothing of it could be saved. One handle each."""

    def create(self, namespace: str, generation: Generation) -> Table:
        """A new, empty table. What is left of a table of that number is taken away first."""

    def drop(self, namespace: str, number: int) -> None:
        """Leave nothing of the table behind. Dropping what is not there does nothing."""

    def disk_bytes(self) -> int: ...

    def give_back(self) -> None:
        """Nothing much is asked for just now: hand back memory that is not in use."""

    def close(self) -> None: ...
