"""The schedule of retention: when it runs, and how long it pauses."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from threading import Event

import pytest

from memsidecar.assembly.derived_memory import DERIVATIONS
from memsidecar.assembly.retention import PAUSE_RATIO
from memsidecar.domain.retention import KEEP_ALL
from memsidecar.layers.retention.expiry import Expiry
from memsidecar.layers.retention.schedule import RetentionSchedule
from memsidecar.layers.working.sessions import SessionPolicies
from memsidecar.stores.volatile.journal import VolatileJournal

HOUR = 3600.0


@contextmanager
def scheduled(interval_seconds: float) -> Iterator[RetentionSchedule]:
    with closing(VolatileJournal()) as journal:
        policies = SessionPolicies.load(journal, KEEP_ALL)

        def new_expiry(pause: Callable[[], None]) -> Expiry:
            return Expiry(journal, policies, DERIVATIONS, {}, lambda *_: False, None, pause)

        yield RetentionSchedule(new_expiry, lambda: True, lambda: False, lambda: 0, interval_seconds, PAUSE_RATIO)


class FakeStop(Event):
    """Records how long it is waited for, without waiting; set at the last of some waits."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.waits: list[float | None] = []
        self._count = count

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout)
        return len(self.waits) == self._count


@pytest.mark.parametrize(("interval_seconds", "first_seconds"), [(HOUR, 60.0), (5.0, 5.0)])
def test_the_first_run_begins_a_minute_after_the_start_at_the_latest(
    interval_seconds: float, first_seconds: float
) -> None:
    stop = FakeStop(3)
    with scheduled(interval_seconds) as schedule:
        schedule._stopping = stop
        schedule.start()
        schedule.stop()
    assert stop.waits == [first_seconds, interval_seconds, interval_seconds]
