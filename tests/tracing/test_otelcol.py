"""A trace from a client's span through a real OpenTelemetry Collector, which passes it on to the tests' server."""

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memsidecar.v1 import memory_pb2
from tests.support.process import SidecarProcess
from tests.support.waiting import HANG_SECONDS
from tests.tracing.otlp_server import otlp_server
from tests.tracing.test_traces import SERVICE, Caller, add

OTELCOL = Path(os.environ.get("OTELCOL", "otelcol is not built: make test-otelcol"))
READY = "Everything is ready."
START_ATTEMPTS = 5


def configuration(port: int, backend: str) -> str:
    return json.dumps(
        {
            "receivers": {"otlp": {"protocols": {"grpc": {"endpoint": f"127.0.0.1:{port}"}}}},
            "exporters": {"otlp": {"endpoint": backend, "tls": {"insecure": True}}},
            "service": {
                "telemetry": {"metrics": {"level": "none"}},
                "pipelines": {"traces": {"receivers": ["otlp"], "exporters": ["otlp"]}},
            },
        }
    )


@contextmanager
def collector(folder: Path, backend: str) -> Iterator[str]:
    """Run the collector and yield its address. It cannot choose a free port, so another process may take it first."""
    for _ in range(START_ATTEMPTS):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        file = folder / "collector.json"
        file.write_text(configuration(port, backend))
        with subprocess.Popen([OTELCOL, "--config", file], stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            lines = []
            for line in process.stderr:
                lines.append(line)
                if READY in line:
                    yield f"127.0.0.1:{port}"
                    process.terminate()
                    process.communicate(timeout=HANG_SECONDS)
                    return
        assert "address already in use" in "".join(lines), "".join(lines)
    raise AssertionError(f"the collector found its port in use {START_ATTEMPTS} times")


@pytest.mark.otelcol
def test_a_real_collector_receives_the_trace_of_a_call(tmp_path: Path) -> None:
    assert OTELCOL.is_file(), str(OTELCOL)
    caller = Caller()
    with otlp_server() as received, collector(tmp_path, received.address) as address:
        flags = ("--index", "volatile", "--otlp-endpoint", f"http://{address}")
        with SidecarProcess(tmp_path / "data", *flags) as sidecar, sidecar.client() as client:
            caller.call(client.memory.Add, add("collected"))
            request = memory_pb2.SearchRequest(session_id="collected", query="Where do I live?")
            caller.call(client.memory.Search, request)
            assert sidecar.stop() == 0  # exports what has ended
        names = {f"{SERVICE}/Add", f"{SERVICE}/Search", "admission", "journal", "search", "embed"}
        spans = received.trace(caller.trace_id, names)
        assert {spans[f"{SERVICE}/{rpc}"].parent_span_id for rpc in ("Add", "Search")} == {caller.span_id}
        assert spans["journal"].parent_span_id == spans[f"{SERVICE}/Add"].span_id
        assert spans["embed"].parent_span_id == spans["search"].span_id
