"""The task that keeps the index: from the log into the tables, in order, each entry once."""

import logging
import time
from dataclasses import dataclass, field

from memsidecar.embedding.contract import Embedder, EmbedderMismatch, EmbedderUnavailable
from memsidecar.layers.background import NotNow, Pulse
from memsidecar.layers.episodic.harvesting import Gathering, Vectoring
from memsidecar.layers.episodic.hot import HotShelves
from memsidecar.layers.episodic.places import Place, Places, Standing
from memsidecar.stores.contract import Chapter, Gone, Harvest, IndexUnavailable, Journal, SessionPage, Within

log = logging.getLogger(__name__)

RUNS_IN_A_ROW, LONGEST_PAUSE_SECONDS = 3, 60.0


@dataclass
class Indexing:
    """Keeps its position in the tables themselves: rows carry the entry that made them."""

    journal: Journal
    places: Places
    hot: HotShelves
    pulse: Pulse
    name: str = "episodic"
    _erased: set[str] = field(default_factory=set)
    _examined: set[tuple[str, int]] = field(default_factory=set)
    _runs: dict[tuple[str, int], tuple[int, float]] = field(default_factory=dict)
    "By table: how often in a row there was upkeep to do, and when it may be looked at again."

    def position(self, namespace: str) -> int:
        try:
            return self.places.get(namespace).growing.position
        except IndexUnavailable as obstacle:
            raise NotNow(str(obstacle)) from obstacle

    def take(self, namespace: str, chapter: Chapter) -> None:
        place = self.places.get(namespace)
        growing, end = place.growing, chapter[-1].lsn
        harvest = self._harvest(growing, chapter)
        self._apply(place, growing, harvest)
        after, growing.position = growing.position, end
        if growing is place.live:
            self.hot.tell(namespace, growing.number, after, end, harvest)
        if any(isinstance(entry, Gone) for entry in chapter):
            self._erased.add(namespace)

    def _harvest(self, growing: Standing, chapter: Chapter) -> Harvest:
        gathering = Gathering(self.journal)
        for entry in chapter:
            gathering.take(entry)
        try:
            return gathering.harvest(Vectoring(_there(growing), self.pulse.give_way))
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
        for place in self.places.all():
            self._mend(place)
            self._complete(place)
            self._look_for_remains(place)
        for namespace in list(self._erased):
            self._purge(namespace)
        done = [self._upkeep(place, one, idle) for place in self.places.all() for one in _tables(place)]
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
        """What a search or a chore found damaged need not wait for the next message."""
        try:
            for number in self.places.mend(place):
                self.hot.drop(place.namespace, number)
                self.pulse.repeat(place.namespace)
        except IndexUnavailable as obstacle:
            log.warning("a damaged part of the index cannot be opened again yet: %s", obstacle)

    def _complete(self, place: Place) -> None:
        """Switch to the rising table when it has come to the end of the log, be it in an earlier process."""
        rising = place.rising
        if rising is not None and not self.journal.news(place.namespace, rising.position, 1):
            self.hot.drop(place.namespace, self.places.take_over(place))

    def _look_for_remains(self, place: Place) -> None:
        """Once for each table: an earlier process may have died between an erasure and its end."""
        for standing in _tables(place):
            name = (place.namespace, standing.number)
            if name not in self._examined:
                self._examined.add(name)
                if standing.table.has_remains:
                    self._erased.add(place.namespace)

    def _purge(self, namespace: str) -> None:
        """A failure is tried again at the next rest, because the namespace stays on the list until then."""
        try:
            self._purge_now(self.places.get(namespace))
            self._erased.discard(namespace)
        except (IndexUnavailable, OSError) as obstacle:
            log.warning("what was erased is still in files of the index: %s", obstacle)

    def _purge_now(self, place: Place) -> None:
        namespace = place.namespace
        if self._is_empty(place):
            self.places.forget(namespace)
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
