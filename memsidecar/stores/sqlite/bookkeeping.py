"""Watermarks, calibrations, dead letters."""

import sqlite3
from collections.abc import Sequence

from memsidecar.stores.contract import AddDeadLetter, AdvanceWatermark, Calibrate, Calibration, DeadLetter
from memsidecar.stores.sqlite.transaction import Transaction

_FORWARD_ONLY = """INSERT INTO watermarks VALUES (?, ?, ?)
  ON CONFLICT(task, namespace) DO UPDATE SET lsn = max(lsn, excluded.lsn)"""


def advance(stage: Transaction, command: AdvanceWatermark) -> None:
    stage.do(_FORWARD_ONLY, command.task, command.namespace, command.lsn)


def find_watermark(connection: sqlite3.Connection, task: str, namespace: str) -> int:
    row = connection.execute(
        "SELECT lsn FROM watermarks WHERE task = ? AND namespace = ?", (task, namespace)
    ).fetchone()
    return int(row[0]) if row else 0


def calibrate(stage: Transaction, command: Calibrate) -> Calibration:
    after = command.step(find_calibration(stage.connection, command.namespace, command.model))
    columns = (command.namespace, command.model, after.factor, after.reports)
    stage.do("INSERT OR REPLACE INTO calibrations VALUES (?, ?, ?, ?)", *columns)
    return after


def find_calibration(connection: sqlite3.Connection, namespace: str, model: str) -> Calibration:
    row = connection.execute(
        "SELECT factor, reports FROM calibrations WHERE namespace = ? AND model = ?", (namespace, model)
    ).fetchone()
    return Calibration(*row) if row else Calibration()


def set_aside(stage: Transaction, command: AddDeadLetter) -> None:
    columns = (command.task, command.lsn, command.namespace, command.reason, stage.now_us)
    stage.do("INSERT OR IGNORE INTO set_asides VALUES (?, ?, ?, ?, ?)", *columns)


def find_set_aside(connection: sqlite3.Connection, task: str) -> Sequence[DeadLetter]:
    found = connection.execute(
        "SELECT task, namespace, lsn, reason, time_us FROM set_asides WHERE task = ? ORDER BY lsn, namespace", (task,)
    )
    return [DeadLetter(*row) for row in found]
