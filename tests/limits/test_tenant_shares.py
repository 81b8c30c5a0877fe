"""Shares of one tenant: calls, threads, watchers, reflection streams, memory of decoded requests."""

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2_grpc

from benchmarks.limits.http2 import SERVICE, RawCaller
from memsidecar.access.access_file import token_lines
from memsidecar.access.bearer_token import Token, new_token
from memsidecar.access.policy import AccessRole
from memsidecar.api.standard_services import MAX_REFLECTION_STREAMS, MAX_WATCHERS
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1.context_pb2 import BuildContextRequest
from memsidecar.v1.message_pb2 import ROLE_USER, Message, ToolCall
from tests.limits.refusals import refused
from tests.support.process import Client, SidecarProcess
from tests.support.waiting import HANG_SECONDS

Bearer = tuple[tuple[str, str], ...]
SECONDS = HANG_SECONDS
MAX_NAMESPACE_CALLS = 8


class Tenants:
    """A greedy tenant, and another one that must be unaffected."""

    def __init__(self, sidecar: SidecarProcess, greedy: Token, other: Token) -> None:
        self.sidecar = sidecar
        self.greedy: Bearer = (("authorization", f"Bearer {greedy.text}"),)
        self.other: Bearer = (("authorization", f"Bearer {other.text}"),)

    def assert_other_is_answered(self, client: Client) -> None:
        request = memory.CountRequest(namespace="other", session_id="s")
        assert refused(lambda: client.memory.Count(request, timeout=SECONDS, metadata=self.other)) is None


@pytest.fixture(scope="module")
def tenants(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tenants]:
    folder = tmp_path_factory.mktemp("shares")
    greedy, other = new_token(), new_token()
    lines = [token_lines(greedy, "greedy", ["greedy"], AccessRole.WRITE, None)]
    lines += [token_lines(other, "other", ["other"], AccessRole.WRITE, None)]
    access = folder / "access.toml"
    access.write_text("\n".join(lines))
    flags = (
        "--access-file",
        str(access),
        "--max-namespace-calls",
        str(MAX_NAMESPACE_CALLS),
        "--max-concurrent-calls",
        "16",
    )
    with SidecarProcess(folder / "data", *flags) as running:
        yield Tenants(running, greedy, other)


@pytest.fixture
def client(tenants: Tenants) -> Iterator[Client]:
    with tenants.sidecar.client() as connected:
        yield connected


def test_calls_without_a_request_take_the_share_of_their_tenant_only(tenants: Tenants, client: Client) -> None:
    with RawCaller(tenants.sidecar.address, headers=tenants.greedy) as caller:
        for _ in range(4 * MAX_NAMESPACE_CALLS):
            caller.call(f"{SERVICE}Count")
        tenants.assert_other_is_answered(client)


def test_unread_responses_take_the_share_of_their_tenant_only(tenants: Tenants, client: Client) -> None:
    request = memory.CountRequest(namespace="greedy", session_id="s").SerializeToString()
    with RawCaller(tenants.sidecar.address, window=0, headers=tenants.greedy) as caller:
        for _ in range(4 * MAX_NAMESPACE_CALLS):
            caller.ask(f"{SERVICE}Count", request)
        caller.listen(0.3)
        tenants.assert_other_is_answered(client)


def test_health_watchers_are_limited_and_probes_are_answered(tenants: Tenants) -> None:
    with grpc.insecure_channel(tenants.sidecar.ready["health_listen"]) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        watching = [stub.Watch(health_pb2.HealthCheckRequest(), timeout=SECONDS) for _ in range(MAX_WATCHERS)]
        for watcher in watching:
            assert next(watcher).status == health_pb2.HealthCheckResponse.SERVING
        with pytest.raises(grpc.RpcError) as one_more:
            next(stub.Watch(health_pb2.HealthCheckRequest(), timeout=SECONDS))
        assert one_more.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert stub.Check(health_pb2.HealthCheckRequest(), timeout=SECONDS)
        for one in watching:
            one.cancel()


