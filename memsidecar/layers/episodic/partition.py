"""Columnar in-memory partition: all episodes of one owner, with postings and vectors."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from memsidecar.layers.episodic.columns import NO_ROW, Columns, Rows, context_sums, neighbours, unlink
from memsidecar.layers.episodic.postings import Postings
from memsidecar.layers.episodic.quantized_vectors import QuantizedVectors
from memsidecar.layers.text_analysis import drop_bigram_characters, parse_index_terms, text_length, tokenize
from memsidecar.stores.contract import Episodes, IndexBatch

_CONTEXT_BATCH_ROWS = 1_024  # bounds the float copy of vectors
_MIN_ROWS_TO_COMPACT = 64
_SPARE_SHARE = 16
_SECOND = ("prev2", "next2")


class Partition:
    """Guarded by a readers-writer lock: `reading()` and `writing()`. All other members need one of them to be held.

    `position` is the last log entry that was applied. `seen_commits` is the namespace's commit count when the partition
    was last at the end of the log. `missing_vectors` is set if rows were added while the embedder was unavailable.
    """

    def __init__(self, dimensions: int, stems: frozenset[str] | None = None) -> None:
        """With `stems`, only terms of these stems are indexed."""
        self.position = 0
        self.seen_commits = -1
        self.missing_vectors = False
        self.columns = Columns()
        self.vectors = QuantizedVectors(dimensions)
        self.postings = Postings(stems)
        self.speaker_words: list[frozenset[str]] = []
        self._speakers: dict[str, int] = {}
        self._session_ordinals: dict[int, int] = {}
        self._last_rows: dict[int, int] = {}
        self._condition = threading.Condition()
        self._reader_count = 0
        self._writers_waiting = 0

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold the read lock. Waiting writers go first."""
        with self._condition:
            self._condition.wait_for(lambda: not self._writers_waiting)
            self._reader_count += 1
        try:
            yield
        finally:
            with self._condition:
                self._reader_count -= 1
                self._condition.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the write lock."""
        with self._condition:
            self._writers_waiting += 1
            try:
                self._condition.wait_for(lambda: not self._reader_count)
                yield
            finally:
                self._writers_waiting -= 1
                self._condition.notify_all()

    @property
    def size_bytes(self) -> int:
        return self.columns.size_bytes + self.vectors.size_bytes + self.postings.size_bytes

    @property
    def session_count(self) -> int:
        return len(self._session_ordinals)

    @property
    def is_mostly_dead(self) -> bool:
        """Whether deleted rows, whose memory is not freed, outnumber the others."""
        alive = self.columns["alive"]
        return bool(len(alive) > _MIN_ROWS_TO_COMPACT and alive.sum() * 2 < len(alive))

    def reserve(self, rows: int) -> None:
        """Allocate capacity for so many rows and a few more. Growing step by step would take half as much again."""
        rows += rows // _SPARE_SHARE
        self.columns.reserve(rows)
        self.vectors.reserve(rows)

    def load(self, parts: Iterable[Episodes]) -> None:
        """Fill an empty partition; the episodes may be in any order."""
        for episodes in parts:
            self._append(episodes)
        self._link_all()
        self._update_context(np.arange(self.columns.count))

    def advance(self, after: int, end: int, batch: IndexBatch) -> bool:
        """Apply the log entries after `after` up to `end`, as far as they are new. Return False if some are missing.

        The indexer and searches apply the same entries, in any order.
        """
        with self.writing():
            if after <= self.position < end:
                self.apply(batch.after(self.position))
                self.position = end
            return after <= self.position

    def apply(self, batch: IndexBatch) -> None:
        """Delete, then append. Of rows that exist already, only the score is updated."""
        for session in batch.deleted_sessions:
            self._delete(session)
        if batch.deleted_positions:
            self._erase(batch.deleted_positions)
        if batch.episodes is not None and len(batch.episodes):
            is_new = self._update_scores(batch.episodes)
            start = self._append(batch.episodes.take(np.flatnonzero(is_new)))
            for row in range(start, self.columns.count):
                self._link(row)
            appended = np.arange(start, self.columns.count)
            self._update_context(np.union1d(appended, neighbours(self.columns, appended)))

    def _delete(self, session: int) -> None:
        self.columns["alive"][self.columns["session"] == session] = False
        self._last_rows.pop(session, None)

    def _erase(self, positions: Iterable[tuple[int, int]]) -> None:
        """Delete rows by (session, sequence), and unlink them from their neighbours."""
        columns = self.columns
        for session, sequence in positions:
            is_here = (columns["session"] == session) & (columns["sequence"] == sequence) & columns["alive"]
            for row in np.flatnonzero(is_here).tolist():
                columns["alive"][row] = False
                if self._last_rows.get(session) == row:
                    before = columns["prev"][row] if columns["prev"][row] != NO_ROW else columns["prev2"][row]
                    self._last_rows[session] = int(before)
                self._update_context(unlink(columns, row))

    def _update_scores(self, episodes: Episodes) -> NDArray[np.bool_]:
        """Update the score of rows that exist; return a mask of the episodes that do not."""
        is_new = np.ones(len(episodes), np.bool_)
        for at in np.flatnonzero(np.isin(episodes.lsn, self.columns["lsn"])):
            row = self._row(int(episodes.lsn[at]), int(episodes.sequence[at]))
            if row is not None:
                self.columns["score"][row] = episodes.score[at]
                is_new[at] = False
        return is_new

    def _row(self, lsn: int, sequence: int) -> int | None:
        columns = self.columns
        (rows,) = np.nonzero((columns["lsn"] == lsn) & (columns["sequence"] == sequence) & columns["alive"])
        return int(rows[0]) if len(rows) else None

    def _append(self, episodes: Episodes) -> int:
        """Append rows that are not linked to neighbours yet; return the first one."""
        columns = self.columns
        start = columns.extend(episodes)
        self.vectors.extend(episodes.vectors)
        texts = [parse_index_terms(stored) for stored in episodes.terms]
        self.postings.extend(start, [terms for terms, _ in texts])
        columns["length"][start:] = [text_length(terms) for terms, _ in texts]
        columns["has_question"][start:] = [has_question for _, has_question in texts]
        columns["speaker"][start:] = [self._speaker(name) for name in episodes.name]
        columns["session_ordinal"][start:] = [self._session_ordinal(session) for session in episodes.session.tolist()]
        return start

    def _session_ordinal(self, session: int) -> int:
        return self._session_ordinals.setdefault(session, len(self._session_ordinals))

    def _speaker(self, name: str) -> int:
        speaker = self._speakers.setdefault(name, len(self._speakers))
        if speaker == len(self.speaker_words):
            self.speaker_words.append(frozenset(drop_bigram_characters(tokenize(name))))
        return speaker

    def _link(self, row: int) -> None:
        """Link a row with the last one of its session, if it is near. The message between them may be erased."""
        columns = self.columns
        session = int(columns["session"][row])
        last = self._last_rows.get(session, NO_ROW)
        distance = 0 if last == NO_ROW else int(columns["sequence"][row] - columns["sequence"][last])
        two_before = {1: columns["prev"][last], 2: last}.get(distance, NO_ROW)
        if distance == 1:
            columns["prev"][row], columns["next"][last] = last, row
        if two_before != NO_ROW:
            columns["prev2"][row], columns["next2"][two_before] = two_before, row
        self._last_rows[session] = row

    def _link_all(self) -> None:
        columns = self.columns
        order = np.lexsort((columns["sequence"], columns["session"]))
        for places, distance, prev, following in ((1, 1, "prev", "next"), (1, 2, *_SECOND), (2, 2, *_SECOND)):
            later, earlier = order[places:], order[:-places]
            adjacent = (columns["session"][later] == columns["session"][earlier]) & (
                columns["sequence"][later] == columns["sequence"][earlier] + distance
            )
            columns[prev][later[adjacent]] = earlier[adjacent]
            columns[following][earlier[adjacent]] = later[adjacent]
        self._last_rows = dict(zip(columns["session"][order].tolist(), order.tolist(), strict=True))

    def _update_context(self, rows: Rows) -> None:
        """Compute the context columns of rows that are new or have new neighbours."""
        columns = self.columns
        for first in range(0, len(rows), _CONTEXT_BATCH_ROWS):
            batch = rows[first : first + _CONTEXT_BATCH_ROWS]
            columns["length_context"][batch] = context_sums(columns, batch, lambda some: columns["length"][some])
            columns["norm_context"][batch] = np.linalg.norm(context_sums(columns, batch, self.vectors.rows), axis=1)
