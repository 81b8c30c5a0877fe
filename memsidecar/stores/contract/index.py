"""The contract of the index of episodes. It is derived data: the journal can rebuild it at any time.

An episode is a message, or a chunk of a document. Filters are numbers and search terms are analysed text: no text of
a client reaches a query language.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memsidecar.domain.errors import SidecarError
from memsidecar.domain.statistics import OperationStatistics

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

_ARRAYS = ("lsn", "sequence", "written_lsn", "partition", "session", "role", "time_us", "score", "vectors")


class IndexUnavailable(SidecarError):
    """The index cannot be read or written at present. The layers degrade the search; it never reaches a client."""


@dataclass(frozen=True, slots=True)
class Episodes:
    """Episodes in columns of equal length.

    (`lsn`, `sequence`) identifies an episode: the lsn of the entry that added it, and its sequence in its session.
    `written_lsn` is the lsn of the entry that wrote this row, or wrote it again. `partition` identifies the owner (see
    layers/episodic/query.py). `session` is the row id of the session, for a chunk the negative row id of its document.
    `score` is not-a-number where there is none. `terms` are the analysed terms of the text, joined by single spaces.
    `vectors` has one row for each episode: of length 1, or all zeros.
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
    def concatenate(cls, parts: "Sequence[Episodes]") -> "Episodes":
        """Return the rows of all parts in order. There is at least one part."""
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS}
        names, terms = [name for part in parts for name in part.name], [each for part in parts for each in part.terms]
        return cls(**columns, name=names, terms=terms)

    def take(self, rows: Ints) -> "Episodes":
        """Return these rows, in this order."""
        columns = {name: getattr(self, name)[rows] for name in _ARRAYS}
        names, terms = [self.name[row] for row in rows], [self.terms[row] for row in rows]
        return Episodes(**columns, name=names, terms=terms)


@dataclass(frozen=True, slots=True)
class IndexBatch:
    """The effect of some log entries on a table: deletions first, then insertions."""

    deleted_sessions: Sequence[int] = ()
    "Delete all rows of these whose `written_lsn` is lower than the lsn beside it in `deleted_before`."
    deleted_before: Sequence[int] = ()
    deleted_episodes: Sequence[tuple[int, int]] = ()
    "(lsn, sequence) of episodes that are inserted again with other content."
    episodes: Episodes | None = None
    deleted_positions: Sequence[tuple[int, int]] = ()
    "(session, sequence) of erased messages. A sequence is not used again, so their order does not matter."

    @property
    def erases(self) -> bool:
        """Whether it deletes rows that are not inserted again."""
        return bool(self.deleted_sessions or self.deleted_positions)

    def after(self, lsn: int) -> "IndexBatch":
        """Return the effect of the entries after this lsn."""
        kept = [place for place, before in enumerate(self.deleted_before) if before > lsn]
        return IndexBatch(
            deleted_sessions=[self.deleted_sessions[place] for place in kept],
            deleted_before=[self.deleted_before[place] for place in kept],
            deleted_episodes=self.deleted_episodes,
            deleted_positions=self.deleted_positions,
            episodes=self.episodes and self.episodes.take(np.flatnonzero(self.episodes.written_lsn > lsn)),
        )

    def in_partitions(self, partitions: Sequence[int]) -> "IndexBatch":
        """Return the insertions into these partitions, and all deletions: they name no partition."""
        return self._where(lambda episodes: np.isin(episodes.partition, list(partitions)))

    def of_kind(self, chunks: bool) -> "IndexBatch":
        """Return the insertions of chunks, or those of messages, and all deletions."""
        return self._where(lambda episodes: (episodes.session < 0) == chunks)

    def _where(self, mask: Callable[[Episodes], NDArray[np.bool_]]) -> "IndexBatch":
        episodes = self.episodes and self.episodes.take(np.flatnonzero(mask(self.episodes)))
        return replace(self, episodes=episodes)


@dataclass(frozen=True, slots=True)
class TableFilter:
    """Restricts a search to a partition or a session of a table, and to roles and a time range."""

    partition: int | None = None
    session: int | None = None
    roles: Sequence[int] = ()
    after_us: int | None = None
    before_us: int | None = None
    chunks: bool = False
    "Chunks of documents, or messages; never both."


@dataclass(frozen=True, slots=True)
class TableStats:
    rows: int = 0
    fragments: int = 0
    versions: int = 0
    unindexed_rows: int = 0
    disk_bytes: int = 0
    maintenance_failures: int = 0


@dataclass(frozen=True, slots=True)
class Generation:
    """One table of a namespace: its number, its embedder and the version of its text analysis.

    Another embedder, another analyzer version, or a rebuild start the next number.
    """

    number: int
    embedder: str
    dimensions: int
    analyzer_version: int = 1


class Table(Protocol):
    """One generation of one namespace. Thread-safe; writes and maintenance run one at a time."""

    generation: Generation

    @property
    def watermark(self) -> int:
        """The largest `written_lsn`: all entries up to it are in the table. 0 for an empty table."""

    def apply(self, batch: IndexBatch) -> None:
        """Delete, then insert. Idempotent: applying a batch again after a crash leaves no duplicates.

        Raises IndexUnavailable; a part of the batch may then be applied.
        """

    def read_partition(self, partition: int, chunks: bool) -> Iterator[Episodes]:
        """Yield all episodes of a partition in several parts, in no order."""

    def count(self, table_filter: TableFilter) -> int: ...

    def matching(self, terms: Sequence[str], table_filter: TableFilter, limit: int) -> Episodes:
        """Return the episodes with any of the terms that have the highest BM25 scores, best first."""

    def nearest(self, vector: Floats, table_filter: TableFilter, limit: int) -> Episodes:
        """Return the nearest episodes by cosine, nearest first. Rows without a vector are never returned."""

    def at_positions(self, positions: Sequence[tuple[int, int]]) -> Episodes:
        """Return the episodes at these (session, sequence), in no order. Absent positions are skipped."""

    def maintain(self, idle: bool) -> bool:
        """Compact, refresh indexes and delete old versions as far as it is due; when idle, all that is possible.

        Return whether something was done. A failure is counted in the stats, and retried by the next call.
        """

    def purge(self) -> None:
        """Remove every byte of deleted rows from all files, old versions included."""

    def stats(self) -> TableStats: ...


class Index(Protocol):
    """All tables. Thread-safe."""

    def generations(self, namespace: str) -> Sequence[Generation]:
        """Return the namespace's tables by number. Unreadable ones are absent."""

    def open(self, namespace: str, number: int) -> Table | None:
        """Return the table, repaired if needed; None if there is none or it is beyond repair. One object for each."""

    def create(self, namespace: str, generation: Generation) -> Table:
        """Create an empty table. Remains of a table with this number are removed first."""

    def drop(self, namespace: str, number: int) -> None:
        """Remove the table with all its files. Does nothing if there is none."""

    @property
    def cache_bytes(self) -> int:
        """The RAM that the caches of the index take. A store without caches has none."""

    @property
    def calls(self) -> OperationStatistics:
        """The calls of the database behind the index. A store without one observes nothing."""

    def release_memory(self) -> None:
        """Return unused memory to the operating system; called when the index is idle."""

    def close(self) -> None: ...
