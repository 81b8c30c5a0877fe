"""Artifacts of a session: put, list, delete, rank for a query."""

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import cast

from memsidecar.domain.session import SessionKey
from memsidecar.domain.statistics import CacheStatistics
from memsidecar.layers.artifacts.artifact import (
    ArtifactValidator,
    StoredArtifact,
    artifact_of,
    conflict_key_of,
    owner_of,
)
from memsidecar.layers.artifacts.offload import Offloader
from memsidecar.layers.field_checks import MAX_RESPONSE_BYTES
from memsidecar.layers.ownership import check_owner, claim
from memsidecar.layers.record_cache import DoneCallback, RecordCache
from memsidecar.layers.text_analysis import MAX_QUERY_TERMS, content_terms, stem, tokenize
from memsidecar.stores.contract import (
    CommitEvent,
    DeleteRecord,
    ImportRecords,
    Journal,
    MessageVersions,
    Owner,
    PendingCommand,
    Record,
    RecordChanges,
    RecordKind,
    RecordQuery,
    RecordReader,
    RecordsUpserted,
    UpsertRecords,
    submit_and_wait,
)
from memsidecar.v1.knowledge_pb2 import Artifact

MAX_RANKED, MAX_SCANNED = 200, 1_000
"""A query ranks at most the newest MAX_RANKED artifacts of a session, found among MAX_SCANNED with expired ones."""
MAX_RANKED_BYTES = 8 << 20
MAX_INDEXED_CHARACTERS = 200_000
"""Text of an artifact beyond this is not compared: it is longer than any context."""

CACHE_BYTES = 32 << 20
_CACHED_OWNER_BYTES = 512
_STEM_BYTES = 64  # size of an entry in a set; the stems themselves are shared

_MIN_READ_RECORDS, _MAX_READ_RECORDS = 16, 256
_FIELDS_BYTES = 256
"""Upper bound on the size of an encoded artifact without its texts."""

ArtifactCursor = tuple[int, str]
"""Position in a listing: create time, id."""


@dataclass(frozen=True, slots=True)
class PutArtifactRequest:
    """Parsed request; `preview_tokens` 0 means the default of an overflow."""

    key: SessionKey
    user_id: str
    artifact: Artifact
    offload_message_id: str = ""
    preview_tokens: int = 0


@dataclass(frozen=True, slots=True)
class IndexedArtifact:
    """Artifact with the stems of its words."""

    artifact: StoredArtifact
    stems: frozenset[str]

    @property
    def size_bytes(self) -> int:
        return len(self.artifact.content) * 2 + len(self.artifact.metadata) + len(self.stems) * _STEM_BYTES


class Artifacts:
    """Artifacts of all sessions, with a cache for ranking. Put and delete are visible when done. Thread-safe."""

    def __init__(self, journal: Journal, validator: ArtifactValidator, offloader: Offloader) -> None:
        self._journal = journal
        self.validator = validator
        self._offloader = offloader
        self._cache: RecordCache[Sequence[IndexedArtifact]] = RecordCache(journal, CACHE_BYTES, _size_of)
        journal.subscribe(self._invalidate, only_invalidations=True)

    @property
    def cache_statistics(self) -> CacheStatistics:
        return self._cache.statistics

    def put(self, request: PutArtifactRequest) -> StoredArtifact:
        """Store a checked artifact; for an offload, show a preview of the message in the window. Waits for commits."""
        check_owner(self._journal.head(request.key), request.user_id)
        if not request.offload_message_id:
            return self._save(request, self.validator(request.artifact))
        versions = self._offloader.find(request.key, request.offload_message_id)
        filled = self._offloader.fill(self.validator(request.artifact), versions, request.artifact.id)
        stored = self._save(request, filled, versions)
        self._offloader.show_preview(request.key, stored, request.preview_tokens)
        return stored

    def _save(
        self, request: PutArtifactRequest, artifact: StoredArtifact, offloaded: MessageVersions | None = None
    ) -> StoredArtifact:
        has_create_time = request.artifact.HasField("create_time")

        def replace_record(records: Sequence[Record]) -> RecordChanges:
            stored = artifact if has_create_time else _with_known_create_time(artifact, records)
            return RecordChanges([stored.to_record(request.key.session_id)], result=stored)

        claim(self._journal, request.key, request.user_id)
        owner, keys = owner_of(request.key), sorted({conflict_key_of(artifact.id), artifact.conflict_key})
        command = UpsertRecords(owner, RecordKind.ARTIFACT, keys, replace_record)
        if offloaded is not None:
            sequence = offloaded.original.sequence
            command = replace(command, derived_from=offloaded.head.row_id, derived_sequences=[sequence])
        return cast(StoredArtifact, self.upsert(command).result)

    def upsert(self, command: UpsertRecords) -> RecordsUpserted:
        """Apply a command; return when it is durable."""
        try:
            upserted: RecordsUpserted = submit_and_wait(self._journal, command)
        finally:
            self._cache.invalidate(command.owner)
        return upserted

    def page(
        self, key: SessionKey, user_id: str, after: ArtifactCursor | None, size: int, now_us: int
    ) -> tuple[Sequence[StoredArtifact], ArtifactCursor | None]:
        """Return up to `size` artifacts after a cursor, newest first, and the cursor of the next page, if there is one.

        A page can be short or empty because expired artifacts are left out.
        """
        check_owner(self._journal.head(key), user_id)
        owner = owner_of(key)
        found = list(read_newest(self._journal, owner, after, size, MAX_RESPONSE_BYTES))
        if not found:
            return (), None
        last = (found[-1].create_time_us, found[-1].id)
        has_more = any(read_newest(self._journal, owner, last, 1, 1))
        return [artifact for artifact in found if not artifact.is_expired(now_us)], last if has_more else None

    def submit_delete(self, key: SessionKey, artifact_id: str, on_done: DoneCallback) -> PendingCommand:
        """Delete an artifact. The command is done when the last byte is overwritten."""
        owner = owner_of(key)
        command = DeleteRecord(owner, RecordKind.ARTIFACT, artifact_id)
        return self._submit(PendingCommand(command, self._cache.invalidating(owner, on_done)))

    def submit_import(self, command: ImportRecords, on_done: DoneCallback) -> PendingCommand:
        return self._submit(PendingCommand(command, self._cache.invalidating(command.owner, on_done)))

    def check_owner(self, key: SessionKey, user_id: str) -> None:
        check_owner(self._journal.head(key), user_id)

    def _submit(self, pending: PendingCommand) -> PendingCommand:
        self._journal.submit(pending)
        return pending

    def relevant(self, key: SessionKey, query: str, now_us: int, limit: int) -> Sequence[tuple[StoredArtifact, float]]:
        """Return artifacts that share words with a query, with a score above 0 and at most 1, best first.

        Newer ones come first among equals.
        """
        owner = owner_of(key)
        indexed = self._cache.get(owner, lambda: self._index(owner))
        alive = [entry for entry in indexed if not entry.artifact.is_expired(now_us)]
        if len(alive) < len(indexed) >= MAX_RANKED:
            # Some have expired since they were cached, and older ones that were left out may take their place.
            self._cache.invalidate(owner)
        return rank(alive, query)[:limit]

    def _index(self, owner: Owner) -> Sequence[IndexedArtifact]:
        now_us = time.time_ns() // 1000
        newest = read_newest(self._journal, owner, None, MAX_SCANNED, MAX_RANKED_BYTES)
        alive = (artifact for artifact in newest if not artifact.is_expired(now_us))
        return [index_artifact(artifact) for artifact in islice(alive, MAX_RANKED)]

    def _invalidate(self, changes: Sequence[CommitEvent]) -> None:
        for change in changes:
            self._cache.invalidate(owner_of(change.key))


