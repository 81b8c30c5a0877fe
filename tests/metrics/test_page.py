"""The page /metrics of running sidecars: formats, and that what is counted is what happened."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from memsidecar.v1 import context_pb2, memory_pb2
from memsidecar.v1.message_pb2 import Message, Role
from tests.http.connect_client import post, stream
from tests.http.http_client import HttpClient
from tests.metrics.scrape import HTTP, Scrape, sampled_scrape, scrape
from tests.support.process import CALL_SECONDS, Client, SidecarProcess, refusal
from tests.support.waiting import until
from tools import metrics_page

ROOT = Path(__file__).resolve().parents[2]
ADD, COUNT = "memsidecar.v1.MemoryService/Add", "memsidecar.v1.MemoryService/Count"
BUILD = "memsidecar.v1.MemoryService/BuildContext"
DURATION = "memsidecar_rpc_server_call_duration_seconds"


@pytest.fixture
def sidecar(data_dir: Path) -> Iterator[SidecarProcess]:
    with SidecarProcess(data_dir, *HTTP) as running:
        yield running


@pytest.fixture
def client(sidecar: SidecarProcess) -> Iterator[Client]:
    with sidecar.client() as connected:
        yield connected


def test_the_text_format_is_served_by_default_and_openmetrics_on_request(sidecar: SidecarProcess) -> None:
    with HttpClient(sidecar.ready["http_listen"]) as http:
        text = http.get("/metrics")
        assert text.headers["content-type"].startswith("text/plain; version=")
        families = Scrape(text.body.decode()).families
        other = http.get("/metrics", accept="application/openmetrics-text; version=1.0.0")
        assert other.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
        families_of: Any = text_string_to_metric_families
        parsed = {family.name: family for family in families_of(other.body.decode())}
        assert other.body.endswith(b"# EOF\n")
        assert families.keys() == parsed.keys()
        units = {family.unit for family in parsed.values() if family.name.startswith("memsidecar_")}
        assert units >= {"seconds", "bytes", "tokens", "ratio"}


def test_a_wrong_version_of_openmetrics_gets_the_text_format(sidecar: SidecarProcess) -> None:
    with HttpClient(sidecar.ready["http_listen"]) as http:
        found = http.get("/metrics", accept="application/openmetrics-text; version=abc")
    assert (found.status, found.headers["content-type"].partition(";")[0]) == (200, "text/plain")


def test_without_an_index_its_readiness_is_absent(sidecar: SidecarProcess) -> None:
    """These sidecars have none. An alert fires when an index is not ready."""
    assert scrape(sidecar).families["memsidecar_index_ready"].samples == []


def test_the_documented_names_are_the_exported_ones(sidecar: SidecarProcess) -> None:
    page = (ROOT / "docs" / "metrics.md").read_text()
    assert page == "\n".join(metrics_page.lines()) + "\n", "run make metrics-docs"
    documented = {line.split("`")[1] for line in page.splitlines() if line.startswith("| `")}
    found = scrape(sidecar).families.values()
    exported = {f"{each.name}_total" if each.type == "counter" else each.name for each in found}
    assert exported == documented


def test_calls_are_counted_with_their_duration_and_errors_with_their_reason(
    sidecar: SidecarProcess, client: Client
) -> None:
    for number in range(3):
        client.add("s", f"message {number}")
    refusal(lambda: client.memory.Count(memory_pb2.CountRequest(), timeout=CALL_SECONDS))
    found = scrape(sidecar)
    assert found.value(f"{DURATION}_count", rpc_method=ADD) == 3
    assert found.value(f"{DURATION}_bucket", rpc_method=ADD, le="+Inf") == 3
    assert found.value(f"{DURATION}_sum", rpc_method=ADD) > 0
    assert found.value(f"{DURATION}_count", rpc_method=COUNT) == 1
    (error,) = [series for series in found.series if series.name == "memsidecar_rpc_server_call_errors_total"]
    assert (error.value, dict(error.labels)) == (
        1,
        {"rpc_method": COUNT, "rpc_response_status_code": "INVALID_ARGUMENT", "error_type": "INVALID_FIELD"},
    )


def test_calls_over_http_are_counted_with_those_over_grpc(sidecar: SidecarProcess, client: Client) -> None:
    client.memory.Count(memory_pb2.CountRequest(session_id="s"), timeout=CALL_SECONDS)
    with HttpClient(sidecar.ready["http_listen"]) as http:
        assert post(http, "Count", b'{"session_id":"s"}').status == 200
    assert scrape(sidecar).value(f"{DURATION}_count", rpc_method=COUNT) == 2


def test_a_call_that_breaks_the_protocol_is_counted_with_the_status_that_it_gets(sidecar: SidecarProcess) -> None:
    with HttpClient(sidecar.ready["http_listen"]) as http:
        ((_, end),) = stream(http, "Watch", b"")
    assert end["error"]["code"] == "unimplemented"
    errors = scrape(sidecar).values("memsidecar_rpc_server_call_errors_total", error_type="UNIMPLEMENTED")
    assert errors == [1] and not scrape(sidecar).values(
        "memsidecar_rpc_server_call_errors_total", error_type="INTERNAL"
    )


def test_a_stream_is_counted_when_it_ends(sidecar: SidecarProcess, client: Client) -> None:
    method = "memsidecar.v1.MemoryService/AddStream"
    list(client.memory.AddStream(iter(()), timeout=CALL_SECONDS))
    until(lambda: scrape(sidecar).value(f"{DURATION}_count", rpc_method=method) == 1)
    assert not scrape(sidecar).values("memsidecar_rpc_server_call_errors_total", rpc_method=method)


def test_contexts_except_dry_runs_are_counted_against_their_budget(sidecar: SidecarProcess, client: Client) -> None:
    for number in range(40):
        client.add("s", f"message {number} of a conversation about trains")
    request = context_pb2.BuildContextRequest(session_id="s", max_tokens=200)
    client.memory.BuildContext(context_pb2.BuildContextRequest(session_id="s", dry_run=True), timeout=CALL_SECONDS)
    context = client.memory.BuildContext(request, timeout=CALL_SECONDS)
    found = scrape(sidecar)
    assert found.value("memsidecar_context_used_ratio_sum") == pytest.approx(context.total_tokens / 200)
    assert found.value("memsidecar_context_budget_tokens_sum") == 200
    assert sum(found.values("memsidecar_context_tokens_total")) == context.total_tokens
    for phase in ("prepare", "retrieve", "pack"):
        assert found.value("memsidecar_context_build_duration_seconds_count", phase=phase) == 2, "a dry run has phases"


def test_what_does_not_fit_a_context_is_counted_by_step(sidecar: SidecarProcess, client: Client) -> None:
    client.add("s", "a question")
    request = context_pb2.BuildContextRequest(
        session_id="s", max_tokens=120, profile="The user lives in a small town. " * 30, context_fill=1.0
    )
    sections = request.sections.add(section=context_pb2.SECTION_PROFILE)
    sections.max_tokens = 10_000
    client.memory.BuildContext(request, timeout=CALL_SECONDS)
    assert scrape(sidecar).value("memsidecar_context_evictions_total", step="profile") > 0


def test_reads_of_caches_are_hits_or_misses(sidecar: SidecarProcess, client: Client) -> None:
    client.add("s", "hello")
    client.recent("s", 1)
    before = scrape(sidecar)
    assert before.value("memsidecar_cache_requests_total", cache="sessions", result="miss") == 0
    client.recent("another", 1)
    client.recent("s", 1)
    found = scrape(sidecar)
    assert found.value("memsidecar_cache_requests_total", cache="sessions", result="miss") >= 1
    hits = [each.value("memsidecar_cache_requests_total", cache="sessions", result="hit") for each in (before, found)]
    assert hits[1] > hits[0] > 0


def test_a_read_that_the_cache_cannot_answer_is_one_miss(sidecar: SidecarProcess, client: Client) -> None:
    """The cache has the newest messages of the session, and fewer than these calls ask for."""
    messages = [Message(role=Role.ROLE_USER, content="hello")] * 400
    for _ in range(3):
        batch = memory_pb2.AddBatchRequest(session_id="long", messages=messages)
        client.memory.AddBatch(batch, timeout=CALL_SECONDS)
    client.recent("long", 1)
    before = _session_reads(sidecar)
    for _ in range(5):
        assert len(client.recent("long", 1_000)) == 1_000
    hits, misses = _session_reads(sidecar)
    assert (hits - before[0], misses - before[1]) == (0, 5)


def _session_reads(sidecar: SidecarProcess) -> tuple[float, float]:
    """Return the reads of sessions that RAM has answered, and the others."""
    name, found = "memsidecar_cache_requests_total", scrape(sidecar)
    return found.value(name, cache="sessions", result="hit"), found.value(name, cache="sessions", result="miss")


def test_each_group_commit_is_counted_with_its_commands(sidecar: SidecarProcess, client: Client) -> None:
    before = scrape(sidecar)
    for number in range(5):
        client.add("s", f"message {number}")
    found = scrape(sidecar)
    name = "memsidecar_journal_group_commands_sum"
    assert found.value(name) - before.value(name) >= 5
    name = "memsidecar_journal_commit_duration_seconds_count"
    assert found.value(name) - before.value(name) >= 5, "one client waits for each commit"


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scrape]:
    """The metrics of a sidecar with two tenants, after a sample."""
    folder = tmp_path_factory.mktemp("sampled") / "data"
    with SidecarProcess(folder, *HTTP, "--quota-messages", "10") as running, running.client() as client:
        for number in range(5):
            client.add("secret-session", f"secret {number}", namespace="secret-tenant", user_id="secret-user")
        client.add("s", "one", namespace="another-tenant")
        another_user = {"namespace": "secret-tenant", "user_id": "another-secret"}
        refusal(lambda: client.add("secret-session", "x", Role.ROLE_USER, **another_user))
        yield sampled_scrape(running)


def test_tasks_disk_and_memory_are_sampled(sampled: Scrape) -> None:
    tasks = {"episodic", "semantic.facts", "semantic.facts.large", "summaries", "procedural"}
    for name in ("task_lag_entries", "task_lag_seconds", "task_dead_letters"):
        assert {series.labels["task"] for series in sampled.series if series.name == f"memsidecar_{name}"} == tasks
    assert 0 < sampled.value("memsidecar_disk_free_bytes") < sampled.value("memsidecar_disk_size_bytes")
    assert sampled.value("memsidecar_journal_file_bytes") > 0
    assert sampled.value("memsidecar_memory_used_bytes", part="sessions") > 0


def test_a_quota_is_shown_as_the_highest_share_of_a_namespace(sampled: Scrape) -> None:
    (share,) = [series for series in sampled.series if series.name == "memsidecar_quota_used_ratio"]
    assert (share.value, dict(share.labels)) == (0.5, {"resource": "messages"})


def test_no_label_names_a_tenant_a_user_or_a_session(sampled: Scrape) -> None:
    assert "secret" not in sampled.text and "tenant" not in sampled.text.replace("no tenant", "")


def test_there_is_no_page_with_metrics_off(data_dir: Path) -> None:
    with SidecarProcess(data_dir, *HTTP, "--metrics", "off") as sidecar, sidecar.client() as client:
        client.add("s", "hello")
        with HttpClient(sidecar.ready["http_listen"]) as http:
            assert http.get("/metrics").status == 404
