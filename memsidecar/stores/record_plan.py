"""Plans of UpsertRecords: which records are written, updated and deleted, found before anything is written."""

from collections.abc import Mapping, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from memsidecar.stores.contract import Record


class RecordPlace(Protocol):
    """The rows of a record, as a store finds them: enough to count and to delete it, also if its body is damaged."""

    @property
    def kind(self) -> int: ...
    @property
    def bytes(self) -> int: ...


P = TypeVar("P", bound=RecordPlace)
P_co = TypeVar("P_co", bound=RecordPlace, covariant=True)


class LocatedRecord(Protocol[P_co]):
    """A record and the place of its rows."""

    @property
    def location(self) -> P_co: ...
    @property
    def is_intact(self) -> bool: ...

    def intact_part(self) -> Record:
        """Return the record, with an empty body if its body is damaged."""


class RecordPlan(NamedTuple, Generic[P]):
    written: Sequence[tuple[Record, P | None]]
    "Records with a new body, and the rows they replace."
    updated: Sequence[tuple[Record, P]]
    "Records with the same body and a new conflict key, source or time."
    deleted: Sequence[P]
    changed_ids: Sequence[str]
    "The ids of written and updated records, in the order of the command."

    @property
    def growth_bytes(self) -> int:
        replaced = [before for _, before in self.written if before is not None]
        removed = sum(place.bytes for place in (*replaced, *self.deleted))
        return sum(len(record.body) for record, _ in self.written) - removed


def plan_upserts(existing: Mapping[str, LocatedRecord[P]], upserts: Mapping[str, Record]) -> RecordPlan[P]:
    """Compare the upserts with the existing records by id. An existing record without an upsert is deleted."""
    written: list[tuple[Record, P | None]] = []
    updated: list[tuple[Record, P]] = []
    for record_id, record in upserts.items():
        row = existing.get(record_id)
        stored = row.intact_part() if row is not None and row.is_intact else None
        if row is None or stored is None or stored.body != record.body:
            written.append((record, row.location if row else None))
        elif stored != record:
            updated.append((record, row.location))
    changed = {record.id for record, _ in (*written, *updated)}
    return RecordPlan(
        written,
        updated,
        [row.location for record_id, row in existing.items() if record_id not in upserts],
        [record_id for record_id in upserts if record_id in changed],
    )


def record_columns(record: Record) -> tuple[int, str, int, int]:
    """Return the columns that may change without the body."""
    return record.conflict_key, record.source, record.time_us, record.until_us
