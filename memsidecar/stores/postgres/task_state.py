"""Watermarks, calibrations, dead letters."""

from collections.abc import Sequence

from psycopg import Connection

from memsidecar.stores.contract import AddDeadLetter, AdvanceWatermark, Calibrate, Calibration, DeadLetter
from memsidecar.stores.postgres.transaction import PostgresTransaction

# For a group of commands that calibrate one model, and for other processes: the row of the namespace is locked before
# the calibration is read.
_LOCK_NAMESPACE = "SELECT FROM namespaces WHERE number = %s FOR NO KEY UPDATE"
_ADVANCE = """INSERT INTO watermarks VALUES (%s, %s, %s)
  ON CONFLICT(task, namespace) DO UPDATE SET lsn = greatest(watermarks.lsn, excluded.lsn)"""
_FIND_WATERMARK = """SELECT w.lsn FROM watermarks w JOIN namespaces n ON n.number = w.namespace
  WHERE w.task = %s AND n.name = %s"""
_SAVE_CALIBRATION = """INSERT INTO calibrations VALUES (%s, %s, %s, %s)
  ON CONFLICT(namespace, model) DO UPDATE SET factor = excluded.factor, reports = excluded.reports"""
_FIND_CALIBRATION = """SELECT c.factor, c.reports FROM calibrations c JOIN namespaces n ON n.number = c.namespace
  WHERE n.name = %s AND c.model = %s"""
_FIND_MODELS = """SELECT c.model FROM calibrations c JOIN namespaces n ON n.number = c.namespace
  WHERE n.name = %s ORDER BY c.model"""
_ADD_DEAD_LETTER = """INSERT INTO dead_letters(task, lsn, namespace, reason, time_us) VALUES (%s, %s, %s, %s, %s)
  ON CONFLICT DO NOTHING"""
_FIND_DEAD_LETTERS = """SELECT d.task, n.name, d.lsn, d.reason, d.time_us FROM dead_letters d
  JOIN namespaces n ON n.number = d.namespace WHERE d.task = %s ORDER BY d.lsn, n.name"""


def advance_watermark(transaction: PostgresTransaction, command: AdvanceWatermark) -> None:
    transaction.add_statement(_ADVANCE, command.task, transaction.number(command.namespace), command.lsn)


def find_watermark(connection: Connection, task: str, namespace: str) -> int:
    row = connection.execute(_FIND_WATERMARK, (task, namespace)).fetchone()
    return int(row[0]) if row else 0


def calibrate(transaction: PostgresTransaction, command: Calibrate) -> Calibration:
    number = transaction.number(command.namespace)
    transaction.connection.execute(_LOCK_NAMESPACE, (number,))
    after = command.step(find_calibration(transaction.connection, command.namespace, command.model))
    transaction.add_statement(_SAVE_CALIBRATION, number, command.model, after.factor, after.reports)
    return after


def find_calibration(connection: Connection, namespace: str, model: str) -> Calibration:
    row = connection.execute(_FIND_CALIBRATION, (namespace, model)).fetchone()
    return Calibration(*row) if row else Calibration()


def find_calibrated_models(connection: Connection, namespace: str) -> Sequence[str]:
    return [model for (model,) in connection.execute(_FIND_MODELS, (namespace,))]


def add_dead_letter(transaction: PostgresTransaction, command: AddDeadLetter) -> None:
    reason = command.reason.replace("\0", "\N{REPLACEMENT CHARACTER}")
    number = transaction.number(command.namespace)
    transaction.add_statement(_ADD_DEAD_LETTER, command.task, command.lsn, number, reason, transaction.now_us)


def find_dead_letters(connection: Connection, task: str) -> Sequence[DeadLetter]:
    return [DeadLetter(*row) for row in connection.execute(_FIND_DEAD_LETTERS, (task,))]
