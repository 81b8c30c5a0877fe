"""The health service: on the main listener, on one of its own, and while the sidecar is leaving."""

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
from tests.scenarios.retrieval import EPISODIC, NOT_SERVING, SERVING, health_of
from tests.scenarios.talk import Talk
from tests.support.process import CALL_SECONDS, SidecarProcess, refusal

BUILT = ("", "memsidecar.v1.MemoryService", "memsidecar.v1.SessionService", "memsidecar.v1.KnowledgeService")


def health(channel: grpc.Channel) -> Any:
    return health_pb2_grpc.HealthStub(channel)


@pytest.fixture(params=["listen", "health_listen"])
def channel(sidecar: SidecarProcess, request: pytest.FixtureRequest) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(sidecar.ready[request.param]) as opened:
        yield opened


@pytest.mark.parametrize("service", BUILT)
def test_every_built_service_is_serving_on_both_listeners(channel: grpc.Channel, service: str) -> None:
    assert health_of(channel, service) == SERVING


def test_what_is_no_service_is_not_known_to_health(channel: grpc.Channel) -> None:
    assert refusal(lambda: health_of(channel, "memsidecar.v1.OtherService")).code == grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize("index", ["lancedb", "volatile"])
def test_retrieval_is_serving_when_it_is_there_and_not_before(data_dir: Path, index: str) -> None:
    with (
        SidecarProcess(data_dir, "--index", index) as sidecar,
        sidecar.client() as client,
        grpc.insecure_channel(sidecar.ready["health_listen"]) as channel,
    ):
        talk = Talk(client, "s")
        talk.say("hello")
        while health_of(channel, EPISODIC) == NOT_SERVING:
            answer = talk.search("hello", mode=pb.SEARCH_MODE_HYBRID)
            assert [hit.message.content for hit in answer.hits] == ["hello"]
        assert health_of(channel, EPISODIC) == SERVING
        assert not talk.search("hello", mode=pb.SEARCH_MODE_HYBRID).degraded
        assert sidecar.stop() == 0


def test_retrieval_that_is_off_is_never_serving(data_dir: Path) -> None:
    with SidecarProcess(data_dir, "--index", "off") as sidecar:
        for name in ("listen", "health_listen"):
            with grpc.insecure_channel(sidecar.ready[name]) as channel:
                assert health_of(channel, EPISODIC) == NOT_SERVING
                assert health_of(channel, "memsidecar.v1.MemoryService") == SERVING


def test_the_health_listener_carries_nothing_else(sidecar: SidecarProcess) -> None:
    with grpc.insecure_channel(sidecar.ready["health_listen"]) as channel:
        count: Any = channel.unary_unary("/memsidecar.v1.MemoryService/Count")
        assert refusal(lambda: count(b"")).code == grpc.StatusCode.UNIMPLEMENTED


def test_there_is_no_health_listener_where_none_is_wanted(data_dir: Path) -> None:
    with SidecarProcess(data_dir, "--health-listen", "") as sidecar:
        assert set(sidecar.ready) == {"event", "listen"}
        assert sidecar.stop() == 0


def test_a_sidecar_that_is_leaving_says_so_while_a_call_is_still_under_way(data_dir: Path) -> None:
    """The open stream keeps the drain waiting, so that there is no race with the end of the process."""
    with SidecarProcess(data_dir) as sidecar, sidecar.client() as client:
        requests: queue.SimpleQueue[pb.AddStreamRequest | None] = queue.SimpleQueue()
        stream = client.memory.AddStream(iter(requests.get, None), timeout=CALL_SECONDS)
        requests.put(_said("before"))
        next(stream)
        with grpc.insecure_channel(sidecar.ready["health_listen"]) as channel:
            watch = health(channel).Watch(health_pb2.HealthCheckRequest(), timeout=CALL_SECONDS)
            assert next(watch).status == SERVING
            sidecar.process.send_signal(signal.SIGTERM)
            assert next(watch).status == NOT_SERVING
        requests.put(_said("while leaving"))
        assert next(stream).result.sequence == 2
        requests.put(None)
        assert list(stream) == []
        assert sidecar.stop() == 0


def _said(content: str) -> pb.AddStreamRequest:
    return pb.AddStreamRequest(session_id="s", message=Message(id=content, role=ROLE_USER, content=content))
