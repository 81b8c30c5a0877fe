"""Composition of retention: what it may erase, and the thread that runs it."""

import time
from collections.abc import Callable
from contextlib import ExitStack

from memsidecar.api.interceptors.concurrency import InFlightLimits
from memsidecar.assembly import components
from memsidecar.assembly.derived_memory import DERIVATIONS
from memsidecar.layers.artifacts.artifacts import Artifacts
from memsidecar.layers.retention.expiry import Expiry
from memsidecar.layers.retention.legal_hold import hold_check
from memsidecar.layers.retention.schedule import RetentionSchedule
from memsidecar.layers.semantic.fact import fact_of
from memsidecar.layers.semantic.facts import Facts
from memsidecar.layers.working.sessions import SessionPolicies
from memsidecar.settings import Settings
from memsidecar.stores.contract import Journal, Record, RecordKind

PAUSE_RATIO = 99.0
"While RPCs are in flight, retention occupies the committer for a hundredth of the time, for the sake of their p99."


def open_retention(
    settings: Settings,
    journal: Journal,
    policies: SessionPolicies,
    facts: Facts,
    artifacts: Artifacts,
    *,
    limits: InFlightLimits,
    opened: ExitStack,
) -> RetentionSchedule:
    """Start the thread that erases what exceeds the limits of the settings and the policies."""
    default, is_held = components.retention(settings), hold_check(settings.legal_hold_tag)
    erase = {RecordKind.FACT: facts.upsert, RecordKind.ARTIFACT: artifacts.upsert}

    def new_expiry(pause: Callable[[], None]) -> Expiry:
        return Expiry(journal, policies, DERIVATIONS, erase, is_pinned, is_held, pause)

    schedule = RetentionSchedule(
        new_expiry,
        lambda: bool(default) or journal.has_retention_policies(),
        limits.load_probe(finished_calls=True).is_busy,
        lambda: time.time_ns() // 1_000,
        settings.retention_interval_seconds,
        PAUSE_RATIO,
    )
    schedule.start()
    opened.callback(schedule.stop)
    return schedule


def is_pinned(kind: RecordKind, record: Record) -> bool:
    return kind is RecordKind.FACT and fact_of(record).pinned
