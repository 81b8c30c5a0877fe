"""Records of the RAM journal."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from memsidecar.domain.errors import NotFound
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
    DeleteRecord,
    Owner,
    Record,
    RecordKind,
    RecordQuery,
    RecordsUpserted,
    UpsertRecords,
)


class RecordName(NamedTuple):
    owner: Owner
    kind: RecordKind
    id: str


class RecordTable:
    """All records. `check_quota` raises QuotaExceeded. `write` adds a log entry and returns its lsn, 0 if none."""

    def __init__(
        self,
        check_quota: Callable[[str, Usage], None],
        write: Callable[[Owner, RecordKind, str, int], int],
    ) -> None:
        self._check_quota = check_quota
        self._write = write
        self._records: dict[RecordName, Record] = {}
        self._row_ids: dict[RecordName, int] = {}
        self._first_lsns: dict[RecordName, int] = {}
        self.next_row_id = 1

    def upsert(self, command: UpsertRecords) -> RecordsUpserted:
        keys, owned = set(command.conflict_keys), self._of(command.owner, command.kind)
        changes = command.revise(sorted([record for record in owned if record.conflict_key in keys], key=_age))
        upserts = {record.id: record for record in changes.upserts}
        if not command.is_derived:
            self._check_growth(command, upserts, changes.deletes)
        for record_id, record in upserts.items():
            self._put(RecordName(command.owner, command.kind, record_id), record, changes.sequence)
        for record_id in dict.fromkeys(changes.deletes):
            if record_id not in upserts and self.get(command.owner, command.kind, record_id):
                self._delete(RecordName(command.owner, command.kind, record_id))
        return RecordsUpserted(tuple(upserts.values()), changes.result)

    def _put(self, name: RecordName, record: Record, sequence: int) -> None:
        if self._records.get(name) == record:
            return
        lsn = self._write(*name, sequence if name.kind is RecordKind.SUMMARY else 0)
        if name not in self._records:
            self._row_ids[name], self.next_row_id = self.next_row_id, self.next_row_id + 1
            self._first_lsns[name] = lsn
        self._records[name] = record

    def _delete(self, name: RecordName) -> Record:
        self._write(name.owner, name.kind, "", 0)
        return self._records.pop(name)

    def in_order(self) -> Iterator[tuple[int, RecordName, Record]]:
        """Yield all records with their row ids, in the order of these."""
        for name in sorted(self._records, key=lambda name: self._row_ids[name]):
            yield self._row_ids[name], name, self._records[name]

    def known_id(self, owner: Owner, record_id: str, lsn: int) -> str:
        """Return the id of a fact that was logged at an lsn; empty if that fact was deleted since."""
        name = RecordName(owner, RecordKind.FACT, record_id)
        return record_id if name in self._records and self._first_lsns[name] <= lsn else ""

    def newest_summary(self, owner: Owner, lsn: int) -> str:
        """Return the id of the owner's newest summary of those that existed at an lsn; empty if there is none."""
        known = {name: self._first_lsns[name] for name in self._records if name[:2] == (owner, RecordKind.SUMMARY)}
        logged = [(first_lsn, name.id) for name, first_lsn in known.items() if first_lsn <= lsn]
        return max(logged)[1] if logged else ""

    def _check_growth(self, command: UpsertRecords, upserts: Mapping[str, Record], deletes: Sequence[str]) -> None:
        stored = [self.get(command.owner, command.kind, record_id) for record_id in {*upserts, *deletes}]
        before = sum(len(record.body) for record in stored if record)
        after = sum(len(record.body) for record in upserts.values())
        self._check_quota(command.owner.namespace, Usage(bytes=after - before))

    def bytes(self, namespace: str) -> int:
        return sum(len(record.body) for (owner, _, _), record in self._records.items() if owner.namespace == namespace)

    def delete(self, command: DeleteRecord) -> Record:
        name = RecordName(command.owner, command.kind, command.record_id)
        if name not in self._records:
            raise NotFound(f"there is no {command.kind.name.lower()} {command.record_id!r}")
        return self._delete(name)

    def erased_with(self, key: SessionKey, user_id: str, delete_session: bool) -> list[RecordName]:
        """Return what an erasure of the session erases."""
        return [name for name in self._records if self._is_erased_with(name, key, user_id, delete_session)]

    def of_owner(self, owner: Owner) -> list[RecordName]:
        return [name for name in self._records if name.owner == owner]

    def by_source(self, key: SessionKey) -> list[tuple[RecordName, Record]]:
        """Return the records, of any owner, that were derived from the session's messages."""
        return [
            (name, record)
            for name, record in self._records.items()
            if name.owner.namespace == key.namespace and record.source == key.session_id != ""
        ]

    def replace(self, records: Mapping[RecordName, Record]) -> None:
        self._records.update(records)

    def remove(self, names: Iterable[RecordName]) -> None:
        for name in names:
            del self._records[name]

    def _is_erased_with(self, name: RecordName, key: SessionKey, user_id: str, delete_session: bool) -> bool:
        owner, kind, _ = name
        if owner.namespace != key.namespace:
            return False
        is_source = self._records[name].source == key.session_id != "" and (delete_session or kind != RecordKind.FACT)
        is_owner = delete_session and owner.session_id == key.session_id != ""
        is_pattern = kind == RecordKind.PATTERNS and user_id != "" and owner == Owner(key.namespace, user_id)
        return is_source or is_owner or is_pattern

    def get(self, owner: Owner, kind: RecordKind, record_id: str) -> Record | None:
        return self._records.get(RecordName(owner, kind, record_id))

    def list(self, query: RecordQuery) -> Sequence[Record]:
        listed = [record for record in self._of(query.owner, query.kind) if _is_listed(record, query)]
        return sorted(listed, key=_age, reverse=True)[: query.limit]

    def of_kind(self, owner: Owner, kind: RecordKind) -> Sequence[Record]:
        return list(self._of(owner, kind))

    def owners(self) -> set[Owner]:
        return {name.owner for name in self._records}

    def owners_of_kind(self, kind: RecordKind) -> set[Owner]:
        return {name.owner for name in self._records if name.kind == kind}

    def _of(self, owner: Owner, kind: RecordKind) -> Iterator[Record]:
        return (record for name, record in self._records.items() if name[:2] == (owner, kind))


def _age(record: Record) -> tuple[int, str]:
    return record.time_us, record.id


def _is_listed(record: Record, query: RecordQuery) -> bool:
    return (record.current or query.history) and (query.after is None or _age(record) < query.after)
