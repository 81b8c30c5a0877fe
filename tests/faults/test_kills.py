"""Repeated SIGKILL under load on one data directory: no acknowledged message is lost, duplicated or moved."""

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest

from memsidecar.stores.sqlite.integrity import examine
from tests.faults.acknowledged import Acknowledged
from tests.faults.concurrent_writers import ConcurrentWriters
from tests.support.kill_rounds import KILL_ROUNDS
from tests.support.process import CALL_SECONDS, SidecarProcess

ROUNDS_PER_GENERATION = 10
SHARED_SESSIONS = 3
OWNED_SESSIONS = 2
RETRIED_AGAIN = 5

# Small, so that rounds end in the middle of checkpoints as well.
FLAGS = ("--tokenizer", "chars4", "--wal-checkpoint-bytes", "262144", "--log-calls", "none")


class Rounds:
    """Sessions are used for some rounds, so that data accumulates and the check of a round stays short."""

    def __init__(self, data_dir: Path, seed: str) -> None:
        self._random = random.Random(seed)
        self._acknowledged = Acknowledged()
        self._sidecar = SidecarProcess(data_dir, *FLAGS)

    def run(self, rounds: int, report_progress: Callable[[str], None] = lambda _: None) -> None:
        with self._sidecar:
            for number in range(rounds):
                self._round(number)
                report_progress(f"kills of the journal: {number + 1} of {rounds}")
            with self._sidecar.client() as client:
                self._acknowledged.check(client)
            assert self._sidecar.stop() == 0
        assert examine(self._sidecar.data_dir) == []

    def _round(self, number: int) -> None:
        generation = number // ROUNDS_PER_GENERATION
        shared = [f"shared-{generation}-{at}" for at in range(SHARED_SESSIONS)]
        owned = [f"owned-{generation}-{at}" for at in range(OWNED_SESSIONS)]
        with (
            self._sidecar.client() as client,
            ConcurrentWriters(client, self._acknowledged, f"r{number}", shared=shared, owned=owned) as writers,
        ):
            self._kill_at_random(writers)
        assert set(writers.codes) == {grpc.StatusCode.UNAVAILABLE}
        if self._random.random() < 0.25:
            self._kill_while_starting()
        self._sidecar.start()
        with self._sidecar.client() as client:
            self._acknowledged.check(client, [*shared, *owned])
            for session_id in [*shared, *owned]:
                self._acknowledged.retry_open_calls(client, session_id, RETRIED_AGAIN)

    def _kill_at_random(self, writers: ConcurrentWriters) -> None:
        """Kill after some acknowledgements, in any phase of a commit; each third time during a prune or a clear."""
        self._acknowledged.wait_for_acks(self._random.randint(1, 250), CALL_SECONDS)
        event = self._random.choice([None, None, None, None, writers.pruning, writers.clearing])
        if event is not None:
            assert event.wait(CALL_SECONDS), "neither pruned nor cleared"
        _spin(self._random.uniform(0, 0.004))
        self._sidecar.kill()

    def _kill_while_starting(self) -> None:
        """Kill a start during the recovery from the first kill."""
        command = [sys.executable, "-m", "memsidecar", "serve", "--data-dir", str(self._sidecar.data_dir), *FLAGS]
        command += ["--listen", "127.0.0.1:0", "--health-listen", ""]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as starting:
            _spin(self._random.uniform(0.15, 0.5))
            assert starting.poll() is None, "it did not start"
            starting.kill()


def _spin(seconds: float) -> None:
    """Wait for a random time; no check depends on its length."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        threading.Event().wait(0.0002)


def test_nothing_acknowledged_is_lost_duplicated_or_moved_by_kill_9(data_dir: Path) -> None:
    Rounds(data_dir, seed=str(data_dir)).run(3)


@pytest.mark.kills
def test_nothing_acknowledged_is_lost_duplicated_or_moved_by_many_kills(
    data_dir: Path, report_progress: Callable[[str], None]
) -> None:
    seed = os.environ.get("KILL_SEED", str(time.time_ns()))
    print(f"KILL_SEED={seed}")
    Rounds(data_dir, seed).run(KILL_ROUNDS, report_progress)
