"""Summary store: rolling summaries as records of the journal, with a cache."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from memsidecar.domain.errors import SidecarError
from memsidecar.domain.ids import new_id
from memsidecar.domain.session import SessionKey
from memsidecar.domain.statistics import CacheStatistics
from memsidecar.layers.record_cache import DoneCallback, RecordCache
from memsidecar.stores.contract import (
    CommitEvent,
    ImportRecords,
    Journal,
    Owner,
    PendingCommand,
    Record,
    RecordChanges,
    RecordKind,
    RecordQuery,
    RecordsUpserted,
    UpsertRecords,
    submit_and_wait,
)
from memsidecar.v1 import knowledge_pb2 as pb

CONFLICT_KEY = 0
MAX_CACHED_SESSIONS = 1_000


@dataclass(frozen=True, slots=True)
class RollingSummary:
    """Summary of the messages from `first_sequence` to `last_sequence`, both included."""

    id: str
    text: str
    tokens: int
    first_sequence: int
    last_sequence: int
    create_time_us: int
    origin: str


class SummaryDraft(NamedTuple):
    """A summary to save: made from the summary `extends` (an id; empty for none) and the messages `sequences`.

    It is not saved if that summary is no longer stored, or one of the messages was erased.
    """

    summary: RollingSummary
    extends: str = ""
    sequences: Sequence[int] = ()


def owner_of(key: SessionKey) -> Owner:
    return Owner(key.namespace, session_id=key.session_id)


class SummaryStore:
    """One summary for each session. Every context reads it, so those of active sessions are cached. Thread-safe."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._cache: RecordCache[RollingSummary | None] = RecordCache(journal, MAX_CACHED_SESSIONS)
        self._saving: dict[Owner, threading.Event] = {}
        journal.subscribe(self._invalidate, only_invalidations=True)

    @property
    def cache_statistics(self) -> CacheStatistics:
        return self._cache.statistics

    def get(self, key: SessionKey) -> RollingSummary | None:
        return self._cache.get(owner_of(key), lambda: self._read(key))

    def get_committed(self, key: SessionKey) -> RollingSummary | None:
        """Return the summary after a running save: a client that saw it in a context must be able to read it."""
        saving = self._saving.get(owner_of(key))
        if saving is not None:
            saving.wait()
        return self.get(key)

    def save(self, key: SessionKey, session: int, draft: SummaryDraft) -> RollingSummary | None:
        """Replace the summary, unless the stored one covers more; return the one that is stored then.

        Raises NotFound if the session `session` or a summarized message is erased.
        """
        try:
            upserted: RecordsUpserted = submit_and_wait(self.journal, self._save_command(key, session, draft))
        finally:
            self._cache.invalidate(owner_of(key))
        return cast(RollingSummary | None, upserted.result)

    def submit_save(self, key: SessionKey, session: int, draft: SummaryDraft) -> None:
        """Save without waiting for the commit."""
        owner, saved = owner_of(key), threading.Event()

        def on_done(_pending: PendingCommand) -> None:
            self._cache.invalidate(owner)
            if self._saving.get(owner) is saved:
                del self._saving[owner]
            saved.set()

        pending = PendingCommand(self._save_command(key, session, draft), on_done)
        self._saving[owner] = saved
        try:
            self.journal.submit(pending)
        except SidecarError:
            on_done(pending)
            raise

    def submit_import(self, command: ImportRecords, on_done: DoneCallback) -> PendingCommand:
        pending = PendingCommand(command, self._cache.invalidating(command.owner, on_done))
        self.journal.submit(pending)
        return pending

    def _read(self, key: SessionKey) -> RollingSummary | None:
        records = self.journal.records(RecordQuery(owner_of(key), RecordKind.SUMMARY, 1))
        return summary_of(records[0]) if records else None

    def _save_command(self, key: SessionKey, session: int, draft: SummaryDraft) -> UpsertRecords:
        """Return the command; its result is the summary that remains."""
        summary = draft.summary

        def replace_older(records: Sequence[Record]) -> RecordChanges:
            existing = [summary_of(record) for record in records]
            is_stale = bool(draft.extends) and draft.extends not in [each.id for each in existing]
            if is_stale or (existing and existing[0].last_sequence > summary.last_sequence):
                return RecordChanges(result=existing[0] if existing else None)
            replaced = [record.id for record in records if record.id != summary.id]
            return RecordChanges([record_of(key, summary)], replaced, summary, summary.last_sequence)

        return UpsertRecords(
            owner_of(key),
            RecordKind.SUMMARY,
            [CONFLICT_KEY],
            replace_older,
            derived_from=session,
            derived_sequences=draft.sequences,
        )

    def _invalidate(self, changes: Sequence[CommitEvent]) -> None:
        for change in changes:
            self._cache.invalidate(owner_of(change.key))


def new_summary(text: str, tokens: int, span: tuple[int, int], now_us: int, origin: str) -> RollingSummary:
    return RollingSummary(new_id(), text, tokens, *span, now_us, origin)


def record_of(key: SessionKey, summary: RollingSummary) -> Record:
    body = pb.Summary(
        text=summary.text,
        tokens=summary.tokens,
        first_sequence=summary.first_sequence,
        last_sequence=summary.last_sequence,
        origin=summary.origin,
    )
    encoded = body.SerializeToString(deterministic=True)
    return Record(summary.id, CONFLICT_KEY, key.session_id, summary.create_time_us, encoded)


def keep_known(stored: Sequence[Record], new: Sequence[Record]) -> RecordChanges:
    """Store the summary of an archive, unless the session has one."""
    return RecordChanges() if stored else RecordChanges(new[:1])


def summary_of(record: Record) -> RollingSummary:
    body = pb.Summary.FromString(record.body)
    span = (body.first_sequence, body.last_sequence)
    return RollingSummary(record.id, body.text, body.tokens, *span, record.time_us, body.origin)


def covers(record: Record, sequence: int) -> bool:
    """Tell whether the summary was made from the message of a sequence."""
    summary = summary_of(record)
    return summary.first_sequence <= sequence <= summary.last_sequence
