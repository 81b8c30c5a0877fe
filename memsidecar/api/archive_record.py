"""Records of an archive that a client sends: validation, and the item that an import stores."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple

from memsidecar.api.wire import at_least, parse_policy
from memsidecar.domain.errors import InvalidField, TooLarge
from memsidecar.domain.ids import check_id, optional_id
from memsidecar.domain.message import Draft, Flag
from memsidecar.domain.session import Policy, SessionKey
from memsidecar.layers.artifacts.artifact import ArtifactValidator
from memsidecar.layers.artifacts.artifact import owner_of as artifact_owner
from memsidecar.layers.field_checks import check_time
from memsidecar.layers.semantic.fact import parse_archived_fact
from memsidecar.layers.summaries.store import RollingSummary, record_of
from memsidecar.layers.working.validation import MessageValidator, tokens_of
from memsidecar.stores.contract import (
    Calibration,
    MessageImport,
    Origin,
    Owner,
    RecordImport,
    RecordKind,
    SessionImport,
)
from memsidecar.tokens.estimate import MAX_FACTOR, MIN_FACTOR
from memsidecar.v1 import session_pb2 as pb
from memsidecar.v1.knowledge_pb2 import Document
from memsidecar.v1.message_pb2 import Message

VERSIONS = (0, 1)
MAX_SEQUENCE = 1 << 53
MAX_REPORTS = 1 << 53
_KINDS = "message, session, fact, summary, artifact, document, policy or calibration"


class RecordItem(NamedTuple):
    """A fact, an artifact or a summary."""

    owner: Owner
    user_id: str
    kind: RecordKind
    imported: RecordImport


class DocumentItem(NamedTuple):
    """A document that is not chunked yet."""

    owner: Owner
    user_id: str
    document: Document


class DefaultPolicyItem(NamedTuple):
    namespace: str
    policy: Policy


class CalibrationImport(NamedTuple):
    namespace: str
    model: str
    calibration: Calibration


ImportItem = MessageImport | SessionImport | RecordItem | DocumentItem | DefaultPolicyItem | CalibrationImport


@dataclass(frozen=True)
class RecordParser:
    """Validates records as the RPCs that write them do. Counting a large text may take a while."""

    messages: MessageValidator
    artifacts: ArtifactValidator
    max_text_bytes: int

    def __call__(self, namespace: str, record: pb.ArchiveRecord) -> ImportItem:
        """Return the item; raise InvalidField, whose field begins with "record", or TooLarge."""
        if record.version not in VERSIONS:
            raise InvalidField("record.version", f"{record.version} is not known; the newest known version is 1")
        with _below("record"):
            return self._parse(namespace, record)

    def _parse(self, namespace: str, record: pb.ArchiveRecord) -> ImportItem:
        optional_id("user_id", record.user_id)
        optional_id("session_id", record.session_id)
        kind = record.WhichOneof("record")
        if kind is None:
            raise InvalidField("", f"has no content: it must be one of {_KINDS}")
        if kind in _NAMESPACE_KINDS:
            return _NAMESPACE_KINDS[kind](namespace, record)
        kinds: dict[str, Callable[[SessionKey, pb.ArchiveRecord], ImportItem]] = {
            "message": self._message,
            "session": _session,
            "summary": self._summary,
            "artifact": self._artifact,
        }
        return kinds[kind](_key_of(namespace, record), record)

    def _message(self, key: SessionKey, record: pb.ArchiveRecord) -> MessageImport:
        message = record.message
        check_id("message.id", message.id)
        sequence = _sequence("message.sequence", message.sequence)
        undated = not message.HasField("create_time")
        draft = self.messages(message, "message")
        if record.learned:
            draft.flags |= int(Flag.LEARNED)
        displayed = self._displayed(record, draft)
        return MessageImport(key, record.user_id, draft, sequence, record.pruned, displayed, undated)

    def _displayed(self, record: pb.ArchiveRecord, draft: Draft) -> tuple[bytes, int] | None:
        """Return the version for the window: the validated message with another content."""
        if not record.HasField("displayed") or record.displayed.content == record.message.content:
            return None
        if not record.displayed.content:
            raise InvalidField("displayed.content", "is required")
        self._check_size("displayed.content", record.displayed.content)
        displayed = Message.FromString(draft.body)
        displayed.content, displayed.synthetic = record.displayed.content, True
        displayed.tokens = tokens_of(displayed, self.messages.counter)
        return displayed.SerializeToString(), displayed.tokens

    def _summary(self, key: SessionKey, record: pb.ArchiveRecord) -> RecordItem:
        given = record.summary
        if not given.text:
            raise InvalidField("summary.text", "is required")
        self._check_size("summary.text", given.text)
        first = _sequence("summary.first_sequence", given.first_sequence)
        last = _sequence("summary.last_sequence", given.last_sequence)
        if last < first:
            raise InvalidField("summary.last_sequence", "must be at least first_sequence")
        summary = RollingSummary(
            id=check_id("summary.id", given.id),
            text=given.text,
            tokens=self.messages.counter.count(given.text),
            first_sequence=first,
            last_sequence=last,
            create_time_us=check_time("summary.create_time", given.create_time),
            origin=optional_id("summary.origin", given.origin),
        )
        origin = Origin(*_names(key, record), time_us=summary.create_time_us, is_summary=True)
        owner = Owner(key.namespace, session_id=key.session_id)
        return RecordItem(owner, record.user_id, RecordKind.SUMMARY, RecordImport(record_of(key, summary), origin))

    def _artifact(self, key: SessionKey, record: pb.ArchiveRecord) -> RecordItem:
        given = record.artifact
        check_id("artifact.id", given.id)
        message_id = optional_id("artifact.message_id", given.message_id)
        self.artifacts.check(given, offloads=False)
        stored = replace(self.artifacts(given), message_id=message_id)
        time_us = stored.create_time_us if given.HasField("create_time") else 0
        origin = Origin(*_names(key, record), time_us=time_us)
        if message_id:
            origin = origin._replace(message_session=key.session_id, message_ids=(message_id,))
        imported = RecordImport(stored.to_record(key.session_id), origin)
        return RecordItem(artifact_owner(key), record.user_id, RecordKind.ARTIFACT, imported)

    def _check_size(self, field: str, text: str) -> None:
        size = len(text.encode())
        if size > self.max_text_bytes:
            raise TooLarge(f"record.{field} has {size} bytes; {self.max_text_bytes} are allowed")


@contextmanager
def _below(parent: str) -> Iterator[None]:
    """Name the fields of errors as fields of a parent."""
    try:
        yield
    except InvalidField as error:
        field = f"{parent}.{error.field}" if error.field else parent
        raise InvalidField(field, error.problem) from None


def _key_of(namespace: str, record: pb.ArchiveRecord) -> SessionKey:
    return SessionKey(namespace, check_id("session_id", record.session_id))


def _names(key: SessionKey, record: pb.ArchiveRecord) -> tuple[str, str, str]:
    return key.namespace, record.user_id, key.session_id


def _sequence(field: str, value: int) -> int:
    if at_least(field, value, 0) > MAX_SEQUENCE:
        raise InvalidField(field, f"must be at most {MAX_SEQUENCE}")
    return value


def _session(key: SessionKey, record: pb.ArchiveRecord) -> SessionImport:
    given = record.session
    return SessionImport(
        key,
        record.user_id,
        create_time_us=check_time("session.create_time", given.create_time),
        last_active_us=check_time("session.last_active", given.last_active),
        last_sequence=_sequence("session.last_sequence", given.last_sequence),
    )


def _fact(namespace: str, record: pb.ArchiveRecord) -> RecordItem:
    """Parse a fact: of the user, and erased with the session; or without a user, of the session."""
    user_id, session_id = record.user_id, record.session_id
    if not (user_id or session_id):
        raise InvalidField("user_id", "is required where no session is named")
    erased_with = session_id if user_id or record.fact.source_message_ids else ""
    fact = parse_archived_fact(record.fact, "fact", erased_with)
    owner = Owner(namespace, user_id) if user_id else Owner(namespace, session_id=session_id)
    undated = not (record.fact.HasField("extracted_at") or record.fact.HasField("last_updated"))
    time_us = 0 if undated else min(fact.extracted_us, fact.seen_us)
    origin = Origin(namespace, user_id, session_id, fact.session_id, fact.source_message_ids, time_us)
    return RecordItem(owner, user_id, RecordKind.FACT, RecordImport(fact.to_record(), origin))


def _document(namespace: str, record: pb.ArchiveRecord) -> DocumentItem:
    session_id = record.session_id
    owner = Owner(namespace, session_id=session_id) if session_id else Owner(namespace, record.user_id)
    return DocumentItem(owner, record.user_id if session_id else "", record.document)


def _policy(namespace: str, record: pb.ArchiveRecord) -> SessionImport | DefaultPolicyItem:
    policy = parse_policy(record.policy)
    if not record.session_id:
        return DefaultPolicyItem(namespace, policy)
    return SessionImport(SessionKey(namespace, record.session_id), record.user_id, 0, 0, 0, policy)


def _calibration(namespace: str, record: pb.ArchiveRecord) -> CalibrationImport:
    given = record.calibration
    model = check_id("calibration.model", given.model)
    if not (math.isfinite(given.factor) and MIN_FACTOR <= given.factor <= MAX_FACTOR):
        raise InvalidField("calibration.factor", f"must be between {MIN_FACTOR} and {MAX_FACTOR}")
    if not 1 <= given.reports <= MAX_REPORTS:
        raise InvalidField("calibration.reports", f"must be between 1 and {MAX_REPORTS}")
    return CalibrationImport(namespace, model, Calibration(given.factor, given.reports))


# The kinds of records that need no session.
_NAMESPACE_KINDS: dict[str, Callable[[str, pb.ArchiveRecord], ImportItem]] = {
    "fact": _fact,
    "document": _document,
    "policy": _policy,
    "calibration": _calibration,
}
