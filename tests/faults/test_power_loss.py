"""A model of power loss: each sector written since the last fsync may be old, new or garbage.

The test copies the files on the journal's thread, after each fsync and before the acknowledgement. The difference
between two copies is what a power loss between them could tear. The mark file is never newer than the first copy,
because the journal writes it after the fsync.
"""

import random
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from memsidecar.domain.session import Policy, SessionKey
from memsidecar.stores.contract import CommitEvent, SetPolicy
from memsidecar.stores.sqlite.journal import SqliteJournal
from tests.conformance.builders import KEY, append, contents, draft, erase, execute, known_head, update_window

SECTOR_BYTES = 512
MANY_CHECKPOINTS = 64 << 10
"Bytes of the log between two checkpoints."
SCRATCH = SessionKey("default", "scratch")
FILES = ("journal.db", "journal.db-wal", "journal.mark")


@dataclass(frozen=True)
class Snapshot:
    """The files after an fsync, and the number of durable messages."""

    durable: int
    db: bytes
    wal: bytes
    mark: bytes

    def write_to(self, directory: Path) -> Path:
        directory.mkdir()
        for name, content in zip(FILES, (self.db, self.wal, self.mark), strict=True):
            (directory / name).write_bytes(content)
        return directory


class Recorder:
    """A subscriber of commit events that copies the files at each commit."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.snapshots: list[Snapshot] = []

    def __call__(self, changes: Sequence[CommitEvent]) -> None:
        durable = max([0, *(c.head.last_sequence for c in changes if c.head is not None and c.key == KEY)])
        durable = max(durable, self.snapshots[-1].durable if self.snapshots else 0)
        self.snapshots.append(Snapshot(durable, *((self._directory / name).read_bytes() for name in FILES)))


def text(n: int) -> str:
    return f"message {n} " + "x" * (n * 977 % 9000)


def opened(directory: Path, checkpoint_bytes: int = 1 << 30) -> SqliteJournal:
    return SqliteJournal(directory, read_connections=1, checkpoint_bytes=checkpoint_bytes, ballast_bytes=0)


def record(directory: Path, checkpoint_bytes: int, messages: int) -> list[Snapshot]:
    with closing(opened(directory, checkpoint_bytes)) as journal:
        recorder = Recorder(directory)
        journal.subscribe(recorder)
        for n in range(1, messages + 1):
            append(journal, draft(text(n), message_id=f"m{n}"))
            if n % 20 == 0:
                update_window(journal, n - 1)
                execute(journal, SetPolicy(SCRATCH, "", Policy(auto_prune_tokens=n)))
                append(journal, draft("scratch"), key=SCRATCH)
                erase(journal, key=SCRATCH)
    return recorder.snapshots


@pytest.fixture(scope="module", params=[1 << 30, MANY_CHECKPOINTS], ids=["no checkpoints", "many checkpoints"])
def snapshots(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Snapshot]:
    return record(tmp_path_factory.mktemp("power") / "data", request.param, 50)


def check(directory: Path, durable: int, all_messages: int) -> None:
    """Check that the journal opens with all durable messages, and possibly later ones, whole and in order."""
    with closing(opened(directory)) as journal:
        found = contents(journal, limit=1 << 30, include_pruned=True, max_bytes=1 << 30)
        head = known_head(journal)
        assert durable <= len(found) <= all_messages
        assert found == [text(n) for n in range(1, len(found) + 1)]
        assert head.last_sequence == len(found) and head.message_count + head.pruned_count == len(found)
        append(journal, draft("the next message"))
        assert known_head(journal).last_sequence == len(found) + 1


def transitions(snapshots: Sequence[Snapshot]) -> Iterator[tuple[Snapshot, Snapshot]]:
    """Return pairs of neighbouring snapshots: a power loss could tear their difference."""
    yield from pairwise(snapshots)


def mixed(old: bytes, new: bytes, pick: Callable[[bytes, bytes], bytes]) -> bytes:
    """Return the new content; in sectors that differ, `pick` decides from the first different byte on."""
    size = max(len(old), len(new))
    old, new, sectors = old.ljust(size, b"\0"), new.ljust(size, b"\0"), []
    for at in range(0, size, SECTOR_BYTES):
        before, after = old[at : at + SECTOR_BYTES], new[at : at + SECTOR_BYTES]
        same = len(before) if before == after else first_difference(before, after)
        sectors.append(after[:same] + pick(before[same:], after[same:]))
    return b"".join(sectors)


def first_difference(left: bytes, right: bytes) -> int:
    return next(at for at, (old, new) in enumerate(zip(left, right, strict=True)) if old != new)


def torn(before: Snapshot, after: Snapshot, wal: bytes) -> Snapshot:
    """Return the state with a torn log; the main file is synced before a write to the log, so it is the later one."""
    return Snapshot(before.durable, after.db, wal, before.mark)


def test_the_log_may_be_cut_at_any_byte_after_the_last_fsync(snapshots: list[Snapshot], tmp_path: Path) -> None:
    random_source = random.Random(1)
    for at, (before, after) in enumerate(transitions(snapshots)):
        if len(after.wal) <= len(before.wal):
            continue
        cut = random_source.randint(len(before.wal), len(after.wal))
        directory = torn(before, after, after.wal[:cut]).write_to(tmp_path / f"cut-{at}")
        check(directory, before.durable, after.durable)


def test_the_log_may_hold_garbage_after_the_last_fsync(snapshots: list[Snapshot], tmp_path: Path) -> None:
    random_source = random.Random(2)
    for at, (before, after) in enumerate(transitions(snapshots)):
        if len(after.wal) <= len(before.wal):
            continue
        cut = random_source.randint(len(before.wal), len(after.wal))
        garbage = random_source.randbytes(random_source.randint(1, 20_000))
        directory = torn(before, after, after.wal[:cut] + garbage).write_to(tmp_path / f"garbage-{at}")
        check(directory, before.durable, after.durable)


def test_a_flipped_bit_after_the_last_fsync_loses_only_unacknowledged_messages(
    snapshots: list[Snapshot], tmp_path: Path
) -> None:
    random_source = random.Random(3)
    for at, (before, after) in enumerate(transitions(snapshots)):
        if len(after.wal) <= len(before.wal):
            continue
        wal = bytearray(after.wal)
        wal[random_source.randrange(len(before.wal), len(after.wal))] ^= 1 << random_source.randrange(8)
        check(torn(before, after, bytes(wal)).write_to(tmp_path / f"flip-{at}"), before.durable, after.durable)


def test_sectors_may_reach_the_disk_in_any_order(snapshots: list[Snapshot], tmp_path: Path) -> None:
    """A restarted log overwrites its old frames in place, so that old, new and garbage sectors may alternate there."""
    random_source = random.Random(4)

    def pick(old: bytes, new: bytes) -> bytes:
        return random_source.choice([old, new, new, random_source.randbytes(len(new))])

    for at, (before, after) in enumerate(transitions(snapshots)):
        if not after.wal:
            continue
        wal = mixed(before.wal, after.wal, pick)
        check(torn(before, after, wal).write_to(tmp_path / f"sectors-{at}"), before.durable, after.durable)


def checkpointed(snapshot: Snapshot, directory: Path) -> bytes:
    """Return the main file after a checkpoint of the whole log."""
    with closing(sqlite3.connect(snapshot.write_to(directory) / FILES[0])) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return (directory / FILES[0]).read_bytes()


def test_a_checkpoint_may_be_torn_at_any_sector(tmp_path: Path) -> None:
    """While a checkpoint writes the main file, the log is whole and synced.

    A purge adds to the log after the first snapshot, and has a checkpoint of its own: these are left out here.
    """
    random_source = random.Random(5)

    def pick(old: bytes, new: bytes) -> bytes:
        return random_source.choice([old, new])

    snapshots = record(tmp_path / "data", MANY_CHECKPOINTS, 50)
    written = [(before, after) for before, after in transitions(snapshots) if before.db != after.db and before.wal]
    checkpoints = [
        (before, after)
        for at, (before, after) in enumerate(written)
        if checkpointed(before, tmp_path / f"whole-{at}") == after.db
    ]
    assert len(checkpoints) >= 5, "there were no checkpoints"
    for at, (before, after) in enumerate(checkpoints):
        db = mixed(before.db, after.db, pick)
        directory = Snapshot(before.durable, db, before.wal, before.mark).write_to(tmp_path / f"checkpoint-{at}")
        check(directory, before.durable, before.durable)


def test_an_old_mark_file_is_accepted(snapshots: list[Snapshot], tmp_path: Path) -> None:
    for at, (before, after) in enumerate(transitions(snapshots)):
        directory = Snapshot(after.durable, after.db, after.wal, before.mark).write_to(tmp_path / f"mark-{at}")
        check(directory, after.durable, after.durable)
