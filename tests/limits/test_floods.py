"""Abusive callers: memory is bounded, and other callers are answered."""

import resource
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.limits.http2 import HEALTH_CHECK, SERVICE, RawCaller, ResetFlood, framed
from memsidecar.access.access_file import token_lines
from memsidecar.access.bearer_token import new_token
from memsidecar.access.policy import AccessRole
from memsidecar.v1 import memory_pb2 as memory
from tests.limits.refusals import refused
from tests.support.process import Client, SidecarProcess
from tests.support.waiting import HANG_SECONDS, until
from tests.tls.authority import Authority
from tests.tls.server import TlsClient, tls_sidecar

MIB = 1 << 20
ADD, COUNT = f"{SERVICE}Add", f"{SERVICE}Count"
ASKING = memory.CountRequest(session_id="s").SerializeToString()
INVALID_ARGUMENT, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNAUTHENTICATED = 3, 4, 8, 16
CONNECTIONS = 3000
SPARE_FILES = 200
RESETTING_CONNECTIONS, HONEST_CALLS = 3, 40
SATURATING_CALLS = 3000
SECONDS = HANG_SECONDS


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    # As many systems have it: the sidecar itself must ask for more.
    limited = ("prlimit", f"--nofile=1024:{_hard_limit()}")
    with SidecarProcess(tmp_path_factory.mktemp("floods") / "data", wrap=limited) as running:
        yield running


@dataclass(frozen=True)
class RestrictedSidecar:
    """A sidecar with an access file, and a valid token."""

    sidecar: SidecarProcess
    bearer: list[tuple[str, str]]

    def assert_answers(self) -> None:
        with RawCaller(self.sidecar.address) as caller:
            assert caller.until_answered([caller.ask(COUNT, ASKING, self.bearer)], SECONDS) == [0]

    def until_answers(self) -> None:
        """Call as clients do: again, if the request took long to arrive and had to make room for others."""

        def is_answered() -> bool:
            with RawCaller(self.sidecar.address) as caller:
                (status,) = caller.until_answered([caller.ask(COUNT, ASKING, self.bearer)], SECONDS)
            assert status in (0, RESOURCE_EXHAUSTED)
            return status == 0

        until(is_answered)


@pytest.fixture(scope="module")
def restricted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestrictedSidecar]:
    folder, token = tmp_path_factory.mktemp("restricted"), new_token()
    access = folder / "access.toml"
    access.write_text(token_lines(token, "agent", ["*"], AccessRole.ADMIN, None))
    with SidecarProcess(folder / "data", "--access-file", str(access)) as running:
        yield RestrictedSidecar(running, [("authorization", f"Bearer {token.text}")])


def _hard_limit() -> int:
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1]


def resident_mib(sidecar: SidecarProcess) -> float:
    status = Path(f"/proc/{sidecar.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def assert_answers(client: Client) -> None:
    assert refused(lambda: client.memory.Count(memory.CountRequest(session_id="s"), timeout=SECONDS)) is None


@pytest.fixture
def many_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < CONNECTIONS + SPARE_FILES:
        pytest.skip(f"NOT TESTED: only {hard} files may be open")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, CONNECTIONS + SPARE_FILES), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
