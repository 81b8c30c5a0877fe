"""Linearizability under 32 threads that add, read, prune, annotate and clear."""

import itertools
import random
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from memsidecar.domain.session import Strategy
from memsidecar.layers.working.memory import WorkingLimits, WorkingMemory
from memsidecar.layers.working.window_update import PruneRequest
from memsidecar.stores.sqlite.integrity import examine
from memsidecar.stores.sqlite.journal import SqliteJournal
from memsidecar.tokens.registry import CounterRegistry
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import Message, Role
from tests.faults.history import AddCall, Call, CountCall, History, ReadCall, run_all, timed
from tests.faults.memory_clients import LayerClient, MemoryClient, RpcClient, key_of
from tests.faults.recording_journal import InterferingJournal, RecordingJournal, counts_of, replay, stored
from tests.support.attempts import Attempts, scaled
from tests.support.process import CALL_SECONDS, Client, SidecarProcess

SESSIONS = ("a", "b", "c", "d")
SHORT_ROUNDS = 30
LINEARIZABLE = "calls: the responses have one order in which each of them is right"

Action = Callable[[random.Random, int, str], None]


class Threads:
    """12 threads add, 12 read, 3 prune, 3 annotate, 2 clear. The first session is never cleared."""

    def __init__(self, memory: MemoryClient) -> None:
        self._memory = memory
        self._numbers = itertools.count()
        self.history = History(SESSIONS)
        self._sequence_of: dict[str, int] = {}
        self._pause = threading.Event()

    def run(self, rounds: int) -> None:
        acts: list[Action] = [self._add, self._read] * 12
        acts += [self._prune, self._annotate] * 3
        acts += [self._clear] * 2
        run_all([self._worker(number, act) for number, act in enumerate(acts)], rounds)
        self.history.check()

    def _worker(self, number: int, act: Action) -> Callable[[], None]:
        chance = random.Random(number)
        return lambda: act(chance, number, chance.choice(SESSIONS))

    def _add(self, chance: random.Random, _: int, session_id: str) -> None:
        ids = [f"m{next(self._numbers)}" for _ in range(chance.choice([1, 1, 1, 4]))]
        messages = [Message(id=message_id, role=Role.ROLE_USER, content=text_of(message_id)) for message_id in ids]
        call, sequences = timed(lambda: self._memory.add(session_id, messages))
        self._sequence_of.update(
            (f"{session_id}/{message_id}", sequence) for message_id, sequence in zip(ids, sequences, strict=True)
        )
        self.history.sessions[session_id].adds.append(AddCall(call, sequences))

    def _read(self, chance: random.Random, reader: int, session_id: str) -> None:
        """Readers pause, because reads from RAM without a pause leave no CPU time to writers."""
        self._pause.wait(chance.uniform(0, 0.01))
        history = self.history.sessions[session_id]
        if chance.random() < 0.5:
            call, counted = timed(lambda: self._memory.count(session_id))
            history.counted.append(CountCall(call, reader, *counted))
            return
        call, messages = timed(lambda: self._memory.recent(session_id, chance.choice([1, 5, 40, 1000])))
        for message in messages:
            assert message.content == text_of(message.id)
            assert self._sequence_of.get(f"{session_id}/{message.id}", message.sequence) == message.sequence
        history.seen.append(ReadCall(call, reader, tuple(message.sequence for message in messages)))

    def _prune(self, chance: random.Random, _: int, session_id: str) -> None:
        self._memory.prune(session_id, chance.choice([2, 10, 50]))

    def _annotate(self, chance: random.Random, _: int, session_id: str) -> None:
        recent = self._memory.recent(session_id, 20)
        if recent:
            self._memory.annotate(session_id, chance.choice(recent).id, chance.randint(0, 10))

    def _clear(self, _: random.Random, __: int, session_id: str) -> None:
        if session_id != SESSIONS[0]:
            call: Call = timed(lambda: self._memory.clear(session_id))[0]
            self.history.sessions[session_id].clears.append(call)


def text_of(message_id: str) -> str:
    return f"{message_id} " * (1 + hash_of(message_id) % 40)


