"""One owner's episodes in RAM."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from memsidecar.layers.episodic.columns import NO_ROW, Columns, context_sums, neighbours
from memsidecar.layers.episodic.postings import Postings
from memsidecar.layers.episodic.quantized_vectors import QuantizedVectors
from memsidecar.layers.text_analysis import drop_bigram_characters, parse_index_terms, text_length, tokenize
from memsidecar.stores.contract import Episodes, IndexBatch

Rows = NDArray[np.int64]

_ROWS_AT_ONCE = 1_024  # the vectors of a whole shelf as floats would be large
_FEW_ROWS = 64
_MORE_TO_COME = 16


class Partition:
    """Readers and one writer take turns: `reading()` and `writing()`; everything else is for whoever is inside.

    `beat` is the pulse of the namespace when the shelf was last known to be at the end of the log. `lacks_vectors` says
    that some came while the embedder was away.
    """

    def __init__(self, dimensions: int, stems: frozenset[str] | None = None) -> None:
        """With `stems`, only words of these stems can be asked for."""
        self.position = 0
        self.beat = -1
        self.lacks_vectors = False
        self.columns = Columns()
        self.vectors = QuantizedVectors(dimensions)
        self.postings = Postings(stems)
        self.speaker_words: list[frozenset[str]] = []
        self._speakers: dict[str, int] = {}
        self._talks: dict[int, int] = {}
        self._last_rows: dict[int, int] = {}
        self._door = threading.Condition()
        self._reader_count = 0
        self._writers_waiting = 0

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._door:
            self._door.wait_for(lambda: not self._writers_waiting)
            self._reader_count += 1
        try:
            yield
        finally:
            with self._door:
                self._reader_count -= 1
                self._door.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._door:
            self._writers_waiting += 1
            try:
                self._door.wait_for(lambda: not self._reader_count)
                yield
            finally:
                self._writers_waiting -= 1
                self._door.notify_all()

    @property
    def size_bytes(self) -> int:
        return self.columns.size_bytes + self.vectors.size_bytes + self.postings.size_bytes

    @property
    def talk_count(self) -> int:
        return len(self._talks)

    @property
    def is_mostly_dead(self) -> bool:
        alive = self.columns["alive"]
        return bool(len(alive) > _FEW_ROWS and alive.sum() * 2 < len(alive))

    def expect(self, rows: int) -> None:
        """Before so many are loaded, and a few more come later: growing step by step takes half as much again."""
        rows += rows // _MORE_TO_COME
        self.columns.expect(rows)
        self.vectors.expect(rows)

    def load(self, parts: Iterable[Episodes]) -> None:
        """Fill an empty shelf, in any order."""
        for episodes in parts:
            self._take(episodes)
        self._link_all()
        self._measure(np.arange(self.columns.count))

    def advance(self, after: int, end: int, harvest: IndexBatch) -> bool:
        """Take what the log says behind `after` up to `end`, as far as it is new; False if some is missing before.

        The task that indexes and those who search tell the same news, in any order.
        """
        with self.writing():
            if after <= self.position < end:
                self.apply(harvest.after(self.position))
                self.position = end
            return after <= self.position

    def apply(self, harvest: IndexBatch) -> None:
        """Forget what is gone, then take what came; what is known already only gets its new score."""
        for session in harvest.deleted_sessions:
            self._forget(session)
        if harvest.episodes is not None and len(harvest.episodes):
            new = self._rescored(harvest.episodes)
            start = self._take(harvest.episodes.take(np.flatnonzero(new)))
            for row in range(start, self.columns.count):
                self._link(row)
            fresh = np.arange(start, self.columns.count)
            self._measure(np.union1d(fresh, neighbours(self.columns, fresh)))

    def _forget(self, session: int) -> None:
        gone = self.columns["session"] == session
        self.columns["alive"][gone] = False
        self._last_rows.pop(session, None)

    def _rescored(self, episodes: Episodes) -> NDArray[np.bool_]:
        """Update the score of those that are here; answers which are not."""
        new = np.ones(len(episodes), np.bool_)
        for at in np.flatnonzero(np.isin(episodes.lsn, self.columns["lsn"])):
            known = self._row(int(episodes.lsn[at]), int(episodes.sequence[at]))
            if known is not None:
                self.columns["score"][known] = episodes.score[at]
                new[at] = False
        return new

    def _row(self, lsn: int, sequence: int) -> int | None:
        columns = self.columns
        (rows,) = np.nonzero((columns["lsn"] == lsn) & (columns["sequence"] == sequence) & columns["alive"])
        return int(rows[0]) if len(rows) else None

    def _take(self, episodes: Episodes) -> int:
        """Rows that stand alone yet; answers the first."""
        columns = self.columns
        start = columns.extend(episodes)
        self.vectors.extend(episodes.vectors)
        texts = [parse_index_terms(kept) for kept in episodes.terms]
        self.postings.extend(start, [words for words, _ in texts])
        columns["length"][start:] = [text_length(words) for words, _ in texts]
        columns["asks"][start:] = [asks for _, asks in texts]
        columns["speaker"][start:] = [self._speaker(name) for name in episodes.name]
        columns["talk"][start:] = [self._talk(session) for session in episodes.session.tolist()]
        return start

    def _talk(self, session: int) -> int:
        return self._talks.setdefault(session, len(self._talks))

    def _speaker(self, name: str) -> int:
        number = self._speakers.setdefault(name, len(self._speakers))
        if number == len(self.speaker_words):
            self.speaker_words.append(frozenset(drop_bigram_characters(tokenize(name))))
        return number

    def _link(self, row: int) -> None:
        """Put a row behind the last one of its session."""
        columns = self.columns
        session = int(columns["session"][row])
        last = self._last_rows.get(session, NO_ROW)
        if last != NO_ROW and columns["sequence"][row] == columns["sequence"][last] + 1:
            earlier = columns["before"][last]
            columns["before"][row], columns["before_that"][row] = last, earlier
            columns["after"][last] = row
            if earlier != NO_ROW:
                columns["after_that"][earlier] = row
        self._last_rows[session] = row

    def _link_all(self) -> None:
        columns = self.columns
        order = np.lexsort((columns["sequence"], columns["session"]))
        for distance, before, after in ((1, "before", "after"), (2, "before_that", "after_that")):
            here, there = order[distance:], order[:-distance]
            close = (columns["session"][here] == columns["session"][there]) & (
                columns["sequence"][here] == columns["sequence"][there] + distance
            )
            columns[before][here[close]] = there[close]
            columns[after][there[close]] = here[close]
        self._last_rows = dict(zip(columns["session"][order].tolist(), order.tolist(), strict=True))

    def _measure(self, rows: Rows) -> None:
        """What stands around rows that are new or have new neighbours."""
        columns = self.columns
        for first in range(0, len(rows), _ROWS_AT_ONCE):
            some = rows[first : first + _ROWS_AT_ONCE]
            columns["length_around"][some] = context_sums(columns, some, lambda these: columns["length"][these])
            columns["norm_around"][some] = np.linalg.norm(context_sums(columns, some, self.vectors.rows), axis=1)
