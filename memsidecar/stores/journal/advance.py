"""Advance: up to where a background task has come."""

import sqlite3

from memsidecar.stores.contract import Advance
from memsidecar.stores.journal.staging import Stage

_FORWARD_ONLY = """INSERT INTO watermarks VALUES (?, ?, ?)
  ON CONFLICT(task, namespace) DO UPDATE SET lsn = max(lsn, excluded.lsn)"""


def advance(stage: Stage, command: Advance) -> None:
    stage.do(_FORWARD_ONLY, command.task, command.namespace, command.lsn)


def find_watermark(connection: sqlite3.Connection, task: str, namespace: str) -> int:
    row = connection.execute(
        "SELECT lsn FROM watermarks WHERE task = ? AND namespace = ?", (task, namespace)
    ).fetchone()
    return int(row[0]) if row else 0