def hash_of(message_id: str) -> int:
    return int(message_id[1:]) * 2654435761 >> 7


# -- the layer, compared with the reference


def run_on_layer(directory: Path, rounds: int) -> None:
    with closing(SqliteJournal(directory, checkpoint_bytes=256 << 10, ballast_bytes=0)) as journal:
        recording = RecordingJournal(journal)
        # A small cache, so that sessions are evicted and loaded all the time.
        limits = WorkingLimits(memory_bytes=20_000, tail_messages=8)
        Threads(LayerClient(WorkingMemory(recording, CounterRegistry("chars4"), limits))).run(rounds)  # type: ignore[arg-type]
        reference = replay(recording.committed())
        for key in map(key_of, SESSIONS):
            assert counts_of(journal.head(key)) == counts_of(reference.head(key))
            assert stored(journal, key) == stored(reference, key)
    assert examine(directory) == []


@pytest.mark.slow
def test_the_layer_is_linearizable_under_32_threads(data_dir: Path) -> None:
    run_on_layer(data_dir, SHORT_ROUNDS)


@pytest.mark.adversary
def test_the_layer_is_linearizable_under_32_threads_for_longer(data_dir: Path, attempts: Attempts) -> None:
    attack = attempts.of("32 threads that add, read, prune, annotate and clear (layer)", LINEARIZABLE)
    with attack.attempt(32 * scaled(3)):
        run_on_layer(data_dir, scaled(3))


@pytest.mark.parametrize("strategy", list(Strategy), ids=lambda strategy: strategy.name)
def test_a_prune_concurrent_with_a_clear_prunes_nothing(data_dir: Path, strategy: Strategy) -> None:
    with closing(SqliteJournal(data_dir, ballast_bytes=0)) as journal:
        interfering = InterferingJournal(journal)
        memory = WorkingMemory(interfering, CounterRegistry("chars4"), WorkingLimits(tail_messages=1))  # type: ignore[arg-type]
        client = LayerClient(memory)
        for n in range(8):
            client.add("s", [Message(id=f"m{n}", role=Role.ROLE_USER, content="hello")])
        interfering.interfere = lambda: client.clear("s")
        request = PruneRequest(max_tokens=20, strategy=strategy, window=5, min_messages=4)
        assert memory.prune(key_of("s"), "", request).removed_count == 0
        assert client.recent("s", 10) == []


# -- over gRPC


def run_over_grpc(directory: Path, rounds: int) -> None:
    flags = ("--tokenizer", "chars4", "--working-memory-bytes", "1MiB", "--working-tail-messages", "8")
    with SidecarProcess(directory, *flags) as sidecar:
        with sidecar.client() as client:
            Threads(RpcClient(client)).run(rounds)
            for session_id in SESSIONS:
                check_sums(client, session_id)
        assert sidecar.stop() == 0
    assert examine(directory) == []


def check_sums(client: Client, session_id: str) -> None:
    stats = client.memory.Count(pb.CountRequest(session_id=session_id), timeout=CALL_SECONDS).stats
    window, stored_messages = client.all(session_id), client.all(session_id, include_pruned=True)
    assert stats.message_count == len(window) and stats.pruned_count == len(stored_messages) - len(window)
    assert stats.tokens == sum(message.tokens for message in window)
    assert [message.sequence for message in stored_messages] == list(
        range(stats.last_sequence - len(stored_messages) + 1, stats.last_sequence + 1)
    )


@pytest.mark.slow
def test_the_sidecar_is_linearizable_under_32_threads(data_dir: Path) -> None:
    run_over_grpc(data_dir, SHORT_ROUNDS)


@pytest.mark.adversary
def test_the_sidecar_is_linearizable_under_32_threads_for_longer(data_dir: Path, attempts: Attempts) -> None:
    attack = attempts.of("32 threads that add, read, prune, annotate and clear (sidecar)", LINEARIZABLE)
    with attack.attempt(32 * scaled(3)):
        run_over_grpc(data_dir, scaled(3))
