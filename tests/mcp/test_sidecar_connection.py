"""The connection to a sidecar that is absent, restarted, requires a token, or does not answer."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest

from memsidecar.access.policy import AccessRole
from memsidecar.cli.mcp_options import mcp_options
from memsidecar.mcp_server.errors import ToolError
from memsidecar.mcp_server.message_tools import SearchMessages, search
from memsidecar.mcp_server.sidecar_client import open_client
from memsidecar.settings.client import client_environment
from memsidecar.v1 import memory_pb2, memory_pb2_grpc
from tests.access.access_files import Grant, write_access_file
from tests.mcp.desktop import Desktop, desktop, mcp_flags
from tests.support.process import SidecarProcess
from tests.support.waiting import HANG_SECONDS

HELLO = [{"role": "user", "content": "Hello."}]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the sidecar, which tests start and stop."""
    return f"unix:{tmp_path_factory.mktemp('here')}/s"


@pytest.fixture(scope="module")
def token_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("token") / "token"
    file.write_text("msc_nobody")
    return file


@pytest.fixture(scope="module")
def desk(address: str, token_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desktop]:
    variables = {"MEMSIDECAR_ADDRESS": address, "MEMSIDECAR_TOKEN_FILE": str(token_file), "MEMSIDECAR_SESSION_ID": "s"}
    with desktop(tmp_path_factory.mktemp("desk"), **variables) as one:
        yield one


def test_it_works_once_a_sidecar_runs_and_after_a_kill(desk: Desktop, address: str, tmp_path: Path) -> None:
    refusal = desk.refusal("add_messages", messages=HELLO)
    assert refusal.startswith(f"UNREACHABLE: no sidecar answers at {address}: there is no such socket")
    assert "reason=UNREACHABLE" in desk.log()
    with SidecarProcess(tmp_path / "data", "--listen", address) as sidecar:
        assert desk.use("add_messages", messages=HELLO)["session_id"] == "s"
        sidecar.kill()
        returning = threading.Timer(0.5, sidecar.start)
        returning.start()
        assert len(desk.use("recent_messages", session_id="s")["messages"]) == 1
        returning.join()


class Silent(memory_pb2_grpc.MemoryServiceServicer):
    """A sidecar that accepts a search and does not answer it."""

    def __init__(self) -> None:
        self.received, self.cancelled = threading.Semaphore(0), threading.Semaphore(0)

    def Search(self, _request: memory_pb2.SearchRequest, context: grpc.ServicerContext) -> memory_pb2.SearchResponse:
        over = threading.Event()
        context.add_callback(over.set)
        self.received.release()
        if over.wait(HANG_SECONDS):
            self.cancelled.release()
        return memory_pb2.SearchResponse()


@pytest.fixture
def silent(address: str) -> Iterator[Silent]:
    server, servicer = grpc.server(ThreadPoolExecutor(2)), Silent()
    memory_pb2_grpc.add_MemoryServiceServicer_to_server(servicer, server)  # type: ignore[no-untyped-call]
    server.add_insecure_port(address)
    server.start()
    try:
        yield servicer
    finally:
        server.stop(0).wait()


def test_a_cancelled_call_is_cancelled_at_the_sidecar_and_the_next_one_is_answered(
    desk: Desktop, silent: Silent
) -> None:
    for _ in range(2):
        desk.give_up("search_messages", lambda: take(silent.received), query="anything")
        take(silent.cancelled)
    assert desk.refusal("list_facts").startswith("UNIMPLEMENTED")


def take(semaphore: threading.Semaphore) -> None:
    assert semaphore.acquire(timeout=HANG_SECONDS)


@pytest.mark.usefixtures("silent")
def test_a_call_that_takes_too_long_fails(address: str) -> None:
    plan = mcp_options(mcp_flags("mcp", "--address", address, "--timeout", "0.5"), client_environment({}))

    async def ask() -> None:
        async with open_client(plan) as memory:
            await search(memory, SearchMessages(query="anything"))

    with pytest.raises(ToolError, match="TIMED_OUT"):
        asyncio.run(ask())


def test_the_token_is_read_for_each_call_and_its_role_is_enforced(
    desk: Desktop, address: str, token_file: Path, tmp_path: Path
) -> None:
    reader, writer = Grant("reader", ("default",), AccessRole.READ), Grant("writer", ("default",), AccessRole.WRITE)
    access_file = write_access_file(tmp_path / "access.toml", [reader, writer])
    with SidecarProcess(tmp_path / "data", "--listen", address, "--access-file", str(access_file)):
        assert desk.refusal("list_facts").startswith("UNAUTHENTICATED")
        token_file.write_text(reader.text)
        assert desk.use("list_facts")["facts"] == []
        assert desk.refusal("add_messages", messages=HELLO).startswith("PERMISSION_DENIED")
        token_file.write_text(writer.text)
        desk.use("add_messages", messages=HELLO)
        token_file.unlink()
        assert desk.refusal("list_facts").startswith("UNAUTHENTICATED")
