"""Many sessions, many connections, slow readers, and processes at their limits of descriptors and memory."""

import random
import resource
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import grpc
import pytest

from benchmarks.limits.http2 import SERVICE, RawCaller
from memsidecar.stores.sqlite.integrity import examine
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1 import session_pb2 as session
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.faults.owned_kinds import one_of_each
from tests.faults.owned_state import OwnedState
from tests.faults.test_kills import FLAGS
from tests.limits.test_slow_readers import answers_again, fill, get_all, stall
from tests.support.attempts import Attempts, random_source, scaled
from tests.support.process import CALL_SECONDS, Client, SidecarProcess
from tests.support.waiting import HANG_SECONDS

MIB = 1 << 20
COUNT = f"{SERVICE}Count"
SPARE_FILES = 200
PER_SESSION = 3
SAMPLE = 200


def test_thousands_of_sessions_are_complete_and_apart(data_dir: Path, attempts: Attempts) -> None:
    """The cache has room for a small part of them."""
    chance, count = random_source(), scaled(100)
    attack = attempts.of(
        "sessions in one sidecar, with a cache for a few of them, then kill -9",
        "each session is listed once; a sample has its messages, and no others",
    )
    texts = {f"session {at}": [f"{at} {n}" for n in range(PER_SESSION)] for at in range(count)}
    with SidecarProcess(data_dir, *FLAGS, "--working-memory-bytes", "1MiB") as sidecar, attack.attempt(count):
        with sidecar.client() as client:
            requests = (
                memory.AddStreamRequest(session_id=name, message=Message(role=ROLE_USER, content=contents[n]))
                for n in range(PER_SESSION)
                for name, contents in texts.items()
            )
            assert sum(1 for _ in client.memory.AddStream(requests, timeout=10 * CALL_SECONDS)) == count * PER_SESSION
        sidecar.kill()
        sidecar.start()
        with sidecar.client() as client:
            assert sorted(listed_sessions(client)) == sorted(texts)
            for name in chance.sample(sorted(texts), min(SAMPLE, count)):
                assert [message.content for message in client.all(name)] == texts[name]
        assert sidecar.stop() == 0
    assert examine(data_dir) == []


def listed_sessions(client: Client) -> Iterator[str]:
    token = ""
    while True:
        request = session.ListSessionsRequest(page_size=1000, page_token=token)
        page = client.sessions.ListSessions(request, timeout=CALL_SECONDS)
        yield from (found.session_id for found in page.sessions)
        token = page.next_page_token
        if not token:
            return


@contextmanager
def many_files(count: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < count + SPARE_FILES:
        pytest.skip(f"NOT TESTED: {count} connections. Only {hard} files may be open here.")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count + SPARE_FILES), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def asking(session_id: str) -> bytes:
    return memory.CountRequest(session_id=session_id).SerializeToString()


def test_each_of_many_connections_is_answered(data_dir: Path, attempts: Attempts) -> None:
    count = scaled(10)
    attack = attempts.of("open connection, all at once", "a call on each of them is answered, while all are open")
    with many_files(count), SidecarProcess(data_dir, *FLAGS) as sidecar, ExitStack() as opened:
        callers = [opened.enter_context(RawCaller(sidecar.address)) for _ in range(count)]
        streams = [caller.ask(COUNT, asking("s")) for caller in callers]
        for caller, stream in zip(callers, streams, strict=True):
            with attack.attempt():
                assert caller.until_answered([stream], HANG_SECONDS) == [0]


def test_slow_readers_do_not_block_others(data_dir: Path, attempts: Attempts) -> None:
    attack = attempts.of(
        "caller that requests 36 MiB and reads nothing",
        "its pending responses are bounded; another namespace is answered; its own, too, when it is gone",
    )
    with SidecarProcess(data_dir, *FLAGS, "--max-pending-bytes", "16MiB") as sidecar, sidecar.client() as client:
        for namespace in ("a", "b"):
            fill(client, namespace)
        for _ in range(scaled(0.5)):
            with attack.attempt():
                with RawCaller(sidecar.address) as stalling:
                    stall(stalling, "a")
                    assert get_all(client, "b") == 3
                assert answers_again(client, "a")


# -- limits of the process


def limit(sidecar: SidecarProcess, kind: int, value: int) -> None:
    resource.prlimit(
        sidecar.process.pid, kind, (value, resource.RLIM_INFINITY if kind == resource.RLIMIT_AS else value)
    )


def open_files(sidecar: SidecarProcess) -> int:
    return len(list(Path(f"/proc/{sidecar.process.pid}/fd").iterdir()))


def virtual_bytes(sidecar: SidecarProcess) -> int:
    status = Path(f"/proc/{sidecar.process.pid}/status").read_text()
    return int(status.split("VmSize:")[1].split()[0]) << 10


def write_until_refused(client: Client, states: list[OwnedState], chance: random.Random) -> None:
    for state in states:
        with suppress(grpc.RpcError):
            for _ in range(3):
                state.write(client, chance)


def test_a_process_without_free_descriptors_loses_nothing(data_dir: Path, attempts: Attempts) -> None:
    chance = random_source()
    attack = attempts.of(
        "process without a free descriptor, with connections that wait for one, then kill -9",
        "open connections are answered; nothing acknowledged is missing or half stored",
    )
    states = one_of_each("files")
    with SidecarProcess(data_dir, *FLAGS) as sidecar:
        for _ in range(scaled(0.5)):
            with attack.attempt(), ExitStack() as opened:
                client = opened.enter_context(sidecar.client())
                for state in states:
                    state.write(client, chance)
                limit(sidecar, resource.RLIMIT_NOFILE, open_files(sidecar) + 4)
                for _ in range(20):
                    opened.enter_context(RawCaller(sidecar.address))
                write_until_refused(client, states, chance)
                request = memory.CountRequest(session_id="s")
                assert client.memory.Count(request, timeout=CALL_SECONDS).stats.message_count == 0
                restart_and_settle(sidecar, states)
        assert sidecar.stop() == 0
    assert examine(data_dir) == []


def restart_and_settle(sidecar: SidecarProcess, states: list[OwnedState]) -> None:
    sidecar.kill()
    sidecar.start()
    with sidecar.client() as client:
        for state in states:
            state.settle(client)


def test_a_process_without_memory_loses_nothing(data_dir: Path, attempts: Attempts) -> None:
    chance = random_source()
    attack = attempts.of(
        "process that gets no more memory, under large requests, then kill -9",
        "nothing acknowledged is missing or half stored",
    )
    states = one_of_each("memory")
    with SidecarProcess(data_dir, *FLAGS) as sidecar:
        for number in range(scaled(0.5)):
            with attack.attempt():
                with sidecar.client() as client:
                    for state in states:
                        state.write(client, chance)
                    limit(sidecar, resource.RLIMIT_AS, virtual_bytes(sidecar) + chance.choice([0, 4, 16]) * MIB)
                    add_large(client, f"large {number}")
                    write_until_refused(client, states, chance)
                restart_and_settle(sidecar, states)
        assert sidecar.stop() == 0
    assert examine(data_dir) == []


def add_large(client: Client, session_id: str) -> None:
    """Add large messages at once; each of them may fail."""

    def add(_: int) -> None:
        with suppress(grpc.RpcError):
            client.add(session_id, "word " * (MIB // 5 - 200))

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(add, range(32)))
