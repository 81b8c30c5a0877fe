"""A page token is good for the request that it was given to, and for nothing else."""

import base64
import struct
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import pytest
from google.protobuf.message import Message as Proto

from memsidecar.v1 import knowledge_pb2 as knowledge
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1 import session_pb2 as session
from tests.bad_input.rpcs import good, put, send
from tests.bad_input.values import DIMENSIONS, tags
from tests.support.process import Client, SidecarProcess, refusal

GET_ALL: dict[str, Any] = {"session_id": "paged", "page_size": 2}
SEARCH: dict[str, Any] = {"session_id": "paged", "query": "hello", "limit": 2}
KINDS: dict[str, Any] = {
    "GetAll": memory.GetAllRequest,
    "Search": memory.SearchRequest,
    "Search by substring": memory.SearchRequest,
    "ListSessions": session.ListSessionsRequest,
    "ListDocuments": knowledge.ListDocumentsRequest,
    "ListFacts": knowledge.ListFactsRequest,
    "ListArtifacts": knowledge.ListArtifactsRequest,
}
FIRST: dict[str, dict[str, Any]] = {
    "GetAll": GET_ALL,
    "Search": SEARCH,
    "Search by substring": SEARCH | {"mode": memory.SEARCH_MODE_SUBSTRING},
    "ListSessions": {"page_size": 2},
    "ListDocuments": {"session_id": "paged", "page_size": 2},
    "ListFacts": {"session_id": "paged", "page_size": 2},
    "ListArtifacts": {"session_id": "paged", "page_size": 2},
}


@pytest.fixture(scope="module")
def paged(sidecar: SidecarProcess) -> Iterator[Client]:
    with sidecar.client() as client:
        for session_id in ("paged", "other", "third"):
            for number in range(5):
                client.add(session_id, f"hello {number}", user_id="owner")
        for number in range(5):
            request = good("PutDocument", "paged")
            put(request, "document.id", f"document {number}")
            send(client, "PutDocument", request)
            request = good("PutArtifact", "paged")
            put(request, "artifact.id", f"artifact {number}")
            send(client, "PutArtifact", request)
        facts = [knowledge.Fact(type=knowledge.FACT_TYPE_DOMAIN, key=f"key {number}", value="x") for number in range(5)]
        send(client, "PutFacts", knowledge.PutFactsRequest(session_id="paged", facts=facts))
        yield client


def call(client: Client, kind: str, request: Proto) -> Any:
    return send(client, kind.partition(" ")[0], request)


def token_of(client: Client, name: str) -> str:
    token: str = call(client, name, KINDS[name](**FIRST[name])).next_page_token
    assert token
    return token


def assert_refused(client: Client, name: str, token: str, **changed: Any) -> None:
    request = KINDS[name](**FIRST[name] | changed, page_token=token)
    refused = refusal(lambda: call(client, name, request))
    assert (refused.code.name, refused.reason, refused.field) == ("INVALID_ARGUMENT", "INVALID_FIELD", "page_token")


@pytest.mark.parametrize("name", KINDS)
def test_a_token_that_was_cut_is_refused(paged: Client, name: str) -> None:
    token = token_of(paged, name)
    for length in range(1, len(token)):
        assert_refused(paged, name, token[:length])


@pytest.mark.parametrize("name", KINDS)
def test_a_token_with_something_appended_is_refused(paged: Client, name: str) -> None:
    token = token_of(paged, name)
    for more in ("A", "AA", "x" * 5, " ", "\n", "\0", token):
        assert_refused(paged, name, token + more)


@pytest.mark.parametrize("name", KINDS)
def test_a_token_of_another_rpc_is_refused(paged: Client, name: str) -> None:
    for other in KINDS.keys() - {name}:
        assert_refused(paged, name, token_of(paged, other))


@pytest.mark.parametrize(
    "changed",
    [
        {"session_id": "other"},
        {"namespace": "other"},
        {"user_id": "owner"},
        {"include_pruned": True},
        {"metadata_filter": tags(a="x")},
    ],
    ids=str,
)
def test_a_token_of_another_get_all_is_refused(paged: Client, changed: dict[str, Any]) -> None:
    assert_refused(paged, "GetAll", token_of(paged, "GetAll"), **changed)


