"""The schedule of retention: when it runs, and how long it pauses."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from threading import Event

import pytest

from memsidecar.assembly.derived_memory import DERIVATIONS
from memsidecar.assembly.retention import PAUSE_RATIO
from memsidecar.domain.retention import KEEP_ALL
from memsidecar.domain.session import SessionKey
from memsidecar.layers.retention.expiry import Expiry
from memsidecar.layers.retention.schedule import (
    CALM_SECONDS,
    HALVING_SECONDS,
    MAX_PAUSE_SECONDS,
    RetentionSchedule,
    pause_seconds,
)
from memsidecar.layers.working.sessions import SessionPolicies
from memsidecar.stores.volatile.journal import VolatileJournal
from tests.conformance.builders import append, draft

HOUR = 3600.0


@contextmanager
def scheduled(
    interval_seconds: float, sessions: int = 0, is_busy: Callable[[], bool] = lambda: False
) -> Iterator[RetentionSchedule]:
    with closing(VolatileJournal()) as journal:
        for number in range(sessions):
            append(journal, draft("a"), key=SessionKey("default", f"s{number}"))
        policies = SessionPolicies.load(journal, KEEP_ALL)

        def new_expiry(pause: Callable[[], None]) -> Expiry:
            return Expiry(journal, policies, DERIVATIONS, {}, lambda *_: False, None, pause)

        yield RetentionSchedule(new_expiry, lambda: True, is_busy, lambda: 0, interval_seconds, PAUSE_RATIO)


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


def test_a_pause_is_proportional_to_the_work_and_bounded() -> None:
    assert pause_seconds(99.0, 0.01, 0.0) == pytest.approx(0.99)
    assert pause_seconds(99.0, 1.0, 0.0) == MAX_PAUSE_SECONDS


def test_a_pause_ends_early_only_after_a_time_without_calls() -> None:
    stop, checks = FakeStop(0), iter([True, True, False])
    with scheduled(HOUR, is_busy=lambda: next(checks)) as schedule:
        schedule._stopping = stop
        schedule._run_began = time.monotonic()
        schedule._group_began = schedule._run_began - MAX_PAUSE_SECONDS
        schedule._pause()
    assert stop.waits == [CALM_SECONDS, CALM_SECONDS]


def test_the_pauses_of_a_long_run_become_shorter_until_it_works_half_the_time() -> None:
    pauses = [pause_seconds(96.0, 0.01, halvings * HALVING_SECONDS) for halvings in range(10)]
    assert pauses == pytest.approx([0.96, 0.48, 0.24, 0.12, 0.06, 0.03, 0.015, 0.01, 0.01, 0.01])
    assert pause_seconds(96.0, 0.01, HALVING_SECONDS - 1) == pauses[0]


@pytest.mark.parametrize(("interval_seconds", "warnings"), [(0.0, 2), (HOUR, 0)])
def test_a_run_that_lasts_longer_than_the_interval_warns_once(
    interval_seconds: float, warnings: int, caplog: pytest.LogCaptureFixture
) -> None:
    with scheduled(interval_seconds, sessions=300) as schedule:
        for _ in range(2):
            schedule.run_once()
    assert [record.levelname for record in caplog.records] == ["WARNING"] * warnings
