"""The stores of `test_differential` with notes among all their commands."""

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

KINDS = [RecordKind.FACT, RecordKind.PATTERNS]
TASK = "notes"

owners = st.sampled_from(OWNERS)
kinds = st.sampled_from(KINDS)
ids = st.sampled_from("wxyz")
slots = st.integers(-1, 2)
times = st.integers(1, 5)
bodies = st.sampled_from([b"", b"one", b"two"])
noted = st.builds(
    Record, ids, slots, st.sampled_from(["", "a", "b", "c"]), times, bodies, until_us=st.sampled_from([0, 0, 3])
)


class Merge(NamedTuple):
    """A revision that writes down what it was given: stores that are given different things differ from then on."""

    kept: Sequence[Record]
    dropped: Sequence[str]

    def __call__(self, found: Sequence[Record]) -> RecordChanges:
        seen = [replace(one, until_us=9, time_us=one.time_us + 1) for one in found if one.current]
        marked = [replace(one, body=one.body + b"".join(old.id.encode() for old in found)) for one in self.kept]
        return RecordChanges([*seen, *marked], self.dropped)


revisions = st.builds(
    UpsertRecords,
    owner=owners,
    kind=kinds,
    conflict_keys=st.lists(slots, max_size=3),
    revise=st.builds(Merge, st.lists(noted, max_size=3), st.lists(ids, max_size=2)),
    progress=st.none() | st.builds(Progress, st.just(TASK), st.integers(0, 9)),
)
drops = st.builds(DeleteRecord, owners, kinds, ids)
erasures = st.builds(Erase, st.sampled_from([*KEYS, SessionKey("n", "c")]), users, st.booleans())
pages = st.builds(
    RecordQuery, owners, kinds, st.integers(1, 4), st.none() | st.tuples(st.integers(0, 7), ids), st.booleans()
)


class NotesDifferential(Differential):
    @rule(command=revisions)
    def revise(self, command: UpsertRecords) -> None:
        self.both(lambda _: command)

    @rule(command=revisions, key=keys, behind=st.integers(0, 1))
    def derive(self, command: UpsertRecords, key: SessionKey, behind: int) -> None:
        head = self.ram.head(key)
        number = head.row_id - behind if head else 99
        self.both(lambda _: replace(command, derived_from=number))

    @rule(command=drops)
    def drop_note(self, command: DeleteRecord) -> None:
        self.both(lambda _: command)

    @rule(commands=st.lists(revisions | drops | erasures, max_size=6), key=keys)
    def revise_and_erase_at_once(self, commands: list[Command], key: SessionKey) -> None:
        head = self.ram.head(key)
        number = head.row_id if head else None
        group = [replace(one, derived_from=number) if isinstance(one, UpsertRecords) else one for one in commands]
        assert self.outcomes(self.disk, group) == self.outcomes(self.ram, group)

    @rule(command=erasures)
    def erase_as_foretold(self, command: Erase) -> None:
        told = []
        for journal in (self.disk, self.ram):
            foretold = self.erasure_counts(journal, command)
            told += self.outcomes(journal, [command])
            assert getattr(told[-1], "counts", told[-1]) == foretold
        assert told[0] == told[1]

    @rule(page=pages)
    def list_notes(self, page: RecordQuery) -> None:
        assert list(self.disk.records(page)) == list(self.ram.records(page))

    @invariant()
    def notes_agree(self) -> None:
        for owner in OWNERS:
            for kind in KINDS:
                self.notes_of_agree(owner, kind)
        assert [self.disk.watermark(TASK, one) for one in "no"] == [self.ram.watermark(TASK, one) for one in "no"]

    def notes_of_agree(self, owner: Owner, kind: RecordKind) -> None:
        disk, ram = (list(journal.records(RecordQuery(owner, kind, history=True))) for journal in (self.disk, self.ram))
        assert disk == ram == [self.disk.record(owner, kind, one.id) for one in ram]


TestNotesDifferential = NotesDifferential.TestCase
TestNotesDifferential.settings = settings(
    max_examples=EXAMPLES, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
