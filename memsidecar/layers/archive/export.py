"""Export: the order of an archive, and cursors from which it continues.

The order is that in which an import may store the items. A session comes before what belongs to it. Facts and summaries
come before the messages, so that the background tasks of the importing sidecar find them. Messages come in commit
order, in which rankings break ties. A session whose last sequence is not that of a message comes a second time, after
the messages: until then its sequences must be free.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import NamedTuple

from memsidecar.domain.message import Flag
from memsidecar.domain.session import Policy, SessionHead
from memsidecar.layers.learned_until import LearnedUntil
from memsidecar.stores.contract import (
    ArchivedMessage,
    ArchivedRecord,
    ArchivePage,
    ArchivePosition,
    Calibration,
    Journal,
    MessageQuery,
    Owner,
    RecordKind,
    RecordQuery,
    Scope,
    StoredDocument,
)

SESSIONS_PER_PAGE = 100


class Phase(IntEnum):
    """The parts of an archive, in their order. The numbers are part of cursors."""

    DEFAULT_POLICY = 1
    CALIBRATIONS = 2
    SESSIONS = 3
    POLICIES = 4
    SUMMARIES = 5
    RECORDS = 6
    MESSAGES = 7
    LAST_SEQUENCES = 8
    DOCUMENTS = 9
    END = 10


class ExportCursor(NamedTuple):
    """A place in an archive: the part, and the row id, lsn or name of the last item of it.

    `learned` tells up to which lsns facts had been extracted when the export began. Facts of later messages may be
    missing in the archive.
    """

    phase: int
    after: int
    after_name: str
    learned: LearnedUntil
    position: ArchivePosition

    def moved(self, phase: Phase, after: int = 0, after_name: str = "") -> "ExportCursor":
        return self._replace(phase=int(phase), after=after, after_name=after_name)


class PolicyItem(NamedTuple):
    """The policy of a session, or without a head of the namespace."""

    head: SessionHead | None
    policy: Policy


class CalibrationItem(NamedTuple):
    model: str
    calibration: Calibration


class SummaryItem(NamedTuple):
    """The record of a summary. It covers no message after `last_sequence`, which was the last one at the position."""

    head: SessionHead
    record: ArchivedRecord
    last_sequence: int


class MessageItem(NamedTuple):
    message: ArchivedMessage
    learned: bool


ExportItem = PolicyItem | CalibrationItem | SessionHead | SummaryItem | ArchivedRecord | MessageItem | StoredDocument


class ExportedPage(NamedTuple):
    """Items, each with the cursor after it, and the cursor of the next page; None after the last page."""

    items: Sequence[tuple[ExportItem, ExportCursor]]
    next_cursor: ExportCursor | None


@dataclass(frozen=True)
class Exporter:
    """Reads an archive page by page. Each page is one or a few short reads."""

    journal: Journal
    learned_until: Callable[[str], LearnedUntil]
    "Tells up to which lsns the facts of a namespace are extracted and stored."

    def begin(self, scope: Scope) -> ExportCursor:
        # Before the position, so that the archive has these facts.
        learned = self.learned_until(scope.namespace)
        return ExportCursor(int(Phase.DEFAULT_POLICY), 0, "", learned, self.journal.archive_position(scope.namespace))

    def page(self, scope: Scope, cursor: ExportCursor) -> ExportedPage:
        """Return the page after a cursor. It may be empty although it is not the last one."""
        match Phase(cursor.phase):
            case Phase.DEFAULT_POLICY | Phase.CALIBRATIONS:
                return ExportedPage(list(self._namespace_items(scope, cursor)), cursor.moved(Phase.SESSIONS))
            case Phase.SESSIONS | Phase.POLICIES | Phase.SUMMARIES | Phase.LAST_SEQUENCES as phase:
                return self._session_page(scope, cursor, phase)
            case Phase.END:
                return ExportedPage((), None)
            case phase:
                return self._journal_page(scope, cursor, phase)

    def _namespace_items(self, scope: Scope, cursor: ExportCursor) -> Iterator[tuple[ExportItem, ExportCursor]]:
        """Yield what belongs to the whole namespace: nothing for the archive of a user or a session."""
        if scope.user_id or scope.session_id:
            return
        policy = self.journal.default_policies().get(scope.namespace)
        if policy is not None and cursor.phase == Phase.DEFAULT_POLICY:
            yield PolicyItem(None, policy), cursor.moved(Phase.CALIBRATIONS)
        for model in self.journal.calibrated_models(scope.namespace):
            if model > cursor.after_name:
                calibration = self.journal.calibration(scope.namespace, model)
                yield CalibrationItem(model, calibration), cursor.moved(Phase.CALIBRATIONS, after_name=model)

    def _session_page(self, scope: Scope, cursor: ExportCursor, phase: Phase) -> ExportedPage:
        found = self.journal.archived_sessions(scope, cursor.position, cursor.after_name, SESSIONS_PER_PAGE)
        items = [
            (item, cursor.moved(phase, after_name=head.key.session_id))
            for head in found
            if (item := self._session_item(head, cursor.position, phase)) is not None
        ]
        if len(found) < SESSIONS_PER_PAGE:
            return ExportedPage(items, cursor.moved(Phase(phase + 1)))
        return ExportedPage(items, cursor.moved(phase, after_name=found[-1].key.session_id))

    def _session_item(self, head: SessionHead, position: ArchivePosition, phase: Phase) -> ExportItem | None:
        if phase is Phase.SESSIONS:
            return replace(head, last_sequence=0)
        if phase is Phase.POLICIES:
            return PolicyItem(head, head.policy) if head.policy is not None else None
        (last_sequence,) = self.journal.sequences_at([(head, position.lsn)])
        if phase is Phase.SUMMARIES:
            return self._summary(head, last_sequence)
        return replace(head, last_sequence=last_sequence) if self._has_gap(head, last_sequence) else None

    def _summary(self, head: SessionHead, last_sequence: int) -> SummaryItem | None:
        owner = Owner(head.key.namespace, session_id=head.key.session_id)
        found = self.journal.records(RecordQuery(owner, RecordKind.SUMMARY, 1))
        if not found or not last_sequence:
            return None
        return SummaryItem(head, ArchivedRecord(0, owner, RecordKind.SUMMARY, found[0]), last_sequence)

    def _has_gap(self, head: SessionHead, last_sequence: int) -> bool:
        """Tell whether the session's last sequence is that of no message."""
        query = MessageQuery(last_sequence - 1, last_sequence + 1, limit=1, include_pruned=True, bodies=False)
        return last_sequence > 0 and not self.journal.messages(head.key, query).messages

    def _journal_page(self, scope: Scope, cursor: ExportCursor, phase: Phase) -> ExportedPage:
        page = self._read(scope, cursor, phase)
        items = [_with_cursor(item, cursor, phase) for item in page.items]
        if page.next_after is None:
            return ExportedPage(items, cursor.moved(Phase(phase + 1)))
        return ExportedPage(items, cursor.moved(phase, page.next_after))

    def _read(self, scope: Scope, cursor: ExportCursor, phase: Phase) -> ArchivePage:
        if phase is Phase.RECORDS:
            return self.journal.archived_records(scope, cursor.position, cursor.after)
        if phase is Phase.MESSAGES:
            return self.journal.archived_messages(scope, cursor.position, cursor.after)
        return self.journal.archived_documents(scope, cursor.position, cursor.after)


def _with_cursor(
    item: ArchivedMessage | ArchivedRecord | StoredDocument, cursor: ExportCursor, phase: Phase
) -> tuple[ExportItem, ExportCursor]:
    if isinstance(item, ArchivedMessage):
        is_learned = cursor.learned.has_learned(item.lsn, item.original) or bool(item.original.flags & Flag.LEARNED)
        return MessageItem(item, is_learned), cursor.moved(phase, item.lsn)
    return item, cursor.moved(phase, item.row_id)