def _with_known_create_time(artifact: StoredArtifact, records: Sequence[Record]) -> StoredArtifact:
    """Return the artifact with the create time of a stored equal one, so that a repeated put changes nothing."""
    for known in (artifact_of(record) for record in records if record.id == artifact.id):
        expires_later = artifact.expire_time_us is None or artifact.expire_time_us > known.create_time_us
        if known.content == artifact.content and expires_later:
            return replace(artifact, create_time_us=known.create_time_us)
    return artifact


def _size_of(indexed: Sequence[IndexedArtifact]) -> int:
    return _CACHED_OWNER_BYTES + sum(entry.size_bytes for entry in indexed)


def read_newest(
    journal: RecordReader, owner: Owner, after: ArtifactCursor | None, limit: int, max_bytes: int
) -> Iterator[StoredArtifact]:
    """Yield up to `limit` artifacts after a cursor within `max_bytes`, at least one; expired ones included."""
    left = max_bytes
    for record in _records(
        journal, RecordQuery(owner, RecordKind.ARTIFACT, _MIN_READ_RECORDS, after), limit, max_bytes
    ):
        left -= _record_bytes(record)
        if left < 0 and left + _record_bytes(record) < max_bytes:
            return
        yield artifact_of(record)


def _records(journal: RecordReader, page: RecordQuery, limit: int, max_bytes: int) -> Iterator[Record]:
    """Yield records. The read size follows the mean size so far, so that not much more than `max_bytes` is read."""
    seen = size = 0
    while seen < limit:
        records = journal.records(replace(page, limit=min(page.limit, limit - seen)))
        yield from records
        if len(records) < min(page.limit, limit - seen):
            return
        seen += len(records)
        size += sum(map(_record_bytes, records))
        fitting = max(1, (max_bytes - size) * seen // size)
        page = replace(page, after=(records[-1].time_us, records[-1].id), limit=min(fitting, _MAX_READ_RECORDS))


def _record_bytes(record: Record) -> int:
    return len(record.body) + len(record.id) + _FIELDS_BYTES


def index_artifact(artifact: StoredArtifact) -> IndexedArtifact:
    words = tokenize(f"{artifact.source} {artifact.content[:MAX_INDEXED_CHARACTERS]}")
    return IndexedArtifact(artifact, frozenset(map(stem, set(words))))


def rank(indexed: Sequence[IndexedArtifact], query: str) -> list[tuple[StoredArtifact, float]]:
    """Return the artifacts that share words with the query, best first, else in their order.

    The score is the idf-weighted share of the query's words that the artifact has.
    """
    if not indexed:
        return []
    query_stems = {stem(word) for word in content_terms(tokenize(query))[:MAX_QUERY_TERMS]}
    weights = {query_stem: _idf(query_stem, indexed) for query_stem in query_stems}
    total = sum(weights.values())
    scored = [
        (entry.artifact, _sum(weights, entry.stems & query_stems) / total)
        for entry in indexed
        if entry.stems & query_stems
    ]
    return sorted(scored, key=lambda pair: -pair[1])


def _idf(query_stem: str, indexed: Sequence[IndexedArtifact]) -> float:
    matching = sum(1 for entry in indexed if query_stem in entry.stems)
    return math.log(1 + (len(indexed) + 1) / (matching + 1))


def _sum(weights: dict[str, float], stems: Iterable[str]) -> float:
    # In a fixed order, so that equal sets give equal floats.
    return sum(weights[query_stem] for query_stem in sorted(stems))
