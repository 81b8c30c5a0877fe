"""Watermarks, calibrations, dead letters."""

import sqlite3
from collections.abc import Sequence

from memsidecar.stores.contract import AddDeadLetter, AdvanceWatermark, Calibrate, Calibration, DeadLetter
from memsidecar.stores.sqlite.transaction import Transaction

_ADVANCE = """INSERT INTO watermarks VALUES (?, ?, ?)
  ON CONFLICT(task, namespace) DO UPDATE SET lsn = max(lsn, excluded.lsn)"""


def advance_watermark(transaction: Transaction, command: AdvanceWatermark) -> None:
    transaction.add_statement(_ADVANCE, command.task, command.namespace, command.lsn)


def find_watermark(connection: sqlite3.Connection, task: str, namespace: str) -> int:
    row = connection.execute(
        "SELECT lsn FROM watermarks WHERE task = ? AND namespace = ?", (task, namespace)
    ).fetchone()
    return int(row[0]) if row else 0


def calibrate(transaction: Transaction, command: Calibrate) -> Calibration:
    after = command.step(find_calibration(transaction.connection, command.namespace, command.model))
    columns = (command.namespace, command.model, after.factor, after.reports)
    transaction.add_statement("INSERT OR REPLACE INTO calibrations VALUES (?, ?, ?, ?)", *columns)
    return after


def find_calibration(connection: sqlite3.Connection, namespace: str, model: str) -> Calibration:
    row = connection.execute(
        "SELECT factor, reports FROM calibrations WHERE namespace = ? AND model = ?", (namespace, model)
    ).fetchone()
    return Calibration(*row) if row else Calibration()


def find_calibrated_models(connection: sqlite3.Connection, namespace: str) -> Sequence[str]:
    query = "SELECT model FROM calibrations WHERE namespace = ? ORDER BY model"
    return [model for (model,) in connection.execute(query, (namespace,))]


def add_dead_letter(transaction: Transaction, command: AddDeadLetter) -> None:
    columns = (command.task, command.lsn, command.namespace, command.reason, transaction.now_us)
    transaction.add_statement("INSERT OR IGNORE INTO dead_letters VALUES (?, ?, ?, ?, ?)", *columns)


def find_dead_letters(connection: sqlite3.Connection, task: str) -> Sequence[DeadLetter]:
    found = connection.execute(
        "SELECT task, namespace, lsn, reason, time_us FROM dead_letters WHERE task = ? ORDER BY lsn, namespace", (task,)
    )
    return [DeadLetter(*row) for row in found]
