"""`memsidecar compare`: differences are shown as JSON, and one that only the time between two calls makes is none."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest

from memsidecar.v1.memory_pb2 import AddRequest
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from memsidecar.v1.session_pb2 import SessionPolicy, SetPolicyRequest
from tests.archives.filled_memory import export_records, import_records, settle
from tests.cli.commands import CommandLine
from tests.faults.shim import library
from tests.support.process import CALL_SECONDS, Client, SidecarProcess

HUGE = "words of a message without an end " * 2_000
CLOCK_STEP_SECONDS = 60


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    with SidecarProcess(tmp_path_factory.mktemp("other") / "data", "--index", "volatile") as sidecar:
        yield sidecar


def compared(memory: CommandLine, other_address: str, namespace: str) -> list[str]:
    """Return the lines of a comparison that did not fail."""
    done = memory.run("compare", "--namespace", namespace, "--other-address", other_address)
    assert done.stderr == "" and done.returncode == int(not done.stdout.startswith("equal: ")), done
    return done.stdout.splitlines()


def test_values_are_shown_as_json_of_one_line(memory: CommandLine, other: SidecarProcess) -> None:
    with memory.sidecar.client() as here, other.client() as there:
        here.add("s", 'red \x1b[31m "title"\n日本', namespace="values", id="m", user_id="ann")
        there.add("s", "blue", namespace="values", id="m", user_id="ann")
        there.add("s", "one more", namespace="values", id="n", user_id="ann")
    lines = compared(memory, other.address, "values")
    assert lines[0] == "Export().message: 1 here, 2 there"
    found = next(line for line in lines if line.startswith("GetRecent(s).messages: "))
    assert found.startswith(
        'GetRecent(s).messages: 1 item with {"id": "m", "role": "ROLE_USER", "content": "red \\u001b'
    )
    assert " here, 2 items with {" in found
    assert not any("\x1b" in line or "'" in line or "None" in line for line in lines), lines
    assert lines[-1].endswith(" differences")


def test_one_difference_is_not_counted_in_the_plural(memory: CommandLine, other: SidecarProcess) -> None:
    with other.client() as there:
        there.sessions.SetPolicy(SetPolicyRequest(namespace="single", policy=SessionPolicy(auto_prune_tokens=1_000)))
    assert compared(memory, other.address, "single") == ["Export().policy: nothing here, 1 there", "1 difference"]


def test_a_context_that_both_refuse_for_its_size_is_equal(memory: CommandLine, other: SidecarProcess) -> None:
    with memory.sidecar.client() as here, other.client() as there:
        here.add("s", HUGE, namespace="huge")
        copy(here, there, "huge")
    assert compared(memory, other.address, "huge") == ["equal: 1 message records, 1 session records"]


def test_a_session_of_another_owner_is_a_difference(memory: CommandLine, other: SidecarProcess) -> None:
    with memory.sidecar.client() as here, other.client() as there:
        here.add("s", "hello", namespace="owners", user_id="ann")
        there.add("s", "hello", namespace="owners")
    assert any(
        line.startswith('GetSession(s).session.userId: "ann" here, nothing there')
        for line in compared(memory, other.address, "owners")
    )


def test_a_sidecar_that_does_not_answer_is_named(memory: CommandLine) -> None:
    done = memory.run("compare", "--other-address", "127.0.0.1:1")
    assert done.returncode == 1 and "127.0.0.1:1 does not answer: nothing listens there" in done.stderr


# -- ages


class Forwarder(grpc.GenericRpcHandler):
    """Forwards each call to a sidecar as it is, and calls `before` with its method first."""

    def __init__(self, address: str, before: Callable[[str], None]) -> None:
        self._channel = grpc.insecure_channel(address)
        self._before = before

    def service(self, details: Any) -> Any:
        """Return a handler of one request and a stream of responses, which any unary call is, too."""
        forward: Any = self._channel.unary_stream(details.method)

        def handle(request: bytes, _: grpc.ServicerContext) -> Iterator[bytes]:
            self._before(details.method.rpartition("/")[2])
            yield from forward(request, timeout=CALL_SECONDS)

        return grpc.unary_stream_rpc_method_handler(handle)

    def close(self) -> None:
        self._channel.close()


@contextmanager
def forwarded(address: str, before: Callable[[str], None]) -> Iterator[str]:
    """Serve a sidecar at another address."""
    handler = Forwarder(address, before)
    server = grpc.server(ThreadPoolExecutor(2), handlers=[handler])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(None).wait()
    handler.close()


@pytest.mark.parametrize(("late_contexts", "is_equal"), [(1, True), (1_000, False)], ids=["once", "always"])
def test_an_age_that_changes_between_two_calls_is_no_difference(
    memory: CommandLine, tmp_path: Path, late_contexts: int, is_equal: bool
) -> None:
    """The clock of the other sidecar is a minute ahead while it builds its first contexts."""
    shift, namespace = tmp_path / "shift", f"ages-{late_contexts}"
    environ = {"LD_PRELOAD": library("clock"), "CLOCK_SHIFT": str(shift)}
    shift.write_text("0")
    built = 0

    def set_clock(method: str) -> None:
        nonlocal built
        built += method == "BuildContext"
        shift.write_text(str(CLOCK_STEP_SECONDS if method == "BuildContext" and built <= late_contexts else 0))

    with SidecarProcess(tmp_path / "data", "--index", "volatile", environ=environ) as late:
        with memory.sidecar.client() as here, late.client() as there:
            said = Message(role=ROLE_USER, content="I fly to Lisbon on Friday.")
            said.create_time.FromDatetime(datetime.now(UTC) - timedelta(minutes=30, seconds=5))
            here.memory.Add(AddRequest(namespace=namespace, session_id="before", user_id="ann", message=said))
            here.add("now", "When do I fly to Lisbon?", namespace=namespace, user_id="ann")
            copy(here, there, namespace)
        with forwarded(late.address, set_clock) as address:
            lines = compared(memory, address, namespace)
    assert built > 1
    if is_equal:
        assert lines == ["equal: 2 message records, 2 session records"]
    else:
        assert "31 minutes ago" in "".join(lines) and all(line.startswith("BuildContext(") for line in lines[:-1])


def copy(here: Client, there: Client, namespace: str) -> None:
    settle(here, namespace)
    import_records(there, export_records(here, namespace), namespace)
    settle(there, namespace)
