"""No answer exceeds what gRPC takes by default: it is cut at 3 MiB, and says so."""

from collections.abc import Iterator

import grpc
import pytest

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1 import memory_pb2_grpc
from memsidecar.v1.message_pb2 import ROLE_USER
from tests.scenarios.talk import SUBSTRING, Talk
from tests.support.process import Client, SidecarProcess

SESSION = "large"
IDS = [f"m{at}" for at in range(5)]
LARGE = "large " * 160_000  # 960 KB: three fit into an answer, five do not


@pytest.fixture(scope="module")
def large(sidecar: SidecarProcess) -> None:
    with sidecar.client() as client:
        for one in IDS:
            Talk(client, SESSION, namespace="sizes").say(LARGE, id=one)


@pytest.fixture
def plain(sidecar: SidecarProcess, large: None) -> Iterator[memory_pb2_grpc.MemoryServiceStub]:
    """A client with gRPC's own limits, which refuses an answer of more than 4 MiB."""
    with grpc.insecure_channel(sidecar.address) as channel:
        yield memory_pb2_grpc.MemoryServiceStub(channel)


def test_a_page_is_cut_and_the_next_goes_on(plain: memory_pb2_grpc.MemoryServiceStub) -> None:
    first = plain.GetAll(pb.GetAllRequest(namespace="sizes", session_id=SESSION))
    token = first.next_page_token
    second = plain.GetAll(pb.GetAllRequest(namespace="sizes", session_id=SESSION, page_token=token))
    assert [message.id for message in first.messages] == IDS[:3]
    assert [message.id for message in second.messages] == IDS[3:]
    assert second.next_page_token == ""


def test_recent_messages_are_truncated_and_the_newest_kept(plain: memory_pb2_grpc.MemoryServiceStub) -> None:
    answer = plain.GetRecent(pb.GetRecentRequest(namespace="sizes", session_id=SESSION, n=5))
    assert [message.id for message in answer.messages] == IDS[2:]
    assert answer.truncated


def test_messages_of_a_role_are_truncated_and_the_newest_kept(plain: memory_pb2_grpc.MemoryServiceStub) -> None:
    answer = plain.GetByRole(pb.GetByRoleRequest(namespace="sizes", session_id=SESSION, role=ROLE_USER))
    assert [message.id for message in answer.messages] == IDS[2:]
    assert answer.truncated


def test_hits_are_cut_and_the_next_page_goes_on(plain: memory_pb2_grpc.MemoryServiceStub) -> None:
    request = pb.SearchRequest(namespace="sizes", session_id=SESSION, query="LARGE", mode=SUBSTRING)
    first = plain.Search(request)
    request.page_token = first.next_page_token
    second = plain.Search(request)
    assert [hit.message.id for hit in (*first.hits, *second.hits)] == IDS[::-1]
    assert len(first.hits) == 3 and second.next_page_token == ""


def test_a_message_over_the_limit_is_refused_and_not_stored(client: Client) -> None:
    talk = Talk(client, "too-large", namespace="sizes")
    with pytest.raises(grpc.RpcError) as caught:
        talk.say("x" * (1 << 20))
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert talk.ids() == []