@pytest.mark.parametrize(
    "changed",
    [
        {"session_id": "other"},
        {"namespace": "other"},
        {"user_id": "owner"},
        {"query": "hell"},
        {"scope": 1},
        {"mode": memory.SEARCH_MODE_KEYWORD},
        {"min_score": 0.5},
        {"roles": [2]},
        {"metadata_filter": tags(a="x")},
        {"query_vector": [0.5] * DIMENSIONS},
    ],
    ids=lambda changed: str(changed)[:40],
)
@pytest.mark.parametrize("name", ["Search", "Search by substring"])
def test_a_token_of_another_search_is_refused(paged: Client, name: str, changed: dict[str, Any]) -> None:
    assert_refused(paged, name, token_of(paged, name), **changed)


@pytest.mark.parametrize("changed", [{"session_id": "other"}, {"namespace": "other"}, {"user_id": "owner"}], ids=str)
@pytest.mark.parametrize("name", ["ListDocuments", "ListFacts", "ListArtifacts"])
def test_a_token_of_another_list_of_a_session_is_refused(paged: Client, name: str, changed: dict[str, Any]) -> None:
    assert_refused(paged, name, token_of(paged, name), **changed)


@pytest.mark.parametrize("changed", [{"types": [1]}, {"include_history": True}], ids=str)
def test_a_token_of_another_list_of_facts_is_refused(paged: Client, changed: dict[str, Any]) -> None:
    assert_refused(paged, "ListFacts", token_of(paged, "ListFacts"), **changed)


@pytest.mark.parametrize("changed", [{"namespace": "other"}, {"user_id": "owner"}], ids=str)
def test_a_token_of_another_list_of_sessions_is_refused(paged: Client, changed: dict[str, Any]) -> None:
    assert_refused(paged, "ListSessions", token_of(paged, "ListSessions"), **changed)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    "position",
    [b"[" * 100_000, b"{}", b"null", b"", b"[]", b'["1"]', b"[1.5]", b"[true]", b"[NaN]", b"\xff", b"[1,2,3]"],
    ids=lambda position: repr(position[:8]),
)
def test_a_token_made_up_of_anything_is_refused(paged: Client, name: str, position: bytes) -> None:
    assert_refused(paged, name, base64.urlsafe_b64encode(b"sealed" + position).decode().rstrip("="))


@pytest.mark.parametrize("position", ["[1" + "0" * 30 + "]", "[-1" + "0" * 30 + "]", "[9223372036854775808]"])
def test_a_forged_position_beyond_every_number_is_not_a_bug(paged: Client, position: str) -> None:
    """The seal of a token is no secret: whoever reads the source can make one."""
    of_request = memory.GetAllRequest(namespace="default", session_id="paged").SerializeToString(deterministic=True)
    seal = blake2b(of_request, digest_size=6).digest()
    assert_refused(paged, "GetAll", base64.urlsafe_b64encode(seal + position.encode()).decode().rstrip("="))


@pytest.mark.parametrize("position", [(2**63 - 1, 0), (0, 2**30 + 1), (1, 1), (0, 0)], ids=str)
def test_a_position_in_the_log_of_everybody_cannot_be_forged(paged: Client, position: tuple[int, int]) -> None:
    same = memory.SearchRequest(**{name: value for name, value in SEARCH.items() if name != "limit"})
    seal = blake2b(same.SerializeToString(deterministic=True), digest_size=6).digest()
    token = base64.urlsafe_b64encode(seal + struct.pack(">2q", *position)).decode().rstrip("=")
    assert_refused(paged, "Search", token)


@pytest.mark.parametrize("name", KINDS)
def test_the_size_of_a_page_may_change_from_page_to_page(paged: Client, name: str) -> None:
    size = "limit" if name.startswith("Search") else "page_size"
    request = KINDS[name](**FIRST[name] | {size: 1}, page_token=token_of(paged, name))
    assert call(paged, name, request).ByteSize() > 0
