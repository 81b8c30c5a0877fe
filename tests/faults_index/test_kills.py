"""kill -9 while the index is written, compacted or made anew: nothing is missed, and the index completes itself."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest

from tests.faults_index.acknowledged import FLAGS, Kept
from tests.faults_index.index_files import IndexFiles, until
from tests.faults_index.writer import Writer
from tests.support.process import SidecarProcess

ROUNDS_PER_NAMESPACE = 8
COMMITS_BEFORE_UPKEEP = 64
MOMENTS = ("writing", "compacting", "changing", "starting")


class Rounds:
    """Each round: talk, kill at some moment, start, look at everything, wait until the index is complete."""

    def __init__(self, data_dir: Path, seed: str) -> None:
        self._chance = random.Random(seed)
        self._data_dir = data_dir
        self._dimensions = 256
        self._kept: dict[str, Kept] = {}

    def run(self, rounds: int, tell: Callable[[str], None] = lambda _: None) -> None:
        for number in range(rounds):
            self._round(number)
            tell(f"kills of the index: {number + 1} of {rounds}")
        with self._started() as sidecar:
            for files, kept in self._namespaces():
                # Dimensions that changed in a later round are a reason to begin the earlier namespaces anew.
                files.wait_until_alone()
                files.wait_until_complete(kept.said)
            assert sidecar.stop() == 0
        for files, kept in self._namespaces():
            files.check_settled(kept.said)

    def _namespaces(self) -> list[tuple[IndexFiles, Kept]]:
        return [(IndexFiles(self._data_dir, name), kept) for name, kept in self._kept.items()]

    def _started(self) -> SidecarProcess:
        return SidecarProcess(self._data_dir, *FLAGS, "--embedder-dimensions", str(self._dimensions))

    def _round(self, number: int) -> None:
        namespace = f"space-{number // ROUNDS_PER_NAMESPACE}"
        kept = self._kept.setdefault(namespace, Kept(namespace))
        files = IndexFiles(self._data_dir, namespace)
        moment = MOMENTS[number % len(MOMENTS)] if number < len(MOMENTS) else self._chance.choice(MOMENTS)
        if moment == "changing" and kept.said:
            self._dimensions = 384 - self._dimensions
        writer = self._talk_and_kill(kept, files, moment, f"r{number}")
        if moment == "starting":
            self._kill_while_starting()
        with self._started() as sidecar, sidecar.client() as client:
            writer.complete(client)
            kept.check_readable(client)
            kept.check_found(client)
            files.wait_until_complete(kept.said)
            until(lambda: kept.lacks_nothing(client), "a search lacks nothing")
            self._end(sidecar)

    def _end(self, sidecar: SidecarProcess) -> None:
        if self._chance.random() < 0.5:
            sidecar.kill()
        else:
            assert sidecar.stop() == 0

    def _talk_and_kill(self, kept: Kept, files: IndexFiles, moment: str, name: str) -> Writer:
        with self._started() as sidecar, sidecar.client() as client:
            # An erasure compacts everything by itself: without, upkeep has something to do.
            chance, erases = random.Random(self._chance.random()), moment != "compacting"
            with Writer(client, kept, name, chance, erases=erases) as writer:
                try:
                    self._wait_for(moment, files)
                finally:
                    sidecar.kill()
            assert writer.codes == {grpc.StatusCode.UNAVAILABLE}
        return writer

    def _wait_for(self, moment: str, files: IndexFiles) -> None:
        """Somewhere around the moment; nothing that is checked depends on whether it was met."""
        until(lambda: files.generation and files.data_files, "the index is written to")
        if moment == "compacting":
            files.wait_for_commits(COMMITS_BEFORE_UPKEEP - 8)
            _spin(self._chance.uniform(0, 0.15))
        elif moment == "changing":
            until(lambda: len(files.tables()) > 1 or self._is_changed(files), "")
            _spin(self._chance.uniform(0, 0.3))
        else:
            _spin(self._chance.uniform(0, 0.5))

    def _is_changed(self, files: IndexFiles) -> bool:
        return f'"dimensions": {self._dimensions}' in files.card.read_text()

    def _kill_while_starting(self) -> None:
        command = [sys.executable, "-m", "memsidecar", "serve", "--data-dir", str(self._data_dir), *FLAGS]
        command += ["--listen", "127.0.0.1:0", "--health-listen", "", "--embedder-dimensions", str(self._dimensions)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as starting:
            _spin(self._chance.uniform(1.0, 3.5))
            assert starting.poll() is None, "it did not start"
            starting.kill()


def _spin(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.001)


def test_the_index_completes_itself_after_kill_9(data_dir: Path) -> None:
    Rounds(data_dir, seed=str(data_dir)).run(3)


@pytest.mark.kills
def test_the_index_completes_itself_after_many_kills(data_dir: Path, tell: Callable[[str], None]) -> None:
    seed = os.environ.get("KILL_SEED", str(time.time_ns()))
    print(f"KILL_SEED={seed}")
    Rounds(data_dir, seed).run(int(os.environ.get("KILL_ROUNDS", "100")), tell)
