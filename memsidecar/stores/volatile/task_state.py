"""Calibrations, watermarks and dead letters of the RAM journal."""

from memsidecar.stores.contract import AddDeadLetter, AdvanceWatermark, Calibrate, Calibration, DeadLetter


class TaskState:
    """What is stored beside the log. No entry of the log has it."""

    def __init__(self) -> None:
        self._calibrations: dict[tuple[str, str], Calibration] = {}
        self._watermarks: dict[tuple[str, str], int] = {}
        self._dead_letters: dict[tuple[str, int, str], DeadLetter] = {}

    def calibration(self, namespace: str, model: str) -> Calibration:
        return self._calibrations.get((namespace, model), Calibration())

    def calibrated_models(self, namespace: str) -> list[str]:
        return sorted(model for place, model in self._calibrations if place == namespace)

    def calibrate(self, command: Calibrate) -> Calibration:
        place = (command.namespace, command.model)
        self._calibrations[place] = command.step(self._calibrations.get(place, Calibration()))
        return self._calibrations[place]

    def watermark(self, task: str, namespace: str) -> int:
        return self._watermarks.get((task, namespace), 0)

    def advance(self, command: AdvanceWatermark) -> None:
        place = (command.task, command.namespace)
        self._watermarks[place] = max(command.lsn, self._watermarks.get(place, 0))

    def dead_letters(self, task: str) -> list[DeadLetter]:
        return [letter for name, letter in sorted(self._dead_letters.items()) if name[0] == task]

    def add_dead_letter(self, command: AddDeadLetter, now_us: int) -> None:
        entry = DeadLetter(command.task, command.namespace, command.lsn, command.reason, now_us)
        self._dead_letters.setdefault((command.task, command.lsn, command.namespace), entry)
