"""The request log has lines for the selected calls, and never content of a caller."""

import json
from pathlib import Path

import grpc
import pytest

from memsidecar.v1 import memory_pb2 as memory
from tests.api.canaries import canary_requests
from tests.bad_input.rpcs import METHODS, send_bytes
from tests.scenarios.index_readiness import until_index_is_ready
from tests.support.canaries import CANARY
from tests.support.process import Client, SidecarProcess, refusal

COUNT = memory.CountRequest(session_id="s")


def calls_logged(sidecar: SidecarProcess) -> list[dict[str, object]]:
    """Return the lines of a JSON log that are about calls."""
    lines = [json.loads(line) for line in sidecar.log().splitlines()]
    return [line for line in lines if line["message"] == "call"]


def logged_of_two_calls(data_dir: Path, *flags: str) -> list[tuple[object, object]]:
    """Make a valid and an invalid call; return method and code of the logged ones."""
    with SidecarProcess(data_dir, "--log-format", "json", *flags) as sidecar:
        with sidecar.client() as client:
            client.memory.Count(COUNT)
            refusal(lambda: client.memory.Count(memory.CountRequest()))
        assert sidecar.stop() == 0
        return [(str(line["method"]).rpartition(".")[2], line["code"]) for line in calls_logged(sidecar)]


def test_by_default_only_failed_calls_are_logged(data_dir: Path) -> None:
    # On a busy machine every call may be slow.
    assert logged_of_two_calls(data_dir, "--slow-call-seconds", "3600") == [("Count", "INVALID_ARGUMENT")]


def test_by_default_slow_calls_are_logged_too(data_dir: Path) -> None:
    logged = logged_of_two_calls(data_dir, "--slow-call-seconds", "0")
    assert logged == [("Count", "OK"), ("Count", "INVALID_ARGUMENT")]


def test_all_calls_are_logged_with_log_calls_all(data_dir: Path) -> None:
    logged = logged_of_two_calls(data_dir, "--log-calls", "all")
    assert logged == [("Count", "OK"), ("Count", "INVALID_ARGUMENT")]


def test_no_call_is_logged_with_log_calls_none(data_dir: Path) -> None:
    assert logged_of_two_calls(data_dir, "--log-calls", "none", "--slow-call-seconds", "0") == []


def test_a_line_about_a_failed_call_has_reason_field_and_duration(data_dir: Path) -> None:
    with SidecarProcess(data_dir, "--log-format", "json") as sidecar, sidecar.client() as client:
        refusal(lambda: client.memory.Count(memory.CountRequest()))
        (line,) = calls_logged(sidecar)
        assert (line["reason"], line["field"], line["level"]) == ("INVALID_FIELD", "session_id", "info")
        assert isinstance(line["ms"], float) and line["method"] == "memsidecar.v1.MemoryService.Count"


def test_streams_are_logged_when_all_calls_are(data_dir: Path) -> None:
    flags = ("--log-format", "json", "--log-calls", "all")
    with SidecarProcess(data_dir, *flags) as sidecar, sidecar.client() as client:
        assert list(client.memory.AddStream(iter([]))) == []
        refusal(lambda: list(client.memory.AddStream(iter([memory.AddStreamRequest()]))))
        assert [line["code"] for line in calls_logged(sidecar)] == ["OK", "INVALID_ARGUMENT"]


def call_everything(client: Client) -> int:
    """Call every RPC with canaries in valid and invalid requests; return how many calls failed."""
    refused = 0
    for name in METHODS:
        for request in canary_requests(name):
            try:
                send_bytes(client, name, request)
            except grpc.RpcError:
                refused += 1
    return refused


@pytest.fixture(scope="module", params=[("text", "volatile"), ("json", "lancedb")], ids="-".join)
def verbose_log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[str]]:
    """The format and the lines of the most verbose log, after every kind of call."""
    form, index = request.param
    flags = ("--log-format", form, "--log-calls", "all", "--log-level", "debug", "--index", index)
    with SidecarProcess(tmp_path_factory.mktemp(form) / "data", *flags) as sidecar:
        until_index_is_ready(sidecar)
        with sidecar.client() as client:
            assert call_everything(client) > 100
        assert sidecar.stop() == 0
        return form, sidecar.log().splitlines()


def test_nothing_that_a_caller_sent_is_in_the_log(verbose_log: tuple[str, list[str]]) -> None:
    _, lines = verbose_log
    assert sum("code=OK" in line or '"code": "OK"' in line for line in lines) > 20
    telling = [line[:600] for line in lines if CANARY in line]
    assert telling == []


def test_no_call_left_an_error_in_the_log(verbose_log: tuple[str, list[str]]) -> None:
    _, lines = verbose_log
    assert [line[:600] for line in lines if "Traceback" in line or "never retrieved" in line] == []


def test_every_line_of_a_json_log_is_json(verbose_log: tuple[str, list[str]]) -> None:
    form, lines = verbose_log
    if form == "json":
        assert {"time", "level", "logger", "message"} <= set.intersection(*(set(json.loads(line)) for line in lines))


def test_every_line_of_a_text_log_begins_with_its_time(verbose_log: tuple[str, list[str]]) -> None:
    form, lines = verbose_log
    if form == "text":
        assert [line for line in lines if line[4:5] + line[7:8] + line[10:11] + line[23:24] != "--TZ"] == []
