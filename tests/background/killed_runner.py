"""A runner in its own process, whose task kills the process at one entry: `killed_runner DIRECTORY LSN LAST_LSN`."""

import os
import signal
import sys
from contextlib import closing
from pathlib import Path

from memsidecar.stores.contract import LogEntries, NoOp
from memsidecar.stores.sqlite.journal import SqliteJournal
from tests.background.recording_task import RecordingTask, running
from tests.support.waiting import until


def run(data_dir: Path, deadly: int, last: int) -> None:
    def kill_at(_: str, entries: LogEntries) -> None:
        if any(entry.lsn == deadly and not isinstance(entry, NoOp) for entry in entries):
            os.kill(os.getpid(), signal.SIGKILL)

    task = RecordingTask(before=kill_at)
    with closing(SqliteJournal(data_dir)) as journal, running(journal, task):
        until(lambda: task.state.positions["a"] == last)


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
