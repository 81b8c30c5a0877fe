"""Fuzz a sidecar: `python -m tests.fuzz INPUTS SEED` (`make fuzz`).

The same seed generates the same inputs. The first failure ends the run, and prints its input. An input that takes
longer than HANG_SECONDS counts as hung: the run ends with the stack of every thread.
"""

import faulthandler
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.fuzz.files import fuzz_access_files, fuzz_settings_files
from tests.fuzz.import_files import fuzz_import_files
from tests.fuzz.wire import fuzz_page_tokens, fuzz_requests
from tests.support.process import SidecarProcess
from tests.support.waiting import HANG_SECONDS

SHARES = {"requests": 0.6, "page tokens": 0.15, "access files": 0.1, "settings files": 0.1, "import files": 0.05}
SHOWN_EVERY_SECONDS = 10.0


class Progress:
    """Counts inputs, and prints a line now and then. Ends the process if no input ends for HANG_SECONDS."""

    def __init__(self, target: str, total: int) -> None:
        self._target, self._total, self._done = target, total, 0
        self._started = self._shown = time.monotonic()
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)

    def __call__(self) -> None:
        self._done += 1
        now = time.monotonic()
        if now - self._shown > SHOWN_EVERY_SECONDS or self._done == self._total:
            rate = self._done / (now - self._started)
            print(f"{self._target}: {self._done:,} of {self._total:,}, {rate:,.0f} per second", flush=True)
            self._shown = now
            faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)


def main(inputs: int, seed: str) -> None:
    counts = {target: round(inputs * share) for target, share in SHARES.items()}
    with tempfile.TemporaryDirectory(prefix="memsidecar-fuzz-") as name:
        folder = Path(name)
        with start_sidecar(folder) as sidecar:
            for target, fuzz in (("requests", fuzz_requests), ("page tokens", fuzz_page_tokens)):
                statuses = fuzz(counts[target], Random(f"{seed} {target}"), sidecar, _progress(target, counts))
                print(f"{target}: {dict(statuses.most_common())}", flush=True)
            check(sidecar)
        for target, fuzz_files in (
            ("access files", fuzz_access_files),
            ("settings files", fuzz_settings_files),
            ("import files", fuzz_import_files),
        ):
            fuzz_files(counts[target], Random(f"{seed} {target}"), folder, _progress(target, counts))


def _progress(target: str, counts: dict[str, int]) -> Callable[[], None]:
    return Progress(target, counts[target])


def start_sidecar(folder: Path) -> SidecarProcess:
    return SidecarProcess(folder / "data", "--index", "volatile", "--tokenizer", "chars4")


def check(sidecar: SidecarProcess) -> None:
    """Check that the process runs, and that its log has no error."""
    assert sidecar.process.poll() is None, sidecar.log()
    assert "Traceback" not in sidecar.log(), sidecar.log()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
