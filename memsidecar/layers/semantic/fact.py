"""A fact as it is kept: the contract's own encoding, beside what the journal knows of every note."""

import unicodedata
from dataclasses import dataclass
from hashlib import blake2b
from typing import cast

from memsidecar.domain.fact import LISTS, FactType
from memsidecar.stores.contract import Note
from memsidecar.v1 import knowledge_pb2 as pb

_SEPARATOR = "\0"


@dataclass(frozen=True, slots=True)
class KnownFact:
    """`valid_from_us` is since when it holds, `seen_us` when it was last said; `until_us` is 0 while it holds.

    `session_id` and `source_message_ids` say where it was first said. `goes_with` is the session that it is erased
    with: the one where it was last said, if it was said in sessions only.
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
    goes_with: str = ""

    @property
    def slot(self) -> int:
        return slot_of(self.type, self.key, self.value)

    def says_the_same(self, other: "KnownFact") -> bool:
        return plain(self.value) == plain(other.value)

    def note(self) -> Note:
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
        return Note(self.id, self.slot, self.goes_with, self.seen_us, encoded, self.until_us)


def fact_of(note: Note) -> KnownFact:
    body = pb.Fact.FromString(note.body)
    return KnownFact(
        id=note.id,
        type=FactType(int(body.type)),
        key=body.key,
        value=body.value,
        confidence=body.confidence,
        valid_from_us=body.valid_from.ToMicroseconds(),
        extracted_us=body.extracted_at.ToMicroseconds(),
        seen_us=note.time_us,
        origin=body.origin,
        session_id=body.session_id,
        source_message_ids=tuple(body.source_message_ids),
        pinned=body.pinned,
        until_us=note.until_us,
        goes_with=note.source,
    )


def plain(text: str) -> str:
    """In one spelling, so that "Acme Corp." and "acme  corp" are the same."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".!")


def slot_of(kind: FactType, key: str, value: str) -> int:
    """What a fact competes for: its key, or where many can hold at once its value, too."""
    about = [str(int(kind)), plain(key)] + ([plain(value)] if kind in LISTS else [])
    digest = blake2b(_SEPARATOR.join(about).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
