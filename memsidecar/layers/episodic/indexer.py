"""Background task: log -> tables."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from memsidecar.domain.errors import SidecarError
from memsidecar.embedding.contract import Embedder, EmbedderMismatch, EmbedderUnavailable
from memsidecar.layers.background import NotNow, Pulse
from memsidecar.layers.episodic.generations import Place, Places, Standing
from memsidecar.layers.episodic.index_batch import Gathering, Vectoring
from memsidecar.layers.episodic.partition_cache import HotShelves
from memsidecar.stores.contract import (
    Chapter,
    Gone,
    Harvest,
    IndexUnavailable,
    Journal,
    Passed,
    SessionPage,
    Within,
)

log = logging.getLogger(__name__)

TASK = "episodic"
RUNS_IN_A_ROW, LONGEST_PAUSE_SECONDS = 3, 60.0
NEARLY_THERE = 256
GIVE_BACK_SECONDS = 20.0


@dataclass
class Indexing:
    """Keeps its position in the tables themselves: rows carry the entry that made them."""

    journal: Journal
    places: Places
    hot: HotShelves
    pulse: Pulse
    give_way: Callable[[], None] = lambda: None
    name: str = TASK
    _erased: set[str] = field(default_factory=set)
    _give_back_at: float = 0.0
    _runs: dict[tuple[str, int], tuple[int, float]] = field(default_factory=dict)
    "By table: how often in a row there was upkeep to do, and when it may be looked at again."

    def position(self, namespace: str) -> int:
        try:
            place = self.places.find(namespace)
        except IndexUnavailable as obstacle:
            raise NotNow(str(obstacle)) from obstacle
        return place.growing.position if place else self.places.empty_until(namespace)

    def reached(self, namespace: str) -> int | None:
        """Up to which entry everything is indexed; None while the table is there and not open yet. From any thread."""
        place = self.places.at_hand(namespace)
        if place is not None:
            return place.growing.position
        return None if self.places.index.generations(namespace) else self.places.empty_until(namespace)

    def take(self, namespace: str, chapter: Chapter) -> None:
        """Without a table there is nothing to erase, and none is made for entries that bring nothing."""
        if self.places.find(namespace) is None and all(isinstance(entry, Gone | Passed) for entry in chapter):
            self.places.note_empty(namespace, chapter[-1].lsn)
        else:
            self._take(self.places.get(namespace), chapter)

    def _take(self, place: Place, chapter: Chapter) -> None:
        growing, end = place.growing, chapter[-1].lsn
        gathering, erases = Gathering(self.journal), any(isinstance(entry, Gone) for entry in chapter)
        for entry in chapter:
            gathering.take(entry)
            if not erases:
                self.give_way()
        if erases:
            self._erase(place, gathering.gone())
        harvest = self._harvest(growing, gathering)
        self._apply(place, growing, harvest)
        after, growing.position = growing.position, end
        if growing is place.live:
            self.hot.tell(place.namespace, growing.number, after, end, harvest)

    def _erase(self, place: Place, gone: Harvest) -> None:
        """From every table, and before anything that may have to wait: an embedder that is away keeps no text alive."""
        for standing in _tables(place):
            self._apply(place, standing, gone)
        self._erased.add(place.namespace)

    def _harvest(self, growing: Standing, gathering: Gathering) -> Harvest:
        try:
            return gathering.harvest(Vectoring(_there(growing), self.give_way), self.give_way)
        except (EmbedderUnavailable, EmbedderMismatch) as obstacle:
            raise NotNow(str(obstacle)) from obstacle

    def _apply(self, place: Place, growing: Standing, harvest: Harvest) -> None:
        try:
            growing.table.apply(harvest)
        except IndexUnavailable as obstacle:
            self._renew(place)
            raise NotNow(str(obstacle)) from obstacle

    def _renew(self, place: Place) -> None:
        """Whatever it was, what is on disk now is looked at again, and the log replayed from where that has come to."""
        try:
            self.hot.drop(place.namespace, self.places.renew(place))
        except IndexUnavailable as obstacle:
            log.warning("the index cannot be opened again: %s", obstacle)

    def rest(self, idle: bool) -> bool:
        """Chores of all tables; what was erased leaves the files first of all."""
        for namespace in list(self._erased):
            self._purge(namespace)
        for place in self.places.all():
            self._mend(place)
        done = [self._upkeep(place, one, idle) for place in self.places.all() for one in _tables(place)]
        if idle and time.monotonic() > self._give_back_at:
            self.places.index.give_back()
            self._give_back_at = time.monotonic() + GIVE_BACK_SECONDS
        return any(done)

    def _upkeep(self, place: Place, standing: Standing, idle: bool) -> bool:
        """Where it never comes to an end, because it fails (a full disk), it is left alone, each time a little longer:
        else nothing but that would be done."""
        table = (place.namespace, standing.number)
        runs, not_before = self._runs.get(table, (0, 0.0))
        if time.monotonic() < not_before:
            return False
        if not standing.table.upkeep(idle):
            self._runs.pop(table, None)
            return False
        pause = min(2.0 ** (runs - RUNS_IN_A_ROW), LONGEST_PAUSE_SECONDS) if runs >= RUNS_IN_A_ROW else 0.0
        self._runs[table] = runs + 1, time.monotonic() + pause
        return True

    def _mend(self, place: Place) -> None:
        """What a search or a chore found damaged need not wait for the next message. One table's trouble is its own."""
        try:
            for number in self.places.mend(place):
                self.hot.drop(place.namespace, number)
                self.pulse.repeat(place.namespace)
            self._complete(place)
        except (SidecarError, OSError) as obstacle:
            log.warning("a part of the index cannot be brought up yet: %s", obstacle)

    def _complete(self, place: Place) -> None:
        """Switch to the rising table when it has come to the end of the log, be it in an earlier process.

        Nearly: where somebody adds without a pause there is always a little more, and searches read that themselves.
        """
        rising = place.rising
        if rising is None or rising.position < place.live.position:
            return
        if len(self.journal.news(place.namespace, rising.position, NEARLY_THERE)) < NEARLY_THERE:
            self.hot.drop(place.namespace, self.places.take_over(place))

    def _purge(self, namespace: str) -> None:
        """A failure is tried again at the next rest, because the namespace stays on the list until then."""
        try:
            if (place := self.places.find(namespace)) is not None:
                self._purge_now(place)
            self._erased.discard(namespace)
        except (IndexUnavailable, OSError) as obstacle:
            log.warning("what was erased is still in files of the index: %s", obstacle)

    def _purge_now(self, place: Place) -> None:
        namespace = place.namespace
        self.hot.drop_tails(namespace)
        if self._is_empty(place):
            self.places.forget(namespace, place.growing.position)
            self.hot.drop(namespace, place.live.number)
        else:
            for standing in _tables(place):
                standing.table.purge()

    def _is_empty(self, place: Place) -> bool:
        """Documents may be anybody's: there are none when none of their chunks is left and nothing is still to come."""
        namespace, growing = place.namespace, place.growing
        return not (
            self.journal.sessions(SessionPage(namespace, limit=1))
            or growing.table.count(Within(chunks=True))
            or self.journal.news(namespace, growing.position, 1)
        )


def _there(standing: Standing) -> Embedder:
    if standing.embedder is None:
        raise EmbedderUnavailable("the embedder that made this index is not known any more")
    return standing.embedder


def _tables(place: Place) -> list[Standing]:
    return [place.live] if place.rising is None else [place.live, place.rising]
