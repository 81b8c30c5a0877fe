"""`memsidecar bench`: a short measurement of a running sidecar, in a namespace of its own."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any
from uuid import uuid4

import click
import grpc

from memsidecar.cli.check import open_channel
from memsidecar.cli.client_options import ClientFlags, Command, client_options, with_client_flags
from memsidecar.cli.command import SidecarCommand
from memsidecar.cli.output import JSON_OPTION, Column, Output, plural
from memsidecar.cli.progress import progress_bar
from memsidecar.cli.sidecar_calls import CallFailed, SidecarCalls
from memsidecar.settings.client import client_environment
from memsidecar.v1 import context_pb2, memory_pb2, session_pb2
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_USER, SCOPE_USER, Message

NAMESPACE = "memsidecar-bench"
MESSAGES_PER_SESSION = 50
_PEOPLE = ("Ann", "Bob", "Carla", "Deniz", "Emil", "Fumiko")
_PLACES = ("Lisbon", "Oslo", "Kyoto", "Quito", "Tromso", "Cape Town")
_THINGS = ("a flight", "the invoice", "a talk", "the garden", "a server", "dinner")
_COLUMNS = (
    Column("rpc", "bold"),
    Column("calls", is_number=True),
    Column("calls/s", is_number=True),
    *(Column(f"{name} ms", is_number=True) for name in ("p50", "p95", "p99", "max")),
)


@dataclass(frozen=True)
class Measurement:
    """The durations of the calls of one RPC, in ascending order, and the time they took together."""

    rpc: str
    durations: Sequence[float]
    elapsed_seconds: float

    @property
    def calls_per_second(self) -> float:
        return len(self.durations) / self.elapsed_seconds

    def percentile_ms(self, share: float) -> float:
        """Return the duration that this share of the calls did not exceed."""
        return self.durations[max(0, -int(-share * len(self.durations) // 1) - 1)] * 1000

    @property
    def row(self) -> tuple[str, ...]:
        times = (f"{self.percentile_ms(share):.1f}" for share in (0.5, 0.95, 0.99, 1.0))
        return (self.rpc, f"{len(self.durations):,}", f"{self.calls_per_second:,.0f}", *times)

    @property
    def record(self) -> dict[str, Any]:
        times = {"p50Ms": 0.5, "p95Ms": 0.95, "p99Ms": 0.99, "maxMs": 1.0}
        return {
            "rpc": self.rpc,
            "calls": len(self.durations),
            "callsPerSecond": round(self.calls_per_second, 1),
            **{name: round(self.percentile_ms(share), 3) for name, share in times.items()},
        }


def _count_option(flag: str, default: int, what: str) -> Callable[[Command], Command]:
    kind = click.IntRange(1, 1_000_000)
    return click.option(flag, type=kind, default=default, metavar="N", help=f"{what} Default: {default}.")


@click.command(
    cls=SidecarCommand,
    examples=("memsidecar bench --messages 200 --searches 40 --contexts 20", "memsidecar bench --clients 1 --json"),
)
@_count_option("--messages", 1_000, "Messages to add.")
@_count_option("--searches", 200, "Searches to make.")
@_count_option("--contexts", 100, "Contexts to build.")
@_count_option("--clients", 4, "Calls that are in flight at once.")
@JSON_OPTION
@with_client_flags(namespace="The namespace in which to add, under a user of its own.", default_namespace=NAMESPACE)
def bench(
    flags: ClientFlags, *, is_json: bool | None, messages: int, searches: int, contexts: int, clients: int
) -> None:
    """Measure Add, Search and BuildContext of a running sidecar, for a few seconds.

    The durations are those of this client, which is a Python program: its share is about a millisecond a call. What it
    adds belongs to a user of its own, and is forgotten at the end, also after an interruption. With a token that may
    not erase, it stays, and the command says how to remove it.
    """
    options, output = client_options(flags, client_environment()), Output(is_json)
    with open_channel(options) as channel, ThreadPoolExecutor(clients) as pool:
        run = _Run(SidecarCalls(options, channel), pool, f"bench-{uuid4()}", messages)
        with run.forgotten(output):
            measured = [run.add(), run.search(searches), run.build_contexts(contexts)]
    if not output.is_json:
        output.table(_COLUMNS, [each.row for each in measured])
        return
    for each in measured:
        print(json.dumps(each.record), flush=True)


@dataclass(frozen=True)
class _Run:
    calls: SidecarCalls
    pool: ThreadPoolExecutor
    user_id: str
    messages: int

    def add(self) -> Measurement:
        def request(number: int) -> Any:
            role = ROLE_ASSISTANT if number % 2 else ROLE_USER
            message = Message(role=role, content=_sentence(number))
            return memory_pb2.AddRequest(**self._owner(number), message=message)

        return self._measure("Add", self.messages, request)

    def search(self, count: int) -> Measurement:
        def request(number: int) -> Any:
            return memory_pb2.SearchRequest(
                namespace=self.calls.namespace,
                user_id=self.user_id,
                query=_sentence(number),
                scope=SCOPE_USER,
                limit=10,
            )

        return self._measure("Search", count, request)

    def build_contexts(self, count: int) -> Measurement:
        def request(number: int) -> Any:
            owner = self._owner(number * MESSAGES_PER_SESSION % self.messages)
            return context_pb2.BuildContextRequest(**owner, query=_sentence(number))

        return self._measure("BuildContext", count, request)

    def _owner(self, number: int) -> dict[str, Any]:
        session_id = f"{self.user_id}-{number // MESSAGES_PER_SESSION}"
        return {"namespace": self.calls.namespace, "user_id": self.user_id, "session_id": session_id}

    def _measure(self, rpc: str, count: int, request: Callable[[int], Any]) -> Measurement:
        def timed(number: int) -> float:
            made = request(number)
            begin = time.perf_counter()
            self.calls.call(rpc, made)
            return time.perf_counter() - begin

        durations, begin = [], time.perf_counter()
        with progress_bar(f"{rpc:<12}", count) as advance:
            for duration in self.pool.map(timed, range(count)):
                durations.append(duration)
                advance(1)
        return Measurement(rpc, sorted(durations), time.perf_counter() - begin)

    @contextmanager
    def forgotten(self, output: Output) -> Iterator[None]:
        """Forget what is added, whatever happens. Without a sidecar, a dry run fails before anything is added."""
        request = session_pb2.ForgetUserRequest(namespace=self.calls.namespace, user_id=self.user_id, dry_run=True)
        try:
            self.calls.call("ForgetUser", request)
        except CallFailed as error:
            if error.code is not grpc.StatusCode.PERMISSION_DENIED:
                raise
        request.dry_run = False
        try:
            yield
        finally:
            self.pool.shutdown(cancel_futures=True)
            try:
                receipt = self.calls.call("ForgetUser", request).receipt
            except CallFailed as error:
                remedy = f"memsidecar forget user {self.user_id} --namespace {self.calls.namespace} --yes"
                output.note(f"What was added stays ({error}). Remove it with a token of the role admin: {remedy}")
            else:
                output.note(f"{plural(receipt.messages, 'message')} were added, and are forgotten.")


def _sentence(number: int) -> str:
    """Return a sentence that is the same in each run, and different from most others."""
    chance = Random(number)
    person, place, thing = (chance.choice(words) for words in (_PEOPLE, _PLACES, _THINGS))
    return (
        f"{person} plans {thing} in {place} on day {chance.randrange(365)}, and asked about it for the {number}th time."
    )
