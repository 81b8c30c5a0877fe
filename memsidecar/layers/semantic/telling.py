"""A fact that a caller tells, checked."""

import time

from memsidecar.domain.errors import InvalidField
from memsidecar.domain.fact import FactType
from memsidecar.domain.ids import check_id, new_id, optional_id
from memsidecar.layers.semantic.fact import KnownFact
from memsidecar.layers.semantic.superseding import CLIENT, Told
from memsidecar.layers.working.drafting import check_time
from memsidecar.v1.knowledge_pb2 import Fact

MAX_VALUE_BYTES = 16 * 1024
MAX_SOURCES = 100
_TIMES = ("valid_from", "extracted_at", "last_updated")


def told_fact(fact: Fact, field: str, session_id: str) -> Told:
    """The fact as told in a session (empty: in none), or InvalidField."""
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
        # Made of messages, it goes with them; told by the caller alone, it stays.
        goes_with=session_id if sources else "",
    )
    return Told(known, undated=not any(map(fact.HasField, _TIMES)))


def _check_value(field: str, value: str) -> None:
    if not value.strip():
        raise InvalidField(field, "is required")
    if len(value.encode()) > MAX_VALUE_BYTES:
        raise InvalidField(field, f"is longer than {MAX_VALUE_BYTES} bytes")


def _confidence(field: str, confidence: float) -> float:
    """Nobody tells what they do not believe at all: 0 is what was not said."""
    if not 0 <= confidence <= 1:  # not-a-number fails this, too
        raise InvalidField(field, "must be between 0 and 1")
    return confidence or 1.0


def _sources(fact: Fact, field: str, session_id: str) -> tuple[str, ...]:
    if len(fact.source_message_ids) > MAX_SOURCES:
        raise InvalidField(f"{field}.source_message_ids", f"has more than {MAX_SOURCES} ids")
    if fact.source_message_ids and not session_id:
        raise InvalidField(f"{field}.session_id", "is required with source_message_ids")
    for at, one in enumerate(fact.source_message_ids):
        check_id(f"{field}.source_message_ids[{at}]", one)
    return tuple(fact.source_message_ids)


def _times_us(fact: Fact, field: str) -> tuple[int, int, int]:
    """Since when it holds, when it was first seen, and when last. What is first seen holds from then on at least."""
    now_us = time.time_ns() // 1000
    given = {name: check_time(f"{field}.{name}", getattr(fact, name)) for name in _TIMES if fact.HasField(name)}
    seen_us = given.get("last_updated", now_us)
    extracted_us = given.get("extracted_at", min(seen_us, now_us))
    return given.get("valid_from", extracted_us), extracted_us, seen_us
