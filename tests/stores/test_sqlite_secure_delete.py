"""Secure deletion: erased text is in no file."""

import random
import signal
from pathlib import Path
from threading import Event

import pytest

from memsidecar.domain.errors import DiskFull
from memsidecar.domain.session import Policy, SessionKey
from memsidecar.stores.contract import (
    EraseUser,
    Journal,
    SetPolicy,
    UpdateMessage,
)
from memsidecar.stores.sqlite import secure_delete
from memsidecar.stores.sqlite.integrity import examine
from memsidecar.stores.sqlite.wal import Checkpointer
from memsidecar.v1 import message_pb2
from tests.conformance.builders import (
    KEY,
    append,
    contents,
    draft,
    erase,
    execute,
    forget,
    read,
    scored,
    shortened,
    update_message,
    update_window,
)
from tests.stores.directories import OTHER, another_process, bytes_of, opened

LEAKY_SEEDS = [20, 21, 22, 23, 28, 35]


def write_all_versions(journal: Journal, key: SessionKey, secret: str, messages: int) -> None:
    """Append messages; annotate some, shorten some once or twice, prune some. Each version has the secret."""
    for number in range(messages):
        message = draft(
            f"{secret} body {number}", message_id=f"{secret} id {number}", vector=f"{secret} vector".encode()
        )
        append(journal, message, key=key)
    for number in range(0, messages, 3):
        execute(journal, UpdateMessage(key, "", f"{secret} id {number}", scored(number, f"{secret} mark")))
    for length in (20, 10):
        window = read(journal, key)[: messages // 2]
        update_window(
            journal, shortened=[shortened(stored, f"{secret} short {length}", length) for stored in window], key=key
        )
    for number in range(0, messages, 5):
        execute(journal, UpdateMessage(key, "", f"{secret} id {number}", scored(number, f"{secret} again")))
    update_window(journal, *range(1, messages // 3), key=key)


@pytest.mark.parametrize("delete_session", [True, False])
def test_erased_text_is_in_no_file(folder: Path, delete_session: bool) -> None:
    with opened(folder) as journal:
        append(journal, draft("kept"), key=OTHER)
        write_all_versions(journal, KEY, "S3CRET", 60)
        execute(journal, SetPolicy(KEY, "", Policy(model="S3CRET model")))
        assert b"S3CRET" in bytes_of(folder)
        execute(journal, SetPolicy(KEY, "", None))
        erase(journal, delete_session=delete_session)
        assert b"S3CRET" not in bytes_of(folder)
        assert contents(journal, OTHER) == ["kept"]
    assert b"S3CRET" not in bytes_of(folder)


def test_text_of_a_forgotten_message_is_in_no_file(folder: Path) -> None:
    with opened(folder) as journal:
        append(journal, *(draft(f"beside {number}") for number in range(20)))
        write_all_versions(journal, OTHER, "S3CRET", 60)
        ids = [f"S3CRET id {number}" for number in range(60)]
        assert b"S3CRET" in bytes_of(folder)
        for start in range(0, 60, 7):
            forget(journal, *ids[start : start + 7], key=OTHER)
        assert b"S3CRET" not in bytes_of(folder)
        assert contents(journal) == [f"beside {number}" for number in range(20)]
    assert examine(folder) == []


@pytest.mark.long
@pytest.mark.parametrize("seed", LEAKY_SEEDS)
def test_text_stored_beside_a_forgotten_message_is_in_no_file_after_its_own_erasure(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    key = SessionKey("default", "k1z")
    with opened(folder) as journal:
        for step in range(8):
            for number in range(chance.randint(1, 20)):
                append_random_messages(journal, key, f"{step}/{number}", chance)
            secrets = [message_pb2.Message.FromString(each.body).id for each in read(journal, key, include_pruned=True)]
            forget(journal, *chance.sample(secrets, chance.randint(1, len(secrets))), key=key)
        erase(journal, key=key)
        assert b"S3CRET" not in bytes_of(folder)


@pytest.mark.long
@pytest.mark.parametrize("seed", LEAKY_SEEDS)
def test_text_stored_beside_erased_text_is_in_no_file_after_its_own_erasure(folder: Path, seed: int) -> None:
    """SQLite merges pages after deletions and leaves copies of moved rows. With these seeds it did so."""
    chance = random.Random(seed)
    keys = [SessionKey("default", f"k{number}z") for number in range(chance.randint(2, 12))]
    with opened(folder) as journal:
        for step in range(14):
            for number in range(chance.randint(1, 60)):
                append_random_messages(journal, chance.choice(keys), f"{step}/{number}", chance)
            key = chance.choice(keys)
            erase(journal, key=key)
            assert f"{key.session_id} S3CRET".encode() not in bytes_of(folder)


def append_random_messages(journal: Journal, key: SessionKey, name: str, chance: random.Random) -> None:
    secret = f"{key.session_id} S3CRET"
    sizes = [chance.choice([1, 10, 100, 700, 1_500, 3_000, 9_000]) for _ in range(chance.randint(1, 9))]
    append(
        journal,
        *(draft(f"{secret} {'y' * size}", message_id=f"{secret} {name} {place}") for place, size in enumerate(sizes)),
        key=key,
    )


def test_an_annotation_leaves_no_copy_of_the_replaced_body(folder: Path) -> None:
    with opened(folder) as journal:
        append(journal, draft("a"))
        update_message(journal, "a", scored(1, "0LDMARK"))
        update_message(journal, "a", lambda stored: scored(2)(stored._replace(body=b"")))
    assert b"0LDMARK" not in (folder / "journal.db").read_bytes()


ERASE_AND_DIE = """
import os, signal, sys
from pathlib import Path
from memsidecar.stores.contract import Append, Erase, PendingCommand
from memsidecar.stores.sqlite.journal import SqliteJournal
from tests.conformance.builders import KEY, append, draft
from tests.stores.directories import OTHER

journal = SqliteJournal(Path(sys.argv[1]))
die = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
append(journal, draft("kept"), key=OTHER)
append(journal, *(draft(f"S3CRET {number}") for number in range(2_000)))
print("ready", flush=True)
if sys.stdin.readline() == "before the first step\\n":
    journal.subscribe(die)
    journal.submit(PendingCommand(Erase(KEY, ""), die))
else:
    # Groups alternate with steps of the purge: between the results of these two is at least one step, and not the last.
    second = PendingCommand(Append(OTHER, "", [draft("second")]), die)
    first = PendingCommand(Append(OTHER, "", [draft("first")]), lambda _: journal.submit(second))
    journal.submit(PendingCommand(Erase(KEY, ""), lambda _: None))
    journal.submit(first)
sys.stdin.read()
"""


FORGET_AND_DIE = (
    ERASE_AND_DIE.replace(
        'Erase(KEY, "")', 'ForgetMessages(KEY, "", [f"S3CRET {number}" for number in range(1_999)], DERIVATIONS)'
    )
    .replace("import Append, Erase,", "import Append, ForgetMessages,")
    .replace("import KEY,", "import DERIVATIONS, KEY,")
)


@pytest.mark.parametrize("moment", ["before the first step", "between two steps"])
def test_a_purge_of_messages_continues_after_a_kill(folder: Path, moment: str) -> None:
    with another_process(FORGET_AND_DIE, folder) as process:
        assert process.stdin is not None
        process.stdin.write(f"{moment}\n")
        process.stdin.flush()
        assert process.wait() == -signal.SIGKILL
    assert b"S3CRET 7" in bytes_of(folder)
    with opened(folder) as journal:
        assert contents(journal) == ["S3CRET 1999"]
    # Closing finishes the purge.
    assert bytes_of(folder).count(b"S3CRET") == bytes_of(folder).count(b"S3CRET 1999")
    assert examine(folder) == []


@pytest.mark.parametrize("moment", ["before the first step", "between two steps"])
def test_a_purge_continues_after_a_kill(folder: Path, moment: str) -> None:
    with another_process(ERASE_AND_DIE, folder) as process:
        assert process.stdin is not None
        process.stdin.write(f"{moment}\n")
        process.stdin.flush()
        assert process.wait() == -signal.SIGKILL
    assert b"S3CRET" in bytes_of(folder)
    with opened(folder) as journal:
        assert contents(journal) == []
    # Closing finishes the purge.
    assert b"S3CRET" not in bytes_of(folder)
    with opened(folder) as journal:
        assert contents(journal, OTHER)[0] == "kept"
        assert append(journal, draft("continued")).results[0].sequence == 2_001


def test_an_erasure_that_finds_no_space_is_refused_and_completed_by_the_next_call(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The write-ahead log cannot be truncated while its pages do not fit into the main file."""
    is_full = Event()
    run = Checkpointer._run

    def run_unless_full(checkpointer: Checkpointer, mode: str) -> tuple[bool, int]:
        if is_full.is_set():
            raise DiskFull
        return run(checkpointer, mode)

    monkeypatch.setattr(Checkpointer, "_run", run_unless_full)
    monkeypatch.setattr(secure_delete, "MAX_WAIT_SECONDS", 0.0)
    with opened(folder) as journal:
        append(journal, draft("S3CRET"), user_id="ann")
        is_full.set()
        with pytest.raises(DiskFull, match="erased, but"):
            execute(journal, EraseUser("default", "ann"))
        assert contents(journal) == []
        assert b"S3CRET" in bytes_of(folder), "in the write-ahead log"
        append(journal, draft("kept"), key=OTHER)
        is_full.clear()
        assert not any(execute(journal, EraseUser("default", "ann")).counts)
        assert b"S3CRET" not in bytes_of(folder)
        assert contents(journal, OTHER) == ["kept"]
