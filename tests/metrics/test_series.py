"""The number of time series does not grow with sessions, users or tenants, and has a bound."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from memsidecar.api.interceptors.call_statistics import CallStatistics
from memsidecar.api.status import TABLE
from memsidecar.domain.errors import SidecarError
from memsidecar.metrics.sources import call_points
from memsidecar.v1 import context_pb2, knowledge_pb2, memory_pb2, session_pb2
from memsidecar.v1.message_pb2 import Message, Role
from tests.metrics.scrape import HTTP, Scrape, sampled_scrape, scrape
from tests.support.process import CALL_SECONDS, Client, SidecarProcess, refusal

MAX_SERIES = 2_000
SESSIONS, USERS, TENANTS, THREADS = 10_000, 1_000, 50, 8
SERVICES = (memory_pb2, session_pb2, knowledge_pb2)


def methods() -> list[str]:
    return [
        method.full_name
        for module in SERVICES
        for service in module.DESCRIPTOR.services_by_name.values()
        for method in service.methods
    ]


def test_all_errors_of_all_rpcs_together_are_below_the_bound(data_dir: Path) -> None:
    with SidecarProcess(data_dir, *HTTP) as sidecar:
        idle = scrape(sidecar)
    names = {series.labels["rpc_method"] for series in idle.series if "rpc_method" in series.labels}
    assert names == {"/".join(name.rsplit(".", 1)) for name in methods()}
    kinds: list[type[SidecarError]] = [*TABLE]
    # Besides those of the table: CANCELLED, and INTERNAL, which is in the table.
    errors = len(names) * (len({(row.code, row.reason) for row in TABLE.values()}) + 1)
    assert len(kinds) > 15 and len(idle.series) + errors < MAX_SERIES


def test_a_method_that_was_never_called_has_no_series_of_errors() -> None:
    statistics = CallStatistics(is_enabled=True)

    async def handler(_request: object, _context: object) -> bytes:
        return b""

    for name in methods():
        statistics.unary(name, handler)
    assert len(list(call_points(statistics))) == len(methods())


def fill(client: Client, numbers: range) -> None:
    """Add to sessions of many users in several tenants, and call other RPCs for some of them."""
    for number in numbers:
        tenant, user, session = f"tenant-{number % TENANTS}", f"user-{number % USERS}", f"session-{number}"
        scope: dict[str, Any] = {"namespace": tenant, "user_id": user, "session_id": session}
        message = Message(role=Role.ROLE_USER, content=f"message {number}")
        client.memory.Add(memory_pb2.AddRequest(message=message, **scope), timeout=CALL_SECONDS)
        if number % 20 == 0:
            client.memory.BuildContext(context_pb2.BuildContextRequest(**scope), timeout=CALL_SECONDS)
            request = memory_pb2.SearchRequest(query="message", **scope)
            client.memory.Search(request, timeout=CALL_SECONDS)
            refusal(lambda: client.memory.Count(memory_pb2.CountRequest(), timeout=CALL_SECONDS))


@pytest.mark.metrics
def test_the_series_of_ten_thousand_sessions_are_below_the_bound(data_dir: Path) -> None:
    flags = (*HTTP, "--index", "lancedb", "--quota-messages", "1000000")
    with SidecarProcess(data_dir, *flags) as sidecar, sidecar.client() as client:
        share = SESSIONS // THREADS
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(lambda at: fill(client, range(at * share, (at + 1) * share)), range(THREADS)))
        found: Scrape = sampled_scrape(sidecar)
        calls = found.value("memsidecar_rpc_server_call_duration_seconds_count", rpc_method=_full("Add"))
    assert calls == SESSIONS
    assert len(found.series) < MAX_SERIES
    print(f"{len(found.series)} time series, {len(found.text)} bytes")


def _full(name: str) -> str:
    return f"memsidecar.v1.MemoryService/{name}"
