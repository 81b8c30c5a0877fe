"""Calibrate: what providers charge teaches how far a model's estimates are off."""

import sqlite3

from memsidecar.stores.contract import Calibrate, Calibration
from memsidecar.stores.journal.staging import Stage


def calibrate(stage: Stage, command: Calibrate) -> Calibration:
    after = command.step(find_calibration(stage.connection, command.namespace, command.model))
    columns = (command.namespace, command.model, after.factor, after.reports)
    stage.do("INSERT OR REPLACE INTO calibrations VALUES (?, ?, ?, ?)", *columns)
    return after


def find_calibration(connection: sqlite3.Connection, namespace: str, model: str) -> Calibration:
    row = connection.execute(
        "SELECT factor, reports FROM calibrations WHERE namespace = ? AND model = ?", (namespace, model)
    ).fetchone()
    return Calibration(*row) if row else Calibration()