def test_probes_are_answered_during_calls_without_a_request(tenants: Tenants) -> None:
    address = tenants.sidecar.ready["health_listen"]
    with RawCaller(address) as silent, grpc.insecure_channel(address) as channel:
        streams = [silent.call("/grpc.health.v1.Health/Check") for _ in range(50)]
        stub: Any = health_pb2_grpc.HealthStub(channel)
        assert stub.Check(health_pb2.HealthCheckRequest(), timeout=SECONDS)
        deadline_exceeded = grpc.StatusCode.DEADLINE_EXCEEDED.value[0]
        assert set(silent.until_answered(streams, SECONDS)) == {deadline_exceeded}


@contextmanager
def idle_reflection(channel: grpc.Channel, bearer: Bearer) -> Iterator[Any]:
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)
    over = threading.Event()

    def nothing() -> Iterator[Any]:
        over.wait(SECONDS)
        yield from ()

    try:
        yield stub.ServerReflectionInfo(nothing(), metadata=bearer, timeout=SECONDS)
    finally:
        over.set()


def test_reflection_streams_are_limited(tenants: Tenants, client: Client) -> None:
    with grpc.insecure_channel(tenants.sidecar.address) as channel, ExitStack() as opened:
        idle = [
            opened.enter_context(idle_reflection(channel, tenants.greedy)) for _ in range(MAX_REFLECTION_STREAMS + 1)
        ]
        codes = {_ended_with(one) for one in idle}
        assert grpc.StatusCode.RESOURCE_EXHAUSTED in codes
        tenants.assert_other_is_answered(client)


def _ended_with(stream: Any) -> grpc.StatusCode | None:
    give_up = time.monotonic() + 1
    while time.monotonic() < give_up and stream.is_active():
        time.sleep(0.01)
    return None if stream.is_active() else stream.code()


def test_a_request_that_decodes_to_much_more_memory_is_rejected(tenants: Tenants, client: Client) -> None:
    empty = Message(role=ROLE_USER, tool_calls=[ToolCall()] * 500_000)
    request = memory.AddRequest(namespace="greedy", session_id="s", message=empty)
    found = refused(lambda: client.memory.Add(request, timeout=SECONDS, metadata=tenants.greedy))
    assert found is not None
    assert (found.code.name, found.reason) == ("RESOURCE_EXHAUSTED", "TOO_LARGE")
    assert "500000 repeated items" in found.message


def test_a_request_to_a_denied_namespace_is_not_decoded(tenants: Tenants, client: Client) -> None:
    empty = memory.AddBatchRequest(namespace="other", session_id="s", messages=[Message()] * 500_000)
    found = refused(lambda: client.memory.AddBatch(empty, timeout=SECONDS, metadata=tenants.greedy))
    assert found is not None
    assert (found.code.name, found.reason) == ("PERMISSION_DENIED", "PERMISSION_DENIED")


def test_long_searches_of_one_tenant_do_not_delay_contexts_of_another(tenants: Tenants, client: Client) -> None:
    for at in range(30):
        message = Message(role=ROLE_USER, content=f"{at} " + "lorem ipsum dolor " * 20_000)
        client.memory.Add(
            memory.AddRequest(namespace="greedy", session_id="s", message=message),
            timeout=SECONDS,
            metadata=tenants.greedy,
        )
    slow = memory.SearchRequest(
        namespace="greedy", session_id="s", query="not to be found", mode=memory.SEARCH_MODE_SUBSTRING
    )
    searching = [
        client.memory.Search.future(slow, timeout=SECONDS, metadata=tenants.greedy) for _ in range(MAX_NAMESPACE_CALLS)
    ]
    request = BuildContextRequest(namespace="other", session_id="s", query="anything", max_tokens=1000)
    client.memory.BuildContext(request, timeout=SECONDS, metadata=tenants.other)
    assert not all(one.done() for one in searching), "the context did not wait for all of them"
    for one in searching:
        one.result()


def test_unauthenticated_calls_do_not_fill_the_log(tenants: Tenants, client: Client) -> None:
    log: Path = tenants.sidecar.log_path
    before = log.stat().st_size
    request = memory.CountRequest(session_id="s")
    for _ in range(300):
        found = refused(lambda: client.memory.Count(request, timeout=SECONDS))
        assert found is not None and found.code is grpc.StatusCode.UNAUTHENTICATED
    logged = log.read_text(errors="replace")[before:].count("UNAUTHENTICATED")
    assert 0 < logged < 300
