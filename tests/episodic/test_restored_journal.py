"""An older copy of the journal beside a newer index, as after a backup was restored."""

import shutil
from pathlib import Path

from memsidecar.stores.sqlite.journal import SqliteJournal
from memsidecar.stores.volatile.index import VolatileIndex
from tests.episodic.components import episodic_client


def test_after_restoring_an_older_journal_new_messages_are_found_and_lost_ones_are_not(data_dir: Path) -> None:
    index, backup = VolatileIndex(), data_dir.with_name("backup")
    with episodic_client(SqliteJournal(data_dir), index=index) as memory:
        memory.add("tea that was saved", user="u")
        memory.index()
    shutil.copytree(data_dir, backup)
    with episodic_client(SqliteJournal(data_dir), index=index) as memory:
        for at in range(5):
            memory.add(f"tea that was lost {at}", user="u")
        memory.index()
    with episodic_client(SqliteJournal(backup), index=index) as memory:
        assert memory.find("tea", user_id="u") == ["tea that was saved"]
        memory.add("tea afterwards", user="u")
        assert set(memory.find("tea", user_id="u")) == {"tea that was saved", "tea afterwards"}
        memory.index()
        assert set(memory.find("tea", user_id="u")) == {"tea that was saved", "tea afterwards"}
        assert memory.stepped.generations.get("default").live.table.stats().rows == 2
