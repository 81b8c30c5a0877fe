"""SIGKILL while the index is written, compacted or rebuilt: nothing is missed, and the index is completed."""

import random
import subprocess
import sys
import time
from pathlib import Path

import grpc
import pytest

from tests.faults_index.acknowledged import FLAGS, AcknowledgedMessages
from tests.faults_index.index_files import IndexFiles, until
from tests.faults_index.writer import Writer
from tests.support.attempts import Attempts, random_source, scaled
from tests.support.process import SidecarProcess

ROUNDS_PER_NAMESPACE = 8
COMMITS_BEFORE_MAINTENANCE = 64
PHASES = ("writing", "compacting", "changing", "starting")


class Rounds:
    """Each round writes, kills in some phase, restarts, checks everything, and waits until the index is complete."""

    def __init__(self, data_dir: Path, chance: random.Random, attempts: Attempts) -> None:
        self._random = chance
        self._data_dir = data_dir
        self._dimensions = 256
        self._acknowledged: dict[str, AcknowledgedMessages] = {}
        self._attack = attempts.of(
            "kill -9 while the index is written, compacted, rebuilt or opened",
            "all messages are readable and found; the index has each message once when it is complete again",
        )

    def run(self, rounds: int) -> None:
        for number in range(rounds):
            with self._attack.attempt():
                self._round(number)
        with self._started() as sidecar:
            for files, acknowledged in self._namespaces():
                # Dimensions that changed in a later round cause a rebuild of the earlier namespaces.
                files.wait_until_single_table()
                files.wait_until_complete(acknowledged.contents)
            assert sidecar.stop() == 0
        for files, acknowledged in self._namespaces():
            files.check_final(acknowledged.contents)

    def _namespaces(self) -> list[tuple[IndexFiles, AcknowledgedMessages]]:
        return [(IndexFiles(self._data_dir, name), acknowledged) for name, acknowledged in self._acknowledged.items()]

    def _started(self) -> SidecarProcess:
        return SidecarProcess(self._data_dir, *FLAGS, "--embedder-dimensions", str(self._dimensions))

    def _round(self, number: int) -> None:
        namespace = f"space-{number // ROUNDS_PER_NAMESPACE}"
        acknowledged = self._acknowledged.setdefault(namespace, AcknowledgedMessages(namespace))
        files = IndexFiles(self._data_dir, namespace)
        phase = PHASES[number % len(PHASES)] if number < len(PHASES) else self._random.choice(PHASES)
        if phase == "changing" and acknowledged.contents:
            self._dimensions = 384 - self._dimensions
        writer = self._write_and_kill(acknowledged, files, phase, f"r{number}")
        if phase == "starting":
            self._kill_while_starting()
        with self._started() as sidecar, sidecar.client() as client:
            writer.complete(client)
            acknowledged.check_readable(client)
            acknowledged.check_found(client)
            files.wait_until_complete(acknowledged.contents)
            until(lambda: acknowledged.has_no_degradation(client), "a search has no degradation")
            self._end(sidecar)

    def _end(self, sidecar: SidecarProcess) -> None:
        if self._random.random() < 0.5:
            sidecar.kill()
        else:
            assert sidecar.stop() == 0

    def _write_and_kill(self, acknowledged: AcknowledgedMessages, files: IndexFiles, phase: str, name: str) -> Writer:
        with self._started() as sidecar, sidecar.client() as client:
            # An erasure compacts everything; without one, maintenance has work to do.
            random_source, erases = random.Random(self._random.random()), phase != "compacting"
            with Writer(client, acknowledged, name, random_source, erases=erases) as writer:
                try:
                    self._wait_for(phase, files)
                finally:
                    sidecar.kill()
            assert writer.codes == {grpc.StatusCode.UNAVAILABLE}
        return writer

    def _wait_for(self, phase: str, files: IndexFiles) -> None:
        """Wait until about the phase; no check depends on whether it was met."""
        until(lambda: files.generation and files.data_files, "the index is written to")
        if phase == "compacting":
            files.wait_for_commits(COMMITS_BEFORE_MAINTENANCE - 8)
            _spin(self._random.uniform(0, 0.15))
        elif phase == "changing":
            until(lambda: len(files.tables()) > 1 or self._is_changed(files), "")
            _spin(self._random.uniform(0, 0.3))
        else:
            _spin(self._random.uniform(0, 0.5))

    def _is_changed(self, files: IndexFiles) -> bool:
        return f'"dimensions": {self._dimensions}' in files.metadata_file.read_text()

    def _kill_while_starting(self) -> None:
        command = [sys.executable, "-m", "memsidecar", "serve", "--data-dir", str(self._data_dir), *FLAGS]
        command += ["--listen", "127.0.0.1:0", "--health-listen", "", "--http-listen", ""]
        command += ["--embedder-dimensions", str(self._dimensions)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as starting:
            _spin(self._random.uniform(1.0, 3.5))
            assert starting.poll() is None, "it did not start"
            starting.kill()


def _spin(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.001)


def test_the_index_is_complete_after_kills(data_dir: Path) -> None:
    Rounds(data_dir, random.Random(str(data_dir)), Attempts()).run(3)


@pytest.mark.adversary
@pytest.mark.parametrize("part", range(2))
def test_the_index_is_complete_after_many_kills(data_dir: Path, part: int, attempts: Attempts) -> None:
    Rounds(data_dir, random_source(part), attempts).run(scaled(0.1))
