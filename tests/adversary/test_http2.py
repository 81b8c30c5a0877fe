"""Abuse of HTTP/2: floods, resets, garbage and half-open connections. Other callers are answered, and data stays."""

import random
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from benchmarks.limits.http2 import SERVICE, RawCaller, framed
from memsidecar.v1 import memory_pb2 as memory
from tests.faults.test_kills import FLAGS
from tests.support.attempts import Attempts, random_source, scaled
from tests.support.process import Client, SidecarProcess
from tests.support.waiting import HANG_SECONDS, until

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
COUNT = f"{SERVICE}Count"
ASKING = memory.CountRequest(session_id="s").SerializeToString()
DATA, HEADERS, PRIORITY, RESET, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
FRAMES = 200
HELD_CONNECTIONS = 50


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def connect(address: str) -> socket.socket:
    host, port = address.rsplit(":", 1)
    connection = socket.create_connection((host, int(port)), timeout=HANG_SECONDS)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def send(address: str, data: bytes) -> None:
    """Send on a connection of its own. The server may close it meanwhile."""
    with connect(address) as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(1 << 16):
                pass
        except OSError:
            return


def garbage(address: str, chance: random.Random) -> None:
    send(address, chance.choice([b"", PREFACE]) + chance.randbytes(chance.randint(1, 20_000)))


def random_frames(address: str, chance: random.Random) -> None:
    """Send frames of all kinds, unknown ones too, with random flags, streams and payloads."""
    frames = (
        frame(
            chance.choice([*range(10), chance.randrange(256)]),
            chance.randrange(256),
            chance.choice([0, 1, 3, 2**31 - 1]),
            chance.randbytes(chance.choice([0, 1, 4, 6, 8, 100, 16_384])),
        )
        for _ in range(20)
    )
    send(address, PREFACE + frame(SETTINGS, 0, 0, b"") + b"".join(frames))


def settings_flood(address: str, chance: random.Random) -> None:
    setting = struct.pack(">HI", chance.randint(1, 6), chance.choice([0, 1, 65_535, 2**31 - 1]))
    send(address, PREFACE + frame(SETTINGS, 0, 0, setting) * FRAMES)


def ping_flood(address: str, _: random.Random) -> None:
    send(address, PREFACE + frame(SETTINGS, 0, 0, b"") + frame(PING, 0, 0, b"12345678") * FRAMES)


def window_flood(address: str, chance: random.Random) -> None:
    """Open the window beyond its limit, or by nothing."""
    step = struct.pack(">I", chance.choice([0, 1, 2**31 - 1]))
    send(address, PREFACE + frame(SETTINGS, 0, 0, b"") + frame(WINDOW, 0, 0, step) * FRAMES)


def endless_headers(address: str, _: random.Random) -> None:
    """Begin headers and continue them without an end."""
    opened = frame(HEADERS, 0, 1, b"\x00\x01a\x01b")
    send(address, PREFACE + frame(SETTINGS, 0, 0, b"") + opened + frame(CONTINUATION, 0, 1, b"\x00\x01a\x01b") * FRAMES)


def rapid_resets(address: str, _: random.Random) -> None:
    with RawCaller(address) as caller:
        for _number in range(FRAMES):
            if caller.is_closed:
                return
            caller.cancel(caller.ask(COUNT, ASKING))
            caller.listen(0)


def half_requests(address: str, chance: random.Random) -> None:
    """Begin requests, and go away in the middle of them."""
    with RawCaller(address) as caller:
        request = framed(memory.CountRequest(session_id="s" * 5_000).SerializeToString())
        streams = [caller.call(COUNT) for _ in range(20)]
        caller.send(streams, request[: chance.randrange(1, len(request))], HANG_SECONDS)


ABUSES: dict[str, tuple[Callable[[str, random.Random], None], float]] = {
    "connection with garbage": (garbage, 10),
    "connection with random frames": (random_frames, 10),
    "connection with a flood of settings": (settings_flood, 2),
    "connection with a flood of pings": (ping_flood, 2),
    "connection with a flood of window updates": (window_flood, 2),
    "connection with endless headers": (endless_headers, 2),
    "connection with 200 calls that are reset at once": (rapid_resets, 0.5),
    "connection that ends in the middle of 20 requests": (half_requests, 1),
}
"Each with its number in a round."

EXPECTATION = "another caller is answered, and reads what it wrote"


@pytest.fixture(scope="module")
def abused(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    with SidecarProcess(tmp_path_factory.mktemp("http2") / "data", *FLAGS) as running:
        with running.client() as client:
            client.add("kept", "hello")
        yield running
        assert running.stop() == 0
        assert "Traceback" not in running.log()


def assert_answers(client: Client) -> None:
    assert [message.content for message in client.all("kept")] == ["hello"]


@pytest.mark.parametrize("name", ABUSES)
def test_abuse_of_a_connection_does_not_affect_others(abused: SidecarProcess, name: str, attempts: Attempts) -> None:
    chance = random_source(name)
    abuse, per_round = ABUSES[name]
    attack = attempts.of(name, EXPECTATION)
    with abused.client() as client:
        for _ in range(scaled(per_round)):
            with attack.attempt():
                abuse(abused.address, chance)
                assert_answers(client)
    assert_released(abused)


def assert_released(sidecar: SidecarProcess) -> None:
    """Check that the connections are closed on the side of the sidecar, too."""
    folder = Path(f"/proc/{sidecar.process.pid}/fd")
    until(lambda: len(list(folder.iterdir())) < 100, "the sidecar closes its connections")


def test_half_open_connections_do_not_affect_others(abused: SidecarProcess, attempts: Attempts) -> None:
    """They send nothing, or a part of the preface, and stay."""
    chance = random_source()
    attack = attempts.of("half-open connection, 50 at a time", EXPECTATION)
    with abused.client() as client:
        for _ in range(scaled(0.2)):
            with attack.attempt(HELD_CONNECTIONS), ExitStack() as opened:
                for _ in range(HELD_CONNECTIONS):
                    connection = opened.enter_context(connect(abused.address))
                    connection.sendall(PREFACE[: chance.randrange(len(PREFACE))])
                with abused.client() as another:
                    assert_answers(another)
                assert_answers(client)
    assert_released(abused)
