"""The two backups of docs/durability.md, and the error of a wrong restore."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memsidecar.domain.errors import DataCorrupted
from memsidecar.stores.sqlite.integrity import examine
from memsidecar.stores.sqlite.journal import SqliteJournal
from tests.faults.acknowledged import Acknowledged
from tests.faults.concurrent_writers import ConcurrentWriters
from tests.support.process import CALL_SECONDS, SidecarProcess

FLAGS = ("--tokenizer", "chars4", "--wal-checkpoint-bytes", "262144")


def back_up_online(data_dir: Path, to: Path) -> None:
    """Do what `sqlite3 journal.db ".backup to"` does."""
    to.mkdir()
    source = sqlite3.connect(f"{(data_dir / 'journal.db').as_uri()}?mode=ro", uri=True)
    with closing(source), closing(sqlite3.connect(to / "journal.db")) as target:
        source.backup(target)


def test_a_backup_of_a_running_sidecar_has_all_messages_acknowledged_before_it(data_dir: Path, tmp_path: Path) -> None:
    before = Acknowledged()
    with SidecarProcess(data_dir, *FLAGS) as sidecar, sidecar.client() as client:
        for n in range(100):
            (message,) = before.send("s", [f"m{n}"])
            before.acknowledge("s", [client.add("s", message.content, id=message.id)])
        meanwhile = Acknowledged()
        with ConcurrentWriters(client, meanwhile, "c", shared=["other"]):
            meanwhile.wait_for_acks(50, CALL_SECONDS)
            back_up_online(data_dir, tmp_path / "restored")
            sidecar.kill()
    assert examine(tmp_path / "restored") == []
    with SidecarProcess(tmp_path / "restored", *FLAGS) as sidecar, sidecar.client() as client:
        before.check(client)


def test_a_copy_of_a_killed_sidecar_has_all_acknowledged_messages(data_dir: Path, tmp_path: Path) -> None:
    acknowledged = Acknowledged()
    with (
        SidecarProcess(data_dir, *FLAGS) as sidecar,
        sidecar.client() as client,
        ConcurrentWriters(client, acknowledged, "c", shared=["a", "b"]),
    ):
        acknowledged.wait_for_acks(50, CALL_SECONDS)
        sidecar.kill()
    shutil.copytree(data_dir, tmp_path / "restored")
    with SidecarProcess(tmp_path / "restored", *FLAGS) as sidecar, sidecar.client() as client:
        acknowledged.check(client)


def test_an_older_backup_under_a_newer_mark_is_refused_with_a_remedy(data_dir: Path, tmp_path: Path) -> None:
    with SidecarProcess(data_dir, *FLAGS) as sidecar:
        with sidecar.client() as client:
            client.add("s", "in the backup")
            back_up_online(data_dir, tmp_path / "backup")
            client.add("s", "not in the backup")
        assert sidecar.stop() == 0
    shutil.copy(tmp_path / "backup" / "journal.db", data_dir / "journal.db")
    with pytest.raises(DataCorrupted, match=r"remove .*journal\.mark"):
        SqliteJournal(data_dir)
    (data_dir / "journal.mark").unlink()
    with SidecarProcess(data_dir, *FLAGS) as sidecar, sidecar.client() as client:
        assert [message.content for message in client.all("s")] == ["in the backup"]
