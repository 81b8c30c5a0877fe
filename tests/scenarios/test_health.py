"""The health service: on the main listener, on the health listener, and during a shutdown."""

import queue
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.scenarios.conversation import Conversation
from tests.scenarios.index_readiness import EPISODIC, NOT_SERVING, SERVING, health_of
from tests.support.process import CALL_SECONDS, SidecarProcess, refusal

BUILT = ("", "memsidecar.v1.MemoryService", "memsidecar.v1.SessionService", "memsidecar.v1.KnowledgeService")


def health(channel: grpc.Channel) -> Any:
    return health_pb2_grpc.HealthStub(channel)


@pytest.fixture(params=["listen", "health_listen"])
def channel(sidecar: SidecarProcess, request: pytest.FixtureRequest) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(sidecar.ready[request.param]) as opened:
        yield opened


@pytest.mark.parametrize("service", BUILT)
def test_each_built_service_is_serving_on_both_listeners(channel: grpc.Channel, service: str) -> None:
    assert health_of(channel, service) == SERVING


def test_an_unknown_service_is_not_found(channel: grpc.Channel) -> None:
    assert refusal(lambda: health_of(channel, "memsidecar.v1.OtherService")).code == grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize("index", ["lancedb", "volatile"])
def test_the_index_is_serving_once_it_is_ready(data_dir: Path, index: str) -> None:
    with (
        SidecarProcess(data_dir, "--index", index) as sidecar,
        sidecar.client() as client,
        grpc.insecure_channel(sidecar.ready["health_listen"]) as channel,
    ):
        conversation = Conversation(client, "s")
        conversation.add("hello")
        while health_of(channel, EPISODIC) == NOT_SERVING:
            answer = conversation.search("hello", mode=pb.SEARCH_MODE_HYBRID)
            assert [hit.message.content for hit in answer.hits] == ["hello"]
        assert health_of(channel, EPISODIC) == SERVING
        assert not conversation.search("hello", mode=pb.SEARCH_MODE_HYBRID).degraded
        assert sidecar.stop() == 0


def test_an_index_that_is_off_is_never_serving(data_dir: Path) -> None:
    with SidecarProcess(data_dir, "--index", "off") as sidecar:
        for name in ("listen", "health_listen"):
            with grpc.insecure_channel(sidecar.ready[name]) as channel:
                assert health_of(channel, EPISODIC) == NOT_SERVING
                assert health_of(channel, "memsidecar.v1.MemoryService") == SERVING


def test_the_health_listener_serves_no_other_service(sidecar: SidecarProcess) -> None:
    with grpc.insecure_channel(sidecar.ready["health_listen"]) as channel:
        count: Any = channel.unary_unary("/memsidecar.v1.MemoryService/Count")
        assert refusal(lambda: count(b"")).code == grpc.StatusCode.UNIMPLEMENTED


def test_an_empty_address_disables_the_health_listener(data_dir: Path) -> None:
    with SidecarProcess(data_dir, "--health-listen", "") as sidecar:
        assert set(sidecar.ready) == {"event", "listen"}
        assert sidecar.stop() == 0


def test_a_draining_sidecar_is_not_serving_while_a_call_is_in_flight(data_dir: Path) -> None:
    """The drain waits for the open stream, so that there is no race with the end of the process."""
    with SidecarProcess(data_dir) as sidecar, sidecar.client() as client:
        requests: queue.SimpleQueue[pb.AddStreamRequest | None] = queue.SimpleQueue()
        stream = client.memory.AddStream(iter(requests.get, None), timeout=CALL_SECONDS)
        requests.put(_request("before"))
        next(stream)
        with grpc.insecure_channel(sidecar.ready["health_listen"]) as channel:
            watch = health(channel).Watch(health_pb2.HealthCheckRequest(), timeout=CALL_SECONDS)
            assert next(watch).status == SERVING
            sidecar.process.send_signal(signal.SIGTERM)
            assert next(watch).status == NOT_SERVING
        requests.put(_request("while draining"))
        assert next(stream).result.sequence == 2
        requests.put(None)
        assert list(stream) == []
        assert sidecar.stop() == 0


def _request(content: str) -> pb.AddStreamRequest:
    return pb.AddStreamRequest(session_id="s", message=Message(id=content, role=ROLE_USER, content=content))