def test_thousands_of_idle_connections(sidecar: SidecarProcess, client: Client) -> None:
    assert_answers(client)
    before = resident_mib(sidecar)
    with ExitStack() as opened:
        callers = [opened.enter_context(RawCaller(sidecar.address)) for _ in range(CONNECTIONS)]
        for caller in callers[:: CONNECTIONS // 10]:
            assert caller.until_answered([caller.ask(COUNT, ASKING)], SECONDS) == [0]
        assert_answers(client)
        assert resident_mib(sidecar) - before < CONNECTIONS * 64 / 1024, "64 KiB each at most"
    with sidecar.client() as another:
        assert_answers(another)


@pytest.mark.slow
def test_incomplete_requests_are_received_a_few_at_a_time(restricted: RestrictedSidecar) -> None:
    """Callers send 512 MiB in total; buffered bytes are bounded, and complete requests are answered."""
    restricted.assert_answers()
    before = resident_mib(restricted.sidecar)
    endless = framed(bytes(4 * MIB))[:-1]
    with ExitStack() as opened:
        callers = [opened.enter_context(RawCaller(restricted.sidecar.address)) for _ in range(4)]
        for caller in callers:
            caller.send([caller.call(ADD, restricted.bearer) for _ in range(32)], endless, 1.5)
        assert resident_mib(restricted.sidecar) - before < 150
        restricted.until_answers()
    restricted.assert_answers()


def test_health_calls_without_credentials_are_limited_too(restricted: RestrictedSidecar) -> None:
    before = resident_mib(restricted.sidecar)
    endless = framed(bytes(4 * MIB))[:-1]
    health_listen = restricted.sidecar.ready["health_listen"]
    with RawCaller(restricted.sidecar.address) as caller, RawCaller(health_listen) as probing:
        caller.send([caller.call(HEALTH_CHECK) for _ in range(64)], endless, 1.5)
        announced = [probing.call(HEALTH_CHECK) for _ in range(32)]
        probing.send(announced, endless[:16], 1.5)
        assert set(probing.until_answered(announced, SECONDS)) == {RESOURCE_EXHAUSTED}, "by the size that is announced"
        streams = [probing.call(HEALTH_CHECK) for _ in range(32)]
        probing.send(streams, endless, 1.5)
        # Who comes to announce it within a second is too large, who does not is late: so many at once take that long.
        assert set(probing.until_answered(streams, SECONDS)) <= {RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED}
        assert resident_mib(restricted.sidecar) - before < 80
        restricted.until_answers()


def test_unauthenticated_calls_are_rejected_before_their_request_is_read(restricted: RestrictedSidecar) -> None:
    with RawCaller(restricted.sidecar.address) as caller:
        streams = [caller.call(ADD) for _ in range(64)]
        assert set(caller.until_answered(streams, SECONDS)) == {UNAUTHENTICATED}, "with nothing sent at all"
    restricted.assert_answers()


def test_rejected_requests_are_released(restricted: RestrictedSidecar) -> None:
    """The requests are complete: their errors must not keep them in memory."""
    restricted.assert_answers()
    before = resident_mib(restricted.sidecar)
    with RawCaller(restricted.sidecar.address) as caller:
        streams = [caller.call(ADD, restricted.bearer) for _ in range(64)]
        caller.send(streams, framed(bytes(8 * MIB - 100)), SECONDS)
        assert set(caller.until_answered(streams, SECONDS)) == {RESOURCE_EXHAUSTED}
    assert resident_mib(restricted.sidecar) - before < 256, "of 512"


def test_a_call_without_a_request_is_rejected(restricted: RestrictedSidecar) -> None:
    with RawCaller(restricted.sidecar.address) as caller:
        stream = caller.call(COUNT, restricted.bearer)
        caller.end(stream)
        assert caller.until_answered([stream], SECONDS) == [INVALID_ARGUMENT]


@pytest.mark.parametrize(("size", "reason"), [(4 * MIB + 1, "TOO_LARGE"), (8 * MIB + 1, "")])
def test_too_large_requests(client: Client, size: int, reason: str) -> None:
    """Up to twice the limit the error has details; beyond that gRPC rejects the request without details."""
    request = memory.CountRequest(session_id="s", user_id="x" * size)
    found = refused(lambda: client.memory.Count(request, timeout=SECONDS))
    assert found is not None
    assert (found.code.name, found.reason) == ("RESOURCE_EXHAUSTED", reason)


BROKEN = {
    "a frame larger than agreed": struct.pack(">I", 1 << 20)[1:] + b"\x00\x00" + struct.pack(">I", 1) + bytes(1 << 17),
    "data on a stream that is none": b"\x00\x00\x01\x00\x00" + struct.pack(">I", 99) + b"x",
    "headers that cannot be decoded": b"\x00\x00\x04\x01\x05" + struct.pack(">I", 1) + b"\xff\xff\xff\xff",
    "not HTTP/2": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_broken_frames_do_not_affect_others(sidecar: SidecarProcess, client: Client, data: bytes) -> None:
    with RawCaller(sidecar.address) as caller:
        caller.raw(data)
        caller.listen(0.2)
    assert_answers(client)


def test_rapid_reset_does_not_affect_others(sidecar: SidecarProcess, client: Client) -> None:
    before = resident_mib(sidecar)
    for _ in range(3):
        with RawCaller(sidecar.address) as caller:
            for _ in range(700):
                if caller.is_closed:
                    break
                caller.cancel(caller.ask(COUNT, ASKING))
                caller.listen(0)
        assert_answers(client)
    assert resident_mib(sidecar) - before < 100


@pytest.mark.parametrize("is_restricted", [False, True], ids=["no access file", "access file"])
def test_no_call_fails_while_other_connections_reset_their_calls(
    sidecar: SidecarProcess, restricted: RestrictedSidecar, is_restricted: bool
) -> None:
    """gRPC queues calls until they are accepted, and rejects them without details when the queue is full."""
    flooded, bearer = (restricted.sidecar, restricted.bearer) if is_restricted else (sidecar, [])
    request = memory.CountRequest(session_id="s")
    with ResetFlood(flooded.address, RESETTING_CONNECTIONS, ADD) as flood, flooded.client() as client:
        until(lambda: flood.sent_calls > 10_000)
        calls = [client.memory.Count.future(request, timeout=SECONDS, metadata=bearer) for _ in range(HONEST_CALLS)]
        found = [refused(call.result) for call in calls]
    assert [(one.code, one.message) for one in found if one] == []


def test_a_connection_may_use_all_of_its_streams_all_the_time(sidecar: SidecarProcess) -> None:
    with RawCaller(sidecar.address) as caller:
        caller.until_answered([caller.ask(COUNT, ASKING)], SECONDS)
        asked = 1
        while len(caller.statuses) < asked or asked < SATURATING_CALLS:
            while asked - len(caller.statuses) < caller.most_streams and asked < SATURATING_CALLS:
                caller.ask(COUNT, ASKING)
                asked += 1
            caller.listen(0.001)
            assert not caller.is_closed
        assert caller.most_streams < SATURATING_CALLS / 10
        assert set(caller.statuses.values()) == {0}


def test_a_flood_of_pings_closes_the_connection(sidecar: SidecarProcess, client: Client) -> None:
    with RawCaller(sidecar.address) as caller:
        give_up = time.monotonic() + SECONDS
        while not caller.is_closed and time.monotonic() < give_up:
            caller.ping()
            caller.listen(0.01)
        assert caller.is_closed
    assert_answers(client)


@pytest.mark.slow
def test_an_unfinished_handshake_times_out(tmp_path: Path) -> None:
    authority = Authority.new()
    with tls_sidecar(tmp_path, authority.server()) as sidecar, ExitStack() as opened:
        host, port = sidecar.address.rsplit(":", 1)
        silent = [opened.enter_context(socket.create_connection((host, int(port)))) for _ in range(200)]
        silent[0].sendall(b"\x16\x03\x01\x02\x00\x01")
        with TlsClient(sidecar.address, authority.pem) as client:
            assert client.count() == 0
        for one in silent:
            one.settimeout(SECONDS)
            assert _is_hung_up(one)


def _is_hung_up(one: socket.socket) -> bool:
    try:
        return one.recv(1) == b""
    except ConnectionResetError:
        return True
