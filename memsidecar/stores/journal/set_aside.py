"""SetAside: what a background task goes on without."""

import sqlite3
from collections.abc import Sequence

from memsidecar.stores.contract import SetAside, SetAsideEntry
from memsidecar.stores.journal.staging import Stage


def set_aside(stage: Stage, command: SetAside) -> None:
    columns = (command.task, command.lsn, command.namespace, command.reason, stage.now_us)
    stage.do("INSERT OR IGNORE INTO set_asides VALUES (?, ?, ?, ?, ?)", *columns)


def find_set_aside(connection: sqlite3.Connection, task: str) -> Sequence[SetAsideEntry]:
    found = connection.execute(
        "SELECT task, namespace, lsn, reason, time_us FROM set_asides WHERE task = ? ORDER BY lsn, namespace", (task,)
    )
    return [SetAsideEntry(*row) for row in found]
