"""Threads that write to a sidecar by all RPCs until it ends, and record each acknowledgement."""

import itertools
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Self

import grpc

from memsidecar.v1 import memory_pb2 as pb
from tests.faults.acknowledged import Acknowledged
from tests.faults.owned_state import OwnedState
from tests.support.process import CALL_SECONDS, Client

Action = Callable[[random.Random, Iterator[str]], None]


class ConcurrentWriters:
    """Writers share the sessions of `shared`. Each of `owned` belongs to one more writer, which also clears it.

    Each of `states` has a writer of its own, too.
    """

    def __init__(
        self,
        client: Client,
        acknowledged: Acknowledged,
        name: str,
        *,
        shared: Sequence[str],
        owned: Sequence[str] = (),
        states: Sequence[OwnedState] = (),
    ):
        self._client = client
        self._acknowledged = acknowledged
        self._name = name
        self._shared = shared
        self.codes: list[grpc.StatusCode] = []
        self.bugs: list[BaseException] = []
        self.pruning = threading.Event()
        self.clearing = threading.Event()
        actions: list[Action] = [self._add, self._batch, self._stream, self._mixed] * 2
        self._threads = [self._thread(number, action) for number, action in enumerate(actions)]
        self._threads.append(self._thread(len(self._threads), self._prune))
        for session_id in owned:
            self._threads.append(self._thread(len(self._threads), self._clearing_of(session_id)))
        for state in states:
            self._threads.append(self._thread(len(self._threads), self._changes_of(state)))

    def _thread(self, number: int, action: Action) -> threading.Thread:
        return threading.Thread(target=self._run, args=(number, action), name=f"writer-{number}", daemon=True)

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for thread in self._threads:
            thread.join(CALL_SECONDS)
        assert not any(thread.is_alive() for thread in self._threads), "a call never ended"
        if self.bugs:
            raise self.bugs[0]

    def _run(self, number: int, action: Action) -> None:
        random_source = random.Random(f"{self._name}/{number}")
        ids = (f"{self._name}-{number}-{n}" for n in itertools.count())
        try:
            while True:
                action(random_source, ids)
        except grpc.RpcError as error:
            self.codes.append(error.code())
        except BaseException as bug:  # noqa: BLE001  a thread's failure is raised where the block ends
            self.bugs.append(bug)

    def _add(self, random_source: random.Random, ids: Iterator[str]) -> None:
        self._add_to(random_source.choice(self._shared), ids)

    def _add_to(self, session_id: str, ids: Iterator[str]) -> None:
        (message,) = self._acknowledged.send(session_id, [next(ids)])
        request = pb.AddRequest(session_id=session_id, message=message)
        self._acknowledged.acknowledge(session_id, [self._client.memory.Add(request, timeout=CALL_SECONDS)])

    def _batch(self, random_source: random.Random, ids: Iterator[str]) -> None:
        session_id = random_source.choice(self._shared)
        messages = self._acknowledged.send(session_id, [next(ids) for _ in range(random_source.randint(2, 8))])
        request = pb.AddBatchRequest(session_id=session_id, messages=messages)
        self._acknowledged.acknowledge(session_id, self._client.memory.AddBatch(request, timeout=CALL_SECONDS).results)

    def _stream(self, random_source: random.Random, ids: Iterator[str]) -> None:
        sessions = [random_source.choice(self._shared) for _ in range(random_source.randint(3, 20))]

        def requests() -> Iterator[pb.AddStreamRequest]:
            for session_id in sessions:
                (message,) = self._acknowledged.send(session_id, [next(ids)])
                yield pb.AddStreamRequest(session_id=session_id, message=message)

        answers = self._client.memory.AddStream(requests(), timeout=CALL_SECONDS)
        for session_id, answer in zip(sessions, answers, strict=True):
            self._acknowledged.acknowledge(session_id, [answer.result])

    def _mixed(self, random_source: random.Random, ids: Iterator[str]) -> None:
        random_source.choice([self._add, self._batch, self._stream])(random_source, ids)

    def _prune(self, random_source: random.Random, ids: Iterator[str]) -> None:
        session_id = random_source.choice(self._shared)
        self._add_to(session_id, ids)
        request = pb.PruneRequest(
            session_id=session_id, strategy=pb.PRUNE_STRATEGY_WINDOW, window=random_source.randint(3, 30)
        )
        self.pruning.set()
        self._client.memory.Prune(request, timeout=CALL_SECONDS)
        self.pruning.clear()

    def _changes_of(self, state: OwnedState) -> Action:
        return lambda random_source, _: state.write(self._client, random_source)

    def _clearing_of(self, session_id: str) -> Action:
        def add_and_clear(random_source: random.Random, ids: Iterator[str]) -> None:
            for _ in range(random_source.randint(1, 12)):
                self._add_to(session_id, ids)
            self._acknowledged.begin_clear(session_id)
            self.clearing.set()
            self._client.memory.Clear(pb.ClearRequest(session_id=session_id), timeout=CALL_SECONDS)
            self.clearing.clear()
            self._acknowledged.end_clear(session_id)

        return add_and_clear
