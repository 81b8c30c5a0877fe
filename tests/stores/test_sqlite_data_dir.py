"""The data directory: its lock, its ballast, migrations of its file, and damage."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from memsidecar.domain.errors import DataCorrupted, StartRefused
from memsidecar.domain.session import Policy, SessionKey, Strategy
from memsidecar.stores.contract import (
    AddDeadLetter,
    AdvanceWatermark,
    Calibrate,
    Calibration,
    Command,
    RecordKind,
    SetPolicy,
)
from memsidecar.stores.sqlite import migrations
from memsidecar.stores.sqlite.integrity import examine
from tests.conformance.builders import (
    ANN,
    KEY,
    append,
    contents,
    draft,
    erase,
    execute,
    known_head,
    new_record,
    put,
    read,
    shortened,
    update_window,
    upsert,
    upsert_command,
)
from tests.stores.directories import another_process, opened
from tests.stores.schema_downgrade import (
    VERSION_2,
    downgrade_to_version_2,
    downgrade_to_version_4,
    downgrade_to_version_5,
    downgrade_to_version_6,
    downgrade_to_version_7,
    statements_of,
)

PAGE = 4_096

HOLD = """
import sys
from pathlib import Path
from memsidecar.stores.sqlite.journal import SqliteJournal
journal = SqliteJournal(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.read()
"""


def fill(folder: Path, messages: int = 200) -> None:
    """Write a journal of many pages and close it, so that all of it is in the main file."""
    with opened(folder) as journal:
        append(journal, *(draft(f"message {n} {'x' * 500}", message_id=f"m{n}") for n in range(messages)))


def copy_of_a_crash(folder: Path, messages: int = 30) -> Path:
    """Return a copy of the files of an open journal, with a write-ahead log, as SIGKILL leaves them."""
    crashed = folder.with_name("crashed")
    with opened(folder) as journal:
        for number in range(messages):
            append(journal, draft(f"message {number} {'x' * 300}", message_id=f"m{number}"))
        shutil.copytree(folder, crashed)
    return crashed


def test_a_second_process_is_refused_with_the_process_id_of_the_first(folder: Path) -> None:
    with (
        another_process(HOLD, folder) as holder,
        pytest.raises(StartRefused, match=f"process {holder.pid}"),
        opened(folder),
    ):
        pass


def test_the_lock_is_released_when_its_process_is_killed(folder: Path) -> None:
    with another_process(HOLD, folder):
        pass
    with opened(folder) as journal:
        append(journal, draft("a"))


def test_the_lock_is_released_after_a_refused_start(folder: Path) -> None:
    fill(folder)
    intact = (folder / "journal.db").read_bytes()
    (folder / "journal.db").write_bytes(b"no database" * 1_000)
    with pytest.raises(DataCorrupted), opened(folder):
        pass
    (folder / "journal.db").write_bytes(intact)
    with opened(folder) as journal:
        assert len(contents(journal)) == 200


@pytest.mark.parametrize("pragma", ["user_version = 0", f"user_version = {migrations.NEWEST}", "application_id = 99"])
def test_another_programs_file_is_refused_and_not_changed(folder: Path, pragma: str) -> None:
    folder.mkdir()
    with closing(sqlite3.connect(folder / "journal.db")) as foreign:
        foreign.execute("CREATE TABLE theirs(x)")
        foreign.execute(f"PRAGMA {pragma}")
    before = (folder / "journal.db").read_bytes()
    with pytest.raises(StartRefused, match="not a memsidecar journal"), opened(folder):
        pass
    assert (folder / "journal.db").read_bytes() == before


def test_a_refused_start_creates_no_ballast(folder: Path) -> None:
    folder.mkdir()
    (folder / "journal.db").write_bytes(b"the file of another program, not a database")
    with pytest.raises(DataCorrupted), opened(folder, ballast_bytes=PAGE):
        pass
    assert not (folder / "ballast").exists()


def test_writes_go_on_with_a_directory_in_place_of_the_ballast(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    (folder / "ballast").mkdir(parents=True)
    for size in (PAGE, 0, PAGE):
        with opened(folder, ballast_bytes=size) as journal:
            append(journal, draft("one"), draft("two"))
            append(journal, draft("three"))
    warnings = [record.getMessage() for record in caplog.records if "cannot be removed" in record.getMessage()]
    assert 1 <= len(warnings) <= 3, "not with each commit"


def test_the_ballast_survives_a_restart_and_has_the_configured_size(folder: Path) -> None:
    for size in (4 * PAGE, 4 * PAGE, PAGE, 0):
        with opened(folder, ballast_bytes=size) as journal:
            append(journal, draft(f"ballast of {size}"))
        ballast = folder / "ballast"
        assert (ballast.stat().st_size if ballast.exists() else 0) == size


def test_a_file_of_a_newer_version_is_refused(folder: Path) -> None:
    fill(folder)
    with closing(sqlite3.connect(folder / "journal.db")) as newer:
        newer.execute("PRAGMA user_version = 99")
    with pytest.raises(StartRefused, match="newer memsidecar"), opened(folder):
        pass


def test_a_file_of_a_development_version_is_refused_and_not_changed(folder: Path) -> None:
    fill(folder)
    with closing(sqlite3.connect(folder / "journal.db")) as older:
        older.execute("PRAGMA user_version = 1")
    before = (folder / "journal.db").read_bytes()
    with pytest.raises(StartRefused, match=r"journal\.db was written by a development version"), opened(folder):
        pass
    assert (folder / "journal.db").read_bytes() == before
    (finding,) = examine(folder)
    assert "development version" in finding


def test_a_file_of_an_earlier_version_is_migrated_version_by_version(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(folder)
    last = migrations.NEWEST + 2
    later = {last - 1: "CREATE TABLE earlier(x);", last: "CREATE TABLE later(x);"}
    monkeypatch.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS | later)
    monkeypatch.setattr(migrations, "NEWEST", last)
    with opened(folder) as journal:
        assert len(contents(journal)) == 200
    with closing(sqlite3.connect(folder / "journal.db")) as current:
        assert current.execute("PRAGMA user_version").fetchone() == (last,)
        assert current.execute("SELECT count(*) FROM earlier, later").fetchone() == (0,)


def test_a_new_file_has_the_tables_of_a_migrated_one() -> None:
    with closing(sqlite3.connect(":memory:")) as new, closing(sqlite3.connect(":memory:")) as migrated:
        migrated.executescript(f"{VERSION_2} PRAGMA user_version = 2;")
        for connection in (new, migrated):
            migrations.migrate(connection)
            assert connection.execute("PRAGMA user_version").fetchone() == (migrations.NEWEST,)
        assert statements_of(new) == statements_of(migrated)


def test_a_migration_of_a_file_without_records_keeps_all_rows(folder: Path) -> None:
    policy = Policy(auto_prune_tokens=1_000, strategy=Strategy.TURNS, model="gpt-4")
    with opened(folder) as journal:
        append(journal, draft("written"))
        put(journal, "text", title="T")
        execute(journal, AdvanceWatermark("index", "default", 2))
        execute(journal, SetPolicy(KEY, "", policy))
    downgrade_to_version_2(folder)
    assert examine(folder) == []
    with opened(folder) as journal:
        assert contents(journal) == ["written"]
        assert put(journal, "text", title="T").unchanged
        assert journal.watermark("index", "default") == 2
        assert known_head(journal).policy == policy, "no policy of that version enables summaries"
        upsert(journal, new_record("kept"))
        execute(journal, SetPolicy(KEY, "", replace(policy, summarize=True)))
        assert append(journal, draft("continued")).results[0].sequence == 2
    assert examine(folder) == []
    with opened(folder) as journal, closing(sqlite3.connect(folder / "journal.db")) as current:
        assert journal.record(ANN, RecordKind.ARTIFACT, "n1") == new_record("kept")
        assert known_head(journal).policy == replace(policy, summarize=True)
        assert current.execute("PRAGMA user_version").fetchone() == (migrations.NEWEST,)


def fill_every_table(folder: Path) -> None:
    """Write rows in each table that was renamed, an unfinished purge included."""
    with opened(folder) as journal:
        append(journal, draft("first"), draft("second", message_id="m2"), user_id="ann")
        update_window(journal, shortened=[shortened(read(journal)[0], "short", 1)])
        put(journal, "text", title="T")
        put(journal, "text", title="another title")
        upsert(journal, new_record("kept", source="s1"))
        execute(journal, AddDeadLetter("index", "default", 2, "Reason"))
        append(journal, draft("elsewhere"), key=SessionKey("elsewhere", "s1"))
        erase(journal, key=SessionKey("elsewhere", "s1"), delete_session=True)
    with closing(sqlite3.connect(folder / "journal.db")) as connection:
        connection.execute("INSERT INTO erased_sessions VALUES (99)")
        connection.commit()


def check_every_table(folder: Path, last_lsn: int) -> None:
    with opened(folder) as journal, closing(sqlite3.connect(folder / "journal.db")) as current:
        assert contents(journal) == ["short", "second"]
        assert put(journal, "text", title="another title").unchanged
        assert journal.record(ANN, RecordKind.ARTIFACT, "n1") == new_record("kept", source="s1")
        assert [letter.reason for letter in journal.dead_letters("index")] == ["Reason"]
        assert (journal.last_lsns()["elsewhere"], journal.log_end("elsewhere")) == (last_lsn, last_lsn)
        assert append(journal, draft("third")).results[0].sequence == 3
        assert append(journal, draft("second", message_id="m2")).results[0].sequence == 2, "the id is still found"
        assert current.execute("PRAGMA user_version").fetchone() == (migrations.NEWEST,)
    with opened(folder), closing(sqlite3.connect(folder / "journal.db")) as current:
        assert current.execute("SELECT count(*) FROM erased_sessions").fetchone() == (0,), "it was purged meanwhile"
    assert examine(folder) == []


@pytest.mark.parametrize(
    "downgrade", [downgrade_to_version_4, downgrade_to_version_5, downgrade_to_version_6, downgrade_to_version_7]
)
def test_a_migration_keeps_all_rows(folder: Path, downgrade: Callable[[Path], None]) -> None:
    fill_every_table(folder)
    with opened(folder) as journal:
        last_lsn = journal.log_end("default")
    downgrade(folder)
    assert examine(folder) == []
    check_every_table(folder, last_lsn)


def test_the_task_of_large_messages_continues_where_the_task_of_all_messages_was(folder: Path) -> None:
    with opened(folder) as journal:
        append(journal, draft("one"), draft("two"))
        execute(journal, AdvanceWatermark("semantic.facts", "default", 2))
        execute(journal, AddDeadLetter("semantic.facts", "default", 1, "Reason"))
        execute(journal, AddDeadLetter("semantic.facts/harmless", "default", 2, "attempt"))
    downgrade_to_version_6(folder)
    with opened(folder) as journal:
        for task in ("semantic.facts", "semantic.facts.large"):
            assert journal.watermark(task, "default") == 2
            assert [letter.lsn for letter in journal.dead_letters(task)] == [1]
            assert [letter.lsn for letter in journal.dead_letters(f"{task}/harmless")] == [2]


@pytest.mark.parametrize("done", range(1, migrations.VERSION_5.count("ALTER TABLE")))
def test_a_migration_that_is_killed_while_renaming_is_rolled_back(folder: Path, done: int) -> None:
    fill_every_table(folder)
    with opened(folder) as journal:
        last_lsn = journal.log_end("default")
    downgrade_to_version_4(folder)
    statements = migrations.VERSION_5.split(";\n")
    first = next(at for at, statement in enumerate(statements) if statement.startswith("ALTER"))
    with closing(sqlite3.connect(folder / "journal.db")) as killed:
        killed.executescript(f"BEGIN IMMEDIATE;{';'.join(statements[: first + done])};")
    assert examine(folder) == []
    check_every_table(folder, last_lsn)


def test_a_start_that_was_killed_before_it_created_tables_is_repeated(folder: Path) -> None:
    folder.mkdir()
    with closing(sqlite3.connect(folder / "journal.db")) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    with opened(folder) as journal:
        append(journal, draft("a"))


@pytest.mark.parametrize("name", ["lock", "journal.mark"])
def test_a_file_that_cannot_be_written_is_refused_by_name(folder: Path, name: str) -> None:
    (folder / name).mkdir(parents=True)
    with pytest.raises(StartRefused, match=f"cannot write .*/{name}: "), opened(folder):
        pass


def test_a_start_that_was_killed_before_it_had_a_write_ahead_log_is_repeated(folder: Path) -> None:
    """It leaves a rollback journal, which a read-only connection cannot roll back."""
    creating = folder.with_name("creating")
    creating.mkdir()
    with closing(sqlite3.connect(creating / "journal.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN")
        connection.execute("CREATE TABLE unfinished(content)")
        connection.execute("INSERT INTO unfinished VALUES (zeroblob(100000))")
        shutil.copytree(creating, folder)
    assert (folder / "journal.db").stat().st_size and (folder / "journal.db-journal").stat().st_size
    with opened(folder) as journal:
        append(journal, draft("hello"))
    with opened(folder) as journal:
        assert contents(journal) == ["hello"]


def test_acknowledged_messages_are_present_after_a_crash(folder: Path) -> None:
    with opened(copy_of_a_crash(folder)) as journal:
        assert [stored.sequence for stored in read(journal)] == list(range(1, 31))


def damage_header(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[:64] = bytes(64)
    path.write_bytes(content)


def zero_a_page_in_the_middle(path: Path) -> None:
    content = bytearray(path.read_bytes())
    middle = len(content) // PAGE // 2 * PAGE
    content[middle : middle + PAGE] = bytes(PAGE)
    path.write_bytes(content)


def cut_in_half(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // PAGE // 2 * PAGE])


def cut_to_nothing(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize(
    "damage",
    [damage_header, zero_a_page_in_the_middle, cut_in_half, cut_to_nothing, Path.unlink],
    ids=lambda f: f.__name__,
)
def test_a_damaged_file_is_refused_by_name(folder: Path, damage: Callable[[Path], None]) -> None:
    fill(folder)
    damage(folder / "journal.db")
    with pytest.raises(DataCorrupted, match=r"journal\.db") as refused, opened(folder):
        pass
    assert refused.value.file == str(folder / "journal.db")


def test_a_message_with_changed_bytes_is_not_returned(folder: Path) -> None:
    fill(folder)
    path = folder / "journal.db"
    path.write_bytes(path.read_bytes().replace(b"message 77 xxx", b"message 77 xyx"))
    with opened(folder) as journal:
        with pytest.raises(DataCorrupted, match="checksum"):
            contents(journal)
        assert len(contents(journal, before=70)) == 69


def test_a_write_ahead_log_damaged_in_the_middle_is_refused_and_not_changed(folder: Path) -> None:
    crashed = copy_of_a_crash(folder)
    path = crashed / "journal.db-wal"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(DataCorrupted, match="was acknowledged") as refused, opened(crashed):
        pass
    assert refused.value.file == str(crashed / "journal.db")
    assert path.read_bytes() == content


def test_a_write_ahead_log_that_is_missing_is_refused(folder: Path) -> None:
    crashed = copy_of_a_crash(folder)
    (crashed / "journal.db-wal").unlink()
    with pytest.raises(DataCorrupted), opened(crashed):
        pass


UNLOGGED: dict[str, Command] = {
    "a policy": SetPolicy(KEY, "", Policy(auto_prune_tokens=100)),
    "a calibration": Calibrate("default", "m", lambda now: Calibration(now.factor, now.reports + 1)),
    "a record": upsert_command(new_record()),
    "a watermark": AdvanceWatermark("task", "default", 3),
}


@pytest.mark.parametrize("last", UNLOGGED)
def test_a_truncated_write_ahead_log_is_refused_when_a_commit_without_log_entry_is_lost(
    folder: Path, last: str
) -> None:
    """Some acknowledged commits add no log entry; the mark file counts them, too."""
    crashed = folder.with_name("crashed")
    with opened(folder) as journal:
        append(journal, draft("hello"))
        for lsn in (1, 2):
            execute(journal, AdvanceWatermark("another", "default", lsn))
    with opened(folder) as journal:  # the count continues from the previous process
        execute(journal, UNLOGGED[last])
        shutil.copytree(folder, crashed)
    shutil.copytree(crashed, intact := folder.with_name("whole"))
    with opened(intact):
        pass
    path = crashed / "journal.db-wal"
    path.write_bytes(content := path.read_bytes()[:-1])
    assert len(examine(crashed)) == 1
    with pytest.raises(DataCorrupted, match="lacks 1 of the last changes that were acknowledged"), opened(crashed):
        pass
    assert path.read_bytes() == content


def test_a_mark_file_that_counts_log_entries_only_is_accepted(folder: Path) -> None:
    """An earlier version wrote such a file beside a journal with commits that have no log entry."""
    with opened(folder) as journal:
        append(journal, draft("hello"))
        execute(journal, AdvanceWatermark("task", "default", 1))
    mark = folder / "journal.mark"
    content = mark.read_bytes()
    assert content[64:80] == (1).to_bytes(8, "little") * 2, "one log entry, and one commit without"
    mark.write_bytes(content[:72] + bytes(8) + content[80:])
    with opened(folder) as journal:
        assert contents(journal) == ["hello"]
        append(journal, draft("continued"))
    assert mark.read_bytes()[64:80] == (2).to_bytes(8, "little") + (1).to_bytes(8, "little")


def test_a_truncated_journal_can_be_opened_after_its_mark_file_is_deleted(folder: Path) -> None:
    crashed = copy_of_a_crash(folder)
    path = crashed / "journal.db-wal"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    (crashed / "journal.mark").unlink()
    with opened(crashed) as journal:
        remaining = [stored.sequence for stored in read(journal)]
        assert remaining == list(range(1, len(remaining) + 1))
        assert 0 < len(remaining) < 30
        append(journal, draft("continued"))
