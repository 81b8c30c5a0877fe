"""Measure the memory that callers can make a sidecar allocate: resident before, and at its peak."""

import resource
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from benchmarks.limits.http2 import SERVICE, RawCaller, framed
from benchmarks.servers import Running, sidecar
from memsidecar.access.access_file import token_lines
from memsidecar.access.bearer_token import new_token
from memsidecar.access.policy import AccessRole
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1 import memory_pb2_grpc
from memsidecar.v1.message_pb2 import ROLE_USER, Message

MIB = 1 << 20
CONNECTIONS = 2_000
CALLERS, STREAMS = 4, 32
SECONDS = 10.0


@dataclass(frozen=True)
class SidecarWithToken:
    """Sidecar with an access file, and authenticated callers, because these can cause the most load."""

    server: Running
    bearer: tuple[tuple[str, str], ...]

    def caller(self) -> RawCaller:
        return RawCaller(self.server.address, headers=self.bearer)


@dataclass(frozen=True)
class Held:
    what: str
    idle_mb: float
    peak_mb: float
    offered_mb: float

    @property
    def grown_mb(self) -> float:
        return self.peak_mb - self.idle_mb


def everything(folder: Path) -> Iterator[Held]:
    """Run each case on a new sidecar, because a process does not always return freed memory to the system."""
    for what, load in _LOADS.items():
        token = new_token()
        access = folder / "access.toml"
        access.write_text(token_lines(token, "benchmark", ["*"], AccessRole.ADMIN, None))
        flags = ("--index", "off", "--access-file", str(access))
        with sidecar(folder / what.replace(" ", "-"), *flags) as server:
            target = SidecarWithToken(server, (("authorization", f"Bearer {token.text}"),))
            _fill(target)
            idle = server.resident_mb
            offered = load(target)
            yield Held(what, idle, server.peak_mb, offered / MIB)


def _fill(target: SidecarWithToken) -> None:
    """Add a session whose response has three MiB."""
    with grpc.insecure_channel(target.server.address) as channel:
        stub: Any = memory_pb2_grpc.MemoryServiceStub(channel)  # type: ignore[no-untyped-call]
        for _ in range(3):
            message = Message(role=ROLE_USER, content="word " * (MIB // 5 - 200))
            stub.Add(pb.AddRequest(session_id="large", message=message), timeout=60, metadata=target.bearer)


def _nothing(_target: SidecarWithToken) -> float:
    return 0.0


def _idle_connections(target: SidecarWithToken) -> float:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    asking = pb.CountRequest(session_id="s").SerializeToString()
    with ExitStack() as opened:
        callers = [opened.enter_context(target.caller()) for _ in range(CONNECTIONS)]
        for caller in callers:
            caller.until_answered([caller.ask(f"{SERVICE}Count", asking)], SECONDS)
    return 0.0


def _slow_readers(target: SidecarWithToken) -> float:
    asking = pb.GetAllRequest(session_id="large", page_size=100).SerializeToString()

    def ask(caller: RawCaller) -> None:
        for _ in range(STREAMS):
            caller.ask(f"{SERVICE}GetAll", asking)
        caller.listen(3)

    _each(target, ask)
    return CALLERS * STREAMS * 3 * MIB


def _endless(size: int) -> Callable[[SidecarWithToken], float]:
    def send(caller: RawCaller) -> None:
        caller.send([caller.call(f"{SERVICE}Add") for _ in range(STREAMS)], framed(bytes(size))[:-1], SECONDS)

    def load(target: SidecarWithToken) -> float:
        _each(target, send)
        return CALLERS * STREAMS * size

    return load


def _whole(size: int) -> Callable[[SidecarWithToken], float]:
    def send(caller: RawCaller) -> None:
        caller.send([caller.call(f"{SERVICE}Add") for _ in range(STREAMS)], framed(bytes(size)), SECONDS)

    def load(target: SidecarWithToken) -> float:
        _each(target, send)
        return CALLERS * STREAMS * size

    return load


def _each(target: SidecarWithToken, work: Callable[[RawCaller], None]) -> None:
    with ExitStack() as opened:
        callers = [opened.enter_context(target.caller()) for _ in range(CALLERS)]
        threads = [threading.Thread(target=work, args=(caller,)) for caller in callers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


_LOADS: dict[str, Callable[[SidecarWithToken], float]] = {
    "nothing": _nothing,
    f"{CONNECTIONS} idle connections": _idle_connections,
    f"{CALLERS * STREAMS} unread responses": _slow_readers,
    f"{CALLERS * STREAMS} requests of 4 MiB that never end": _endless(4 * MIB),
    f"{CALLERS * STREAMS} requests of 16 MiB that never end": _endless(16 * MIB),
    f"{CALLERS * STREAMS} requests of 4 MiB at once": _whole(4 * MIB - 100),
    f"{CALLERS * STREAMS} requests of 8 MiB at once": _whole(8 * MIB - 100),
}
