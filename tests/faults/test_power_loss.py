"""Power loss, modelled: of what was written since the last fsync any sector may be old, new or garbage.

The files are taken on the journal's own thread, right after each fsync and before its answer, so what lies between two
such moments is exactly what a power loss between them could tear. The mark is never newer than the first of the two,
because it is only written after the fsync.
"""

import random
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
SCRATCH = SessionKey("default", "scratch")
FILES = ("journal.db", "journal.db-wal", "journal.mark")


@dataclass(frozen=True)
class Moment:
    """The files after one fsync, and how many messages were durable then."""

    durable: int
    db: bytes
    wal: bytes
    mark: bytes

    def put(self, directory: Path) -> Path:
        directory.mkdir()
        for name, content in zip(FILES, (self.db, self.wal, self.mark), strict=True):
            (directory / name).write_bytes(content)
        return directory


class Recorder:
    """A journal's listener that takes the files at each commit."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.moments: list[Moment] = []

    def __call__(self, changes: Sequence[CommitEvent]) -> None:
        durable = max([0, *(c.head.last_sequence for c in changes if c.head is not None and c.key == KEY)])
        durable = max(durable, self.moments[-1].durable if self.moments else 0)
        self.moments.append(Moment(durable, *((self._directory / name).read_bytes() for name in FILES)))


def text(n: int) -> str:
    return f"message {n} " + "x" * (n * 977 % 9000)


def opened(directory: Path, checkpoint_bytes: int = 1 << 30) -> SqliteJournal:
    return SqliteJournal(directory, read_connections=1, checkpoint_bytes=checkpoint_bytes, ballast_bytes=0)


def record(directory: Path, checkpoint_bytes: int, messages: int) -> list[Moment]:
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
    return recorder.moments


@pytest.fixture(scope="module", params=[1 << 30, 64 << 10], ids=["log never folded", "log folded again and again"])
def moments(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Moment]:
    return record(tmp_path_factory.mktemp("power") / "data", request.param, 50)


def check(directory: Path, durable: int, all_messages: int) -> None:
    """The store opens, and holds what was durable and beyond it only whole messages in their order."""
    with closing(opened(directory)) as journal:
        found = contents(journal, limit=1 << 30, include_pruned=True, max_bytes=1 << 30)
        head = known_head(journal)
        assert durable <= len(found) <= all_messages
        assert found == [text(n) for n in range(1, len(found) + 1)]
        assert head.last_sequence == len(found) and head.message_count + head.pruned_count == len(found)
        append(journal, draft("the next one"))
        assert known_head(journal).last_sequence == len(found) + 1


def transitions(moments: Sequence[Moment]) -> Iterator[tuple[Moment, Moment]]:
    """Neighbouring moments: between them lies what a power loss could tear."""
    yield from pairwise(moments)


def mixed(old: bytes, new: bytes, pick: Callable[[bytes, bytes], bytes]) -> bytes:
    """Where the two differ, each sector as `pick` decides, from the first byte that was being written on."""
    size = max(len(old), len(new))
    old, new, sectors = old.ljust(size, b"\0"), new.ljust(size, b"\0"), []
    for at in range(0, size, SECTOR_BYTES):
        before, after = old[at : at + SECTOR_BYTES], new[at : at + SECTOR_BYTES]
        same = len(before) if before == after else first_difference(before, after)
        sectors.append(after[:same] + pick(before[same:], after[same:]))
    return b"".join(sectors)


def first_difference(one: bytes, other: bytes) -> int:
    return next(at for at, (left, right) in enumerate(zip(one, other, strict=True)) if left != right)


def torn(before: Moment, after: Moment, wal: bytes) -> Moment:
    """Before the log is written to, the file is synced: it is whole as of the later moment."""
    return Moment(before.durable, after.db, wal, before.mark)


def test_the_log_may_be_cut_at_any_byte_after_the_last_fsync(moments: list[Moment], tmp_path: Path) -> None:
    chance = random.Random(1)
    for at, (before, after) in enumerate(transitions(moments)):
        if len(after.wal) <= len(before.wal):
            continue
        cut = chance.randint(len(before.wal), len(after.wal))
        directory = torn(before, after, after.wal[:cut]).put(tmp_path / f"cut-{at}")
        check(directory, before.durable, after.durable)


def test_the_log_may_hold_garbage_after_the_last_fsync(moments: list[Moment], tmp_path: Path) -> None:
    chance = random.Random(2)
    for at, (before, after) in enumerate(transitions(moments)):
        if len(after.wal) <= len(before.wal):
            continue
        cut = chance.randint(len(before.wal), len(after.wal))
        garbage = chance.randbytes(chance.randint(1, 20_000))
        directory = torn(before, after, after.wal[:cut] + garbage).put(tmp_path / f"garbage-{at}")
        check(directory, before.durable, after.durable)


def test_a_flipped_bit_after_the_last_fsync_costs_only_what_was_not_acknowledged(
    moments: list[Moment], tmp_path: Path
) -> None:
    chance = random.Random(3)
    for at, (before, after) in enumerate(transitions(moments)):
        if len(after.wal) <= len(before.wal):
            continue
        wal = bytearray(after.wal)
        wal[chance.randrange(len(before.wal), len(after.wal))] ^= 1 << chance.randrange(8)
        check(torn(before, after, bytes(wal)).put(tmp_path / f"flip-{at}"), before.durable, after.durable)


def test_sectors_may_reach_the_disk_in_any_order(moments: list[Moment], tmp_path: Path) -> None:
    """A log that starts over overwrites its old frames in place: there, too, old, new and garbage may alternate."""
    chance = random.Random(4)

    def pick(old: bytes, new: bytes) -> bytes:
        return chance.choice([old, new, new, chance.randbytes(len(new))])

    for at, (before, after) in enumerate(transitions(moments)):
        if not after.wal:
            continue
        wal = mixed(before.wal, after.wal, pick)
        check(torn(before, after, wal).put(tmp_path / f"sectors-{at}"), before.durable, after.durable)


def test_a_checkpoint_may_be_torn_at_any_sector(moments: list[Moment], tmp_path: Path) -> None:
    """While the file is written to, the log is whole and synced."""
    chance = random.Random(5)

    def pick(old: bytes, new: bytes) -> bytes:
        return chance.choice([old, new])

    checkpoints = [(before, after) for before, after in transitions(moments) if before.db != after.db and before.wal]
    assert checkpoints, "nothing was ever folded into the file"
    for at, (before, after) in enumerate(checkpoints):
        db = mixed(before.db, after.db, pick)
        directory = Moment(before.durable, db, before.wal, before.mark).put(tmp_path / f"checkpoint-{at}")
        check(directory, before.durable, before.durable)


def test_a_mark_older_than_the_journal_is_no_damage(moments: list[Moment], tmp_path: Path) -> None:
    for at, (before, after) in enumerate(transitions(moments)):
        directory = Moment(after.durable, after.db, after.wal, before.mark).put(tmp_path / f"mark-{at}")
        check(directory, after.durable, after.durable)
