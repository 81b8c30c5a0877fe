"""Print the files of the package that one warm Add, Search and BuildContext pass through.

Usage: python -m tools.trace_files [--index lancedb|volatile|off]

Starts the sidecar in this process and calls it over gRPC on loopback. A profile function in every thread records calls
into the package while an RPC is in flight. Each line shows how often a file was entered from another file, in the order
of the first entry, and the threads that did so. Background tasks are listed apart: they run after the response.
"""

import argparse
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

import memsidecar
from memsidecar.api.server import EPISODIC
from memsidecar.assembly import run_serve
from memsidecar.settings import Settings, load_settings
from memsidecar.v1 import context_pb2, memory_pb2, memory_pb2_grpc, message_pb2

PACKAGE = f"{Path(memsidecar.__file__).parent}{os.sep}"
GENERATED = f"v1{os.sep}"
BACKGROUND = "background"
START_SECONDS = 60.0
CALL_SECONDS = 30.0
BACKGROUND_SECONDS = 2.0
"Time in which background tasks are recorded after a response."
WARM_CALLS = 20
REPEATS = 3


@dataclass
class Recorder:
    """Counts entries into the package's files, by file and thread. `record` is a profile function."""

    is_in_flight: bool = False
    is_recording: bool = False
    entries: Counter[tuple[str, str]] = field(default_factory=Counter)

    def record(self, frame: FrameType, event: str, _argument: object) -> None:
        if event != "call" or not self.is_recording:
            return
        file = frame.f_code.co_filename
        if not file.startswith(PACKAGE) or (frame.f_back is not None and frame.f_back.f_code.co_filename == file):
            return
        thread = threading.current_thread().name
        place = file[len(PACKAGE) :]
        if not place.startswith(GENERATED) and (self.is_in_flight or thread == BACKGROUND):
            self.entries[place, thread] += 1

    def record_call(self, call: Callable[[], None]) -> Counter[tuple[str, str]]:
        """Make a call and return the entries of its threads, and of background tasks until some time after it."""
        self.entries.clear()
        self.is_in_flight = self.is_recording = True
        call()
        self.is_in_flight = False
        time.sleep(BACKGROUND_SECONDS)
        self.is_recording = False
        return Counter(self.entries)


class Session:
    """Requests of one user's session, with content that every layer has work with."""

    def __init__(self, address: str) -> None:
        self._channel = grpc.insecure_channel(address)
        self._memory: Any = memory_pb2_grpc.MemoryServiceStub(self._channel)  # type: ignore[no-untyped-call]
        self._scope: dict[str, Any] = {"user_id": "u", "session_id": "s"}
        self._added = 0

    def wait_until_ready(self, settings: Settings) -> None:
        grpc.channel_ready_future(self._channel).result(timeout=START_SECONDS)
        health: Any = health_pb2_grpc.HealthStub(self._channel)
        request = health_pb2.HealthCheckRequest(service="" if settings.index == "off" else EPISODIC)
        end = time.monotonic() + START_SECONDS
        while health.Check(request, timeout=CALL_SECONDS).status != health_pb2.HealthCheckResponse.SERVING:
            if time.monotonic() > end:
                raise TimeoutError("retrieval is not ready")
            time.sleep(0.1)

    def add(self) -> None:
        self._added += 1
        content = f"I live in Lisbon and I work for company number {self._added}."
        message = message_pb2.Message(role=message_pb2.ROLE_USER, content=content)
        self._memory.Add(memory_pb2.AddRequest(message=message, **self._scope), timeout=CALL_SECONDS)

    def search(self) -> None:
        request = memory_pb2.SearchRequest(query="Where do I live?", scope=message_pb2.SCOPE_USER, **self._scope)
        self._memory.Search(request, timeout=CALL_SECONDS)

    def build_context(self) -> None:
        request = context_pb2.BuildContextRequest(query="Where do I live?", max_tokens=2_000, **self._scope)
        self._memory.BuildContext(request, timeout=CALL_SECONDS)


def trace(recorder: Recorder, settings: Settings, output: TextIO) -> None:
    """Call the sidecar of this process and print the files. Runs in a thread that is not recorded itself."""
    session = Session(str(settings.listen))
    session.wait_until_ready(settings)
    calls: dict[str, Callable[[], None]] = {
        "Add": session.add,
        "Search": session.search,
        "BuildContext": session.build_context,
    }
    for call in calls.values():
        for _ in range(WARM_CALLS):
            call()
    for name, call in calls.items():
        time.sleep(BACKGROUND_SECONDS)
        entries = recorder.record_call(call)
        for _ in range(REPEATS - 1):  # drops what runs by a timer, such as the check of the access file
            again = recorder.record_call(call)
            entries = Counter({key: n for key, n in entries.items() if key in again or key[1] == BACKGROUND})
        _print(name, entries, output)


def _print(name: str, entries: Counter[tuple[str, str]], output: TextIO) -> None:
    for title, is_background in ((name, False), (f"background tasks during {name}", True)):
        threads: dict[str, Counter[str]] = {}
        for (place, thread), count in entries.items():
            if (thread == BACKGROUND) is is_background:
                threads.setdefault(place, Counter())[thread.partition("_")[0]] += count
        print(f"{title}: {len(threads)} files", file=output)
        for place, counts in threads.items():
            print(f"  {counts.total():5} {place}  [{', '.join(counts)}]", file=output)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.trace_files")
    parser.add_argument("--index", choices=("lancedb", "volatile", "off"), default="lancedb")
    arguments = parser.parse_args()
    recorder, output = Recorder(), sys.stdout
    with tempfile.TemporaryDirectory() as folder:
        listen = {"listen": f"127.0.0.1:{_free_port()}", "health_listen": "", "http_listen": ""}
        flags = {"data_dir": folder, **listen, "log_level": "error"}
        settings = load_settings({**flags, "index": arguments.index}, environ={})

        def run_client() -> None:
            sys.setprofile(None)
            try:
                trace(recorder, settings, output)
            finally:
                os.kill(os.getpid(), signal.SIGTERM)

        threading.setprofile(recorder.record)
        sys.setprofile(recorder.record)
        threading.Thread(target=run_client, name="client").start()
        with redirect_stdout(sys.stderr):  # the ready line
            run_serve(settings)
        sys.setprofile(None)


if __name__ == "__main__":
    main()
