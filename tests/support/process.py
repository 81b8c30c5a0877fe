"""A real sidecar in a separate process, and a client that is connected over a real socket."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import grpc
from google.rpc import error_details_pb2, status_pb2

from memsidecar.v1 import knowledge_pb2_grpc, memory_pb2, memory_pb2_grpc, session_pb2_grpc
from memsidecar.v1.message_pb2 import Message, Role
from tests.support import canaries
from tests.support.forked import Forked
from tests.support.waiting import HANG_SECONDS

START_SECONDS = STOP_SECONDS = CALL_SECONDS = HANG_SECONDS
"Limits for a process that hangs, independent of the speed of the machine."


FORKABLE_VARIABLES = frozenset(
    {
        *("LD_PRELOAD", "FAULT_TRACE", "FAULT_ORDERS", "RECORD_FOLDER", "RECORD_LOG", "CLOCK_SHIFT"),
        "WAITING_COUNTER_SOCKET",
    }
)
"Variables of a forked sidecar: the fork server has loaded the library, and the others are read when needed."


class SidecarProcess:
    """`memsidecar serve` on loopback and free ports, in a separate process.

    It is forked from a process that has loaded the code. It is executed as `python -m memsidecar` with `executed`, with
    other environment variables (code may read them when it is loaded), or with a command before it (`wrap`).
    """

    def __init__(
        self,
        data_dir: Path,
        *flags: str,
        environ: Mapping[str, str] | None = None,
        wrap: tuple[str, ...] = (),
        executed: bool = False,
    ):
        self.data_dir = data_dir
        self.log_path = data_dir.with_name(f"{data_dir.name}.log")
        self._flags = flags
        self._environ = {**_clean_environ(), **(environ or {})}
        self._wrap = wrap
        self._executed = executed or bool(wrap) or not (environ or {}).keys() <= FORKABLE_VARIABLES
        canaries.record_key_files(flags)
        self.start()

    def start(self) -> None:
        command = ["serve", "--data-dir", str(self.data_dir)]
        if "--listen" not in self._flags:
            command += ["--listen", "127.0.0.1:0"]
        if "--index" not in self._flags:
            # LanceDB takes a second to load: tests of the index enable it.
            command += ["--index", "off"]
        if "--health-listen" not in self._flags:
            command += ["--health-listen", "127.0.0.1:0"]
        if "--http-listen" not in self._flags:
            command += ["--http-listen", ""]
        self._log = self.log_path.open("ab")
        self.process = self._spawn([*command, *self._flags])
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            code = self.process.wait(START_SECONDS)
            self.process.stdout.close()
            self._log.close()
            raise AssertionError(f"the sidecar did not start (exit {code}):\n{self.log()}")
        self.ready: dict[str, str] = json.loads(line)
        self.address = self.ready["listen"]

    def _spawn(self, arguments: list[str]) -> subprocess.Popen[bytes] | Forked:
        if not self._executed:
            return Forked(arguments, self._environ, self._log.fileno())
        command = [*self._wrap, sys.executable, "-m", "memsidecar", *arguments]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self._log, env=self._environ)

    def log(self) -> str:
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def client(self, *options: tuple[str, int]) -> "Client":
        """Return a connected client; options are those of its channel."""
        return Client(self.address, *options)

    def kill(self) -> None:
        """Send SIGKILL and wait: the address is free when this returns."""
        self.process.send_signal(signal.SIGKILL)
        self._reap()

    def stop(self) -> int:
        """Send SIGTERM and return the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self._reap()

    def _reap(self) -> int:
        code = self.process.wait(STOP_SECONDS)
        if self.process.stdout is not None:
            self.process.stdout.close()
        self._log.close()
        canaries.check_log(self.log(), self.address)
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.kill()
        elif not self._log.closed:
            self._reap()


def _clean_environ() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("MEMSIDECAR_")}


class Client:
    """The generated stubs on a separate channel."""

    def __init__(self, address: str, *options: tuple[str, int]) -> None:
        # Channels of one process share connections by default; a restarted server needs a new one.
        options = (("grpc.use_local_subchannel_pool", 1), ("grpc.max_receive_message_length", 64 << 20), *options)
        self.address = address
        self.channel = grpc.insecure_channel(address, options=options)
        grpc.channel_ready_future(self.channel).result(timeout=START_SECONDS)
        self.memory = memory_pb2_grpc.MemoryServiceStub(self.channel)  # type: ignore[no-untyped-call]
        self.sessions = session_pb2_grpc.SessionServiceStub(self.channel)  # type: ignore[no-untyped-call]
        self.knowledge = knowledge_pb2_grpc.KnowledgeServiceStub(self.channel)  # type: ignore[no-untyped-call]

    def add(self, session_id: str, content: str, role: Role = Role.ROLE_USER, **fields: Any) -> memory_pb2.AddResponse:
        canaries.record_content(self.address, content)
        request = memory_pb2.AddRequest(
            session_id=session_id,
            user_id=fields.pop("user_id", ""),
            namespace=fields.pop("namespace", ""),
            expected_sequence=fields.pop("expected_sequence", None),
            return_session=fields.pop("return_session", False),
            message=Message(role=role, content=content, **fields),
        )
        answer: memory_pb2.AddResponse = self.memory.Add(request, timeout=CALL_SECONDS)
        return answer

    def all(self, session_id: str, include_pruned: bool = False, **fields: Any) -> list[Message]:
        """Return the messages of all pages of the session, oldest first."""
        found: list[Message] = []
        token = ""
        while True:
            page = self.memory.GetAll(
                memory_pb2.GetAllRequest(
                    session_id=session_id, include_pruned=include_pruned, page_size=1000, page_token=token, **fields
                ),
                timeout=CALL_SECONDS,
            )
            found += page.messages
            token = page.next_page_token
            if not token:
                return found

    def recent(self, session_id: str, n: int, **fields: Any) -> list[Message]:
        request = memory_pb2.GetRecentRequest(session_id=session_id, n=n, **fields)
        return list(self.memory.GetRecent(request, timeout=CALL_SECONDS).messages)

    def close(self) -> None:
        self.channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Refusal:
    """The error of a failed call: code, reason, field, metadata, and the message."""

    def __init__(self, error: grpc.RpcError) -> None:
        self.code: grpc.StatusCode = error.code()
        self.message: str = error.details() or ""
        self.reason = ""
        self.field = ""
        self.metadata: dict[str, str] = {}
        self.retry = False
        trailing: Any = error.trailing_metadata() or ()
        for key, value in trailing:
            if key == "grpc-status-details-bin":
                self._read(status_pb2.Status.FromString(value))

    def _read(self, status: status_pb2.Status) -> None:
        for detail in status.details:
            info, bad, retry = (
                error_details_pb2.ErrorInfo(),
                error_details_pb2.BadRequest(),
                error_details_pb2.RetryInfo(),
            )
            if detail.Unpack(info):
                self.reason, self.metadata = info.reason, dict(info.metadata)
            elif detail.Unpack(bad):
                self.field = bad.field_violations[0].field
            elif detail.Unpack(retry):
                self.retry = True


def refusal(call: Callable[[], Any]) -> Refusal:
    """Return the error of a call that must fail."""
    try:
        answer = call()
    except grpc.RpcError as error:
        return Refusal(error)
    raise AssertionError(f"the call was expected to fail, and answered {answer}")
