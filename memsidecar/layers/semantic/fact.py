"""Fact: its record, and the validation of a fact that a client puts."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import NamedTuple, cast

from memsidecar.domain.errors import InvalidField
from memsidecar.domain.fact import MULTI_VALUED_TYPES, FactType, canonical_key
from memsidecar.domain.ids import check_id, new_id, optional_id
from memsidecar.layers.field_checks import check_time
from memsidecar.layers.text_analysis import normalize_nfkc
from memsidecar.stores.contract import Record
from memsidecar.v1 import knowledge_pb2 as pb
from memsidecar.v1.knowledge_pb2 import Fact

CLIENT = "client"
"""Origin of facts that a client put."""

MAX_VALUE_BYTES = 16 * 1024
MAX_SOURCES = 100
_SEPARATOR = "\0"
_TIMES = ("valid_from", "extracted_at", "last_updated")


@dataclass(frozen=True, slots=True)
class KnownFact:
    """Stored fact. It holds from `valid_from_us` to `until_us` (0: it still holds); `seen_us` is its last mention.

    `session_id` and `source_message_ids` are of the first mention. `erased_with` is the session whose erasure erases
    the fact: the session of the last mention, if it was mentioned in sessions only, else empty.
    """

    id: str
    type: FactType
    key: str
    value: str
    confidence: float
    valid_from_us: int
    extracted_us: int
    seen_us: int
    origin: str
    session_id: str = ""
    source_message_ids: tuple[str, ...] = ()
    pinned: bool = False
    until_us: int = 0
    erased_with: str = ""

    @property
    def conflict_key(self) -> int:
        return conflict_key_of(self.type, self.key, self.value)

    def has_same_value(self, other: "KnownFact") -> bool:
        return normalize(self.value) == normalize(other.value)

    def to_record(self) -> Record:
        body = pb.Fact(
            type=cast(pb.FactType, int(self.type)),
            key=self.key,
            value=self.value,
            confidence=self.confidence,
            session_id=self.session_id,
            source_message_ids=self.source_message_ids,
            origin=self.origin,
            pinned=self.pinned,
        )
        body.valid_from.FromMicroseconds(self.valid_from_us)
        body.extracted_at.FromMicroseconds(self.extracted_us)
        encoded = body.SerializeToString(deterministic=True)
        return Record(self.id, self.conflict_key, self.erased_with, self.seen_us, encoded, self.until_us)


class PutFact(NamedTuple):
    """Fact that a client puts; `undated` if the client gave no time."""

    fact: KnownFact
    undated: bool = False


def fact_of(record: Record) -> KnownFact:
    body = pb.Fact.FromString(record.body)
    return KnownFact(
        id=record.id,
        type=FactType(int(body.type)),
        key=body.key,
        value=body.value,
        confidence=body.confidence,
        valid_from_us=body.valid_from.ToMicroseconds(),
        extracted_us=body.extracted_at.ToMicroseconds(),
        seen_us=record.time_us,
        origin=body.origin,
        session_id=body.session_id,
        source_message_ids=tuple(body.source_message_ids),
        pinned=body.pinned,
        until_us=record.until_us,
        erased_with=record.source,
    )


def source_ids_of(body: bytes) -> Iterable[str]:
    """Return the ids of the messages of a fact's first mention, by the body of its record."""
    return pb.Fact.FromString(body).source_message_ids


def normalize(text: str) -> str:
    """Return the text in one spelling, so that "Acme Corp." and "acme  corp" are equal."""
    return " ".join(normalize_nfkc(text).casefold().split()).rstrip(".!")


def conflict_key_of(kind: FactType, key: str, value: str) -> int:
    """Return a hash of the key, and of the value for multi-valued types. Facts with equal hashes exclude each other.

    Aliases of a key have the hash of that key.
    """
    parts = [str(int(kind)), canonical_key(kind, normalize(key))] + (
        [normalize(value)] if kind in MULTI_VALUED_TYPES else []
    )
    digest = blake2b(_SEPARATOR.join(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def parse_fact(fact: Fact, field: str, session_id: str) -> PutFact:
    """Return the validated fact, put in a session (empty: in none); raise InvalidField."""
    if int(fact.type) not in tuple(FactType):
        raise InvalidField(f"{field}.type", "is not a known type")
    check_id(f"{field}.key", fact.key)
    _check_value(f"{field}.value", fact.value)
    session_id = optional_id(f"{field}.session_id", fact.session_id) or session_id
    sources = _sources(fact, field, session_id)
    valid_from_us, extracted_us, seen_us = _times_us(fact, field)
    known = KnownFact(
        id=new_id(),
        type=FactType(int(fact.type)),
        key=fact.key,
        value=fact.value,
        confidence=_confidence(f"{field}.confidence", fact.confidence),
        valid_from_us=valid_from_us,
        extracted_us=extracted_us,
        seen_us=seen_us,
        origin=CLIENT,
        session_id=session_id,
        source_message_ids=sources,
        pinned=fact.pinned,
        # A fact derived from messages is erased with them; a fact without sources stays.
        erased_with=session_id if sources else "",
    )
    return PutFact(known, undated=not any(map(fact.HasField, _TIMES)))


def parse_archived_fact(fact: Fact, field: str, erased_with: str) -> KnownFact:
    """Return a validated fact of an archive: id, origin and end are kept."""
    known = parse_fact(fact, field, "").fact
    until_us = max(check_time(f"{field}.valid_until", fact.valid_until), 1) if fact.HasField("valid_until") else 0
    return replace(
        known,
        id=check_id(f"{field}.id", fact.id),
        origin=optional_id(f"{field}.origin", fact.origin) or CLIENT,
        until_us=until_us,
        erased_with=erased_with,
    )


def _check_value(field: str, value: str) -> None:
    if not value.strip():
        raise InvalidField(field, "is required")
    if len(value.encode()) > MAX_VALUE_BYTES:
        raise InvalidField(field, f"is longer than {MAX_VALUE_BYTES} bytes")


def _confidence(field: str, confidence: float) -> float:
    """Return the confidence; 0 is an unset field and means 1."""
    if not 0 <= confidence <= 1:  # NaN fails this, too
        raise InvalidField(field, "must be between 0 and 1")
    return confidence or 1.0


def _sources(fact: Fact, field: str, session_id: str) -> tuple[str, ...]:
    if len(fact.source_message_ids) > MAX_SOURCES:
        raise InvalidField(f"{field}.source_message_ids", f"has more than {MAX_SOURCES} ids")
    if fact.source_message_ids and not session_id:
        raise InvalidField(f"{field}.session_id", "is required with source_message_ids")
    for at, message_id in enumerate(fact.source_message_ids):
        check_id(f"{field}.source_message_ids[{at}]", message_id)
    return tuple(fact.source_message_ids)


def _times_us(fact: Fact, field: str) -> tuple[int, int, int]:
    """Return valid_from, extracted_at and last_updated in microseconds, with defaults for unset ones."""
    now_us = time.time_ns() // 1000
    given = {name: check_time(f"{field}.{name}", getattr(fact, name)) for name in _TIMES if fact.HasField(name)}
    seen_us = given.get("last_updated", now_us)
    extracted_us = given.get("extracted_at", min(seen_us, now_us))
    return given.get("valid_from", extracted_us), extracted_us, seen_us
