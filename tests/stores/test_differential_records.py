"""The stores of `test_differential` with commands on records in addition."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
    Command,
    DeleteRecord,
    Erase,
    ExpiryQuery,
    Owner,
    Progress,
    Record,
    RecordChanges,
    RecordKind,
    RecordQuery,
    UpsertRecords,
)
from tests.stores.test_differential import KEYS, OWNERS, Differential, keys, users
from tests.support.differential import EXAMPLES

KINDS = [RecordKind.FACT, RecordKind.PATTERNS, RecordKind.SUMMARY]
TASK = "records"

owners = st.sampled_from(OWNERS)
kinds = st.sampled_from(KINDS)
ids = st.sampled_from("wxyz")
conflict_keys = st.integers(-1, 2)
times = st.integers(1, 5)
bodies = st.sampled_from([b"", b"one", b"a/m1 b/m2", b"a/m3", b"b/m4 b/m5"])
records = st.builds(
    Record, ids, conflict_keys, st.sampled_from(["", "a", "b", "c"]), times, bodies, until_us=st.sampled_from([0, 0, 3])
)


class Merge(NamedTuple):
    """A callback that stores what it was given, so that stores that gave it different records differ from then on."""

    upserted: Sequence[Record]
    deleted: Sequence[str]

    def __call__(self, found: Sequence[Record]) -> RecordChanges:
        seen = [replace(record, until_us=9, time_us=record.time_us + 1) for record in found if record.current]
        marked = [
            replace(record, body=record.body + b"".join(old.id.encode() for old in found)) for record in self.upserted
        ]
        return RecordChanges([*seen, *marked], self.deleted)


upserts = st.builds(
    UpsertRecords,
    owner=owners,
    kind=kinds,
    conflict_keys=st.lists(conflict_keys, max_size=3),
    revise=st.builds(Merge, st.lists(records, max_size=3), st.lists(ids, max_size=2)),
    progress=st.none() | st.builds(Progress, st.just(TASK), st.integers(0, 9)),
)
deletes = st.builds(DeleteRecord, owners, kinds, ids)
erasures = st.builds(Erase, st.sampled_from([*KEYS, SessionKey("n", "c")]), users, st.booleans())
pages = st.builds(
    RecordQuery, owners, kinds, st.integers(1, 4), st.none() | st.tuples(st.integers(0, 7), ids), st.booleans()
)


class RecordsDifferential(Differential):
    @rule(command=upserts)
    def upsert(self, command: UpsertRecords) -> None:
        self.submit_to_both(lambda _: command)

    @rule(command=upserts, key=keys, behind=st.integers(0, 1), sequences=st.lists(st.integers(1, 6), max_size=2))
    def derive(self, command: UpsertRecords, key: SessionKey, behind: int, sequences: list[int]) -> None:
        head = self.ram.head(key)
        row_id = head.row_id - behind if head else 99
        self.submit_to_both(lambda _: replace(command, derived_from=row_id, derived_sequences=sequences))

    @rule(command=deletes)
    def delete_record(self, command: DeleteRecord) -> None:
        self.submit_to_both(lambda _: command)

    @rule(commands=st.lists(upserts | deletes | erasures, max_size=6), key=keys)
    def upsert_and_erase_in_one_group(self, commands: list[Command], key: SessionKey) -> None:
        head = self.ram.head(key)
        row_id = head.row_id if head else None
        group = [
            replace(command, derived_from=row_id) if isinstance(command, UpsertRecords) else command
            for command in commands
        ]
        assert self.results(self.disk, group) == self.results(self.ram, group)

    @rule(command=erasures)
    def erase_what_was_counted(self, command: Erase) -> None:
        results = []
        for journal in (self.disk, self.ram):
            counted = self.erasure_counts(journal, command)
            results += self.results(journal, [command])
            assert getattr(results[-1], "counts", results[-1]) == counted
        assert results[0] == results[1]

    @rule(page=pages)
    def list_records(self, page: RecordQuery) -> None:
        assert list(self.disk.records(page)) == list(self.ram.records(page))

    @rule(owner=owners, kind=kinds, cutoff=st.none() | times, keep=st.integers(0, 4), limit=st.integers(1, 4))
    def find_expired_records(self, owner: Owner, kind: RecordKind, cutoff: int | None, keep: int, limit: int) -> None:
        query = ExpiryQuery(cutoff, keep, limit=limit)
        disk, ram = (list(journal.expired_records(owner, kind, query)) for journal in (self.disk, self.ram))
        assert disk == ram
        assert list(self.disk.record_owners(None, 9)) == list(self.ram.record_owners(None, 9))

    @invariant()
    def records_agree(self) -> None:
        for owner in OWNERS:
            for kind in KINDS:
                self.records_of_owner_agree(owner, kind)
        assert [self.disk.watermark(TASK, namespace) for namespace in "no"] == [
            self.ram.watermark(TASK, namespace) for namespace in "no"
        ]

    def records_of_owner_agree(self, owner: Owner, kind: RecordKind) -> None:
        disk, ram = (list(journal.records(RecordQuery(owner, kind, history=True))) for journal in (self.disk, self.ram))
        assert disk == ram == [self.disk.record(owner, kind, record.id) for record in ram]


TestRecordsDifferential = RecordsDifferential.TestCase
TestRecordsDifferential.settings = settings(
    max_examples=EXAMPLES, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
