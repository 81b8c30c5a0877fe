"""No response exceeds the default limit of gRPC: it is truncated at 3 MiB, with a token or a flag."""

from typing import Any

import grpc
import pytest

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.scenarios.conversation import SUBSTRING, Conversation
from tests.support.process import Client, SidecarProcess, refusal

WHERE: dict[str, Any] = {"namespace": "sizes", "session_id": "large"}
IDS = [f"m{at}" for at in range(5)]
LARGE = "large " * 160_000  # 960 KB: three fit into an answer, five do not
GRPC_DEFAULT_BYTES = 4 << 20


@pytest.fixture(scope="module", autouse=True)
def large(sidecar: SidecarProcess) -> None:
    with sidecar.client() as client:
        for message_id in IDS:
            Conversation(client, **WHERE).add(LARGE, id=message_id)


def ids(*answers: pb.GetAllResponse | pb.GetRecentResponse | pb.GetByRoleResponse) -> list[str]:
    """Check that each response is below the default limit, and return the message ids."""
    assert all(answer.ByteSize() < GRPC_DEFAULT_BYTES for answer in answers)
    return [message.id for answer in answers for message in answer.messages]


def test_a_page_is_truncated_and_the_next_continues(client: Client) -> None:
    first = client.memory.GetAll(pb.GetAllRequest(**WHERE))
    second = client.memory.GetAll(pb.GetAllRequest(**WHERE, page_token=first.next_page_token))
    assert (ids(first), ids(second)) == (IDS[:3], IDS[3:])
    assert second.next_page_token == ""


def test_recent_messages_are_truncated_and_the_newest_kept(client: Client) -> None:
    answer = client.memory.GetRecent(pb.GetRecentRequest(**WHERE, n=5))
    assert (ids(answer), answer.truncated) == (IDS[2:], True)


def test_messages_of_a_role_are_truncated_and_the_newest_kept(client: Client) -> None:
    answer = client.memory.GetByRole(pb.GetByRoleRequest(**WHERE, role=ROLE_USER))
    assert (ids(answer), answer.truncated) == (IDS[2:], True)


def test_hits_are_truncated_and_the_next_page_continues(client: Client) -> None:
    request = pb.SearchRequest(**WHERE, query="LARGE", mode=SUBSTRING)
    first = client.memory.Search(request)
    request.page_token = first.next_page_token
    second = client.memory.Search(request)
    assert [hit.message.id for hit in (*first.hits, *second.hits)] == IDS[::-1]
    assert (len(first.hits), second.next_page_token) == (3, "")
    assert first.ByteSize() < GRPC_DEFAULT_BYTES


def test_ranked_hits_are_truncated_and_the_next_page_continues(client: Client) -> None:
    request = pb.SearchRequest(**WHERE, query="LARGE")
    first = client.memory.Search(request)
    request.page_token = first.next_page_token
    second = client.memory.Search(request)
    assert sorted(hit.message.id for hit in (*first.hits, *second.hits)) == IDS
    assert (len(first.hits), second.next_page_token) == (3, "")
    assert first.ByteSize() < GRPC_DEFAULT_BYTES


def test_a_message_of_more_than_a_mebibyte_is_refused_and_not_stored(conversation: Conversation) -> None:
    refused = refusal(lambda: conversation.add("x" * (1 << 20)))
    assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_LARGE")
    assert conversation.ids() == []


def test_a_request_of_more_than_four_mebibytes_is_refused_and_nothing_of_it_stored(conversation: Conversation) -> None:
    messages = [Message(role=ROLE_USER, content="x" * 900_000) for _ in range(5)]
    refused = refusal(lambda: conversation.add_batch(*messages))
    assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_LARGE")
    assert conversation.ids() == []
