"""Repeated SIGKILL under load on one data directory: nothing acknowledged is lost, duplicated, moved or half stored."""

import os
import random
import tempfile
import threading
import time
from pathlib import Path

import grpc
import pytest

from memsidecar.stores.sqlite.integrity import examine
from tests.faults.acknowledged import Acknowledged
from tests.faults.concurrent_writers import ConcurrentWriters
from tests.faults.owned_kinds import one_of_each
from tests.faults.owned_state import OwnedState
from tests.support.attempts import Attempts, random_source, scaled
from tests.support.forked import Forked
from tests.support.process import CALL_SECONDS, Client, SidecarProcess

ROUNDS_PER_GENERATION = 10
SHARED_SESSIONS = 3
OWNED_SESSIONS = 2
RETRIED_AGAIN = 5
MAX_ACKS = 80

# A small log, so that rounds end in the middle of checkpoints as well; no summaries, except those of the writers.
FLAGS = (
    *("--tokenizer", "chars4", "--wal-checkpoint-bytes", "262144", "--log-calls", "none", "--ballast-bytes", "65536"),
    *("--summary-every-messages", "100000", "--summary-tail-tokens", "10000000"),
    *("--facts-every-turns", "1000", "--facts-quiet-seconds", "86400", "--patterns-every-conversations", "1000000"),
)


def shared_sessions(number: int) -> list[str]:
    return [f"shared-{number // ROUNDS_PER_GENERATION}-{at}" for at in range(SHARED_SESSIONS)]


def owned_sessions(number: int) -> list[str]:
    return [f"owned-{number // ROUNDS_PER_GENERATION}-{at}" for at in range(OWNED_SESSIONS)]


class Rounds:
    """Sessions are used for some rounds, so that data accumulates and the check of a round stays short."""

    def __init__(self, data_dir: Path, chance: random.Random, attempts: Attempts) -> None:
        self._random = chance
        self._acknowledged = Acknowledged()
        self._states: list[OwnedState] = []
        self._sidecar = SidecarProcess(data_dir, *FLAGS)
        self._under_load = attempts.of(
            "kill -9 under all kinds of writes",
            "each acknowledged write is there once, under its sequence; a write without response as a whole or not at "
            "all; a retry returns `duplicate` if it is there",
        )
        self._at_start = attempts.of(
            "kill -9 of a start, during the recovery from a kill", "the same at the next start"
        )

    def run(self, kills: int) -> None:
        """Kill this often: one kill in five is one of a start."""
        starts = max(1, kills // 5)
        rounds = kills - starts
        with self._sidecar:
            client = self._sidecar.client()
            for number in range(rounds):
                with self._under_load.attempt():
                    self._write_and_kill(client, number)
                    if number % 4 == 0 and number // 4 < starts:
                        with self._at_start.attempt():
                            self._kill_while_starting()
                            client = self._restart_and_check(number)
                    else:
                        client = self._restart_and_check(number)
            self._acknowledged.check(client)
            client.close()
            assert self._sidecar.stop() == 0
        assert examine(self._sidecar.data_dir) == []

    def _write_and_kill(self, client: Client, number: int) -> None:
        if number % ROUNDS_PER_GENERATION == 0:
            self._states = one_of_each(str(number // ROUNDS_PER_GENERATION))
        with ConcurrentWriters(
            client,
            self._acknowledged,
            f"r{number}",
            shared=shared_sessions(number),
            owned=owned_sessions(number),
            states=self._states,
        ) as writers:
            self._kill_at_random(writers)
        client.close()
        assert set(writers.codes) == {grpc.StatusCode.UNAVAILABLE}

    def _restart_and_check(self, number: int) -> Client:
        self._sidecar.start()
        client = self._sidecar.client()
        sessions = [*shared_sessions(number), *owned_sessions(number)]
        self._acknowledged.check(client, sessions)
        for session_id in sessions:
            self._acknowledged.retry_open_calls(client, session_id, RETRIED_AGAIN)
        for state in self._states:
            state.settle(client)
        return client

    def _kill_at_random(self, writers: ConcurrentWriters) -> None:
        """Kill after some acknowledgements, in any phase of a commit; each third time during a prune or a clear."""
        self._acknowledged.wait_for_acks(self._random.randint(1, MAX_ACKS), CALL_SECONDS)
        event = self._random.choice([None, None, None, None, writers.pruning, writers.clearing])
        if event is not None:
            assert event.wait(CALL_SECONDS), "neither pruned nor cleared"
        _spin(self._random.uniform(0, 0.004))
        self._sidecar.kill()

    def _kill_while_starting(self) -> None:
        """Kill a start during the recovery from the first kill."""
        arguments = ["serve", "--data-dir", str(self._sidecar.data_dir), "--index", "off", *FLAGS]
        arguments += ["--listen", "127.0.0.1:0", "--health-listen", ""]
        with tempfile.TemporaryFile() as errors:
            starting = Forked(arguments, os.environ, errors.fileno())
            with starting.stdout:
                _spin(self._random.uniform(0, 0.15))
                assert starting.poll() is None, "it did not start"
                starting.kill()
                starting.wait(CALL_SECONDS)


def _spin(seconds: float) -> None:
    """Wait for a random time; no check depends on its length."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        threading.Event().wait(0.0002)


def test_nothing_acknowledged_is_lost_duplicated_or_moved_by_kill_9(data_dir: Path) -> None:
    Rounds(data_dir, random.Random(str(data_dir)), Attempts()).run(5)


@pytest.mark.adversary
@pytest.mark.parametrize("part", range(5))
def test_nothing_acknowledged_is_lost_duplicated_or_moved_by_many_kills(
    data_dir: Path, part: int, attempts: Attempts
) -> None:
    Rounds(data_dir, random_source(part), attempts).run(scaled(3.92))
