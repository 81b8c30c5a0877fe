"""Retrieval over the wire: a real sidecar with LanceDB."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from memsidecar.v1 import knowledge_pb2, knowledge_pb2_grpc
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.knowledge_pb2 import Document
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT
from tests.episodic.components import MODES, SCOPES, names_of
from tests.support.process import CALL_SECONDS, Client, SidecarProcess, refusal
from tests.support.waiting import until


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    with SidecarProcess(tmp_path_factory.mktemp("wire") / "data", "--index", "lancedb") as running:
        yield running


@pytest.fixture
def space() -> str:
    return f"space-{uuid4()}"


def search(client: Client, query: str, **fields: Any) -> pb.SearchResponse:
    answer: pb.SearchResponse = client.memory.Search(pb.SearchRequest(query=query, **fields), timeout=CALL_SECONDS)
    return answer


def find(client: Client, query: str, **fields: Any) -> list[str]:
    return [hit.message.content for hit in search(client, query, **fields).hits]


def is_open(client: Client, space: str) -> bool:
    return not search(client, "tea", namespace=space, user_id="u").degraded


def test_a_message_is_found_at_once_in_every_mode_and_scope(client: Client, space: str) -> None:
    """This holds from the first call on, while the index is being opened."""
    for at in range(10):
        client.add("s", f"my bicycle number{at} is green", namespace=space, user_id="u")
        for mode in MODES:
            for scope in SCOPES:
                found = find(client, f"bicycle number{at}", namespace=space, mode=mode, **names_of(scope))
                assert f"my bicycle number{at} is green" in found


def test_once_the_index_is_open_there_is_no_degradation(client: Client, space: str) -> None:
    client.add("s", "where do you keep the tea?", namespace=space, user_id="u", name="Anna")
    client.add("s", "in the blue cup", ROLE_ASSISTANT, namespace=space, user_id="u")
    until(lambda: is_open(client, space))
    hits = search(client, "tea", namespace=space, user_id="u").hits
    assert [hit.message.content for hit in hits] == ["where do you keep the tea?", "in the blue cup"]
    for hit in hits:
        parts = hit.scores
        total = parts.keyword + parts.semantic + parts.neighbours + parts.speaker + parts.session + parts.recency
        assert total == pytest.approx(hit.score, abs=1e-5)
    assert hits[0].session_id == "s"


def test_pages_follow_each_other_over_the_wire(client: Client, space: str) -> None:
    for at in range(7):
        client.add("s", f"tea {at}", namespace=space, user_id="u")
    found, token = [], ""
    for _ in range(4):
        page = search(client, "tea", namespace=space, user_id="u", limit=2, page_token=token)
        found += [hit.message.content for hit in page.hits]
        token = page.next_page_token
        client.add("s", "tea in between", namespace=space, user_id="u")
    assert token == "" and sorted(found) == [f"tea {at}" for at in range(7)]


def test_an_invalid_field_is_named(client: Client, space: str) -> None:
    invalid: dict[str, dict[str, Any]] = {
        "query": {"query": ""},
        "query_vector": {"query_vector": [1.0]},
        "min_score": {"min_score": float("nan")},
        "limit": {"limit": -1},
        "session_id": {"user_id": "", "session_id": ""},
    }
    for field, fields in invalid.items():
        request = {"query": "tea", "namespace": space, "user_id": "u", **fields}
        assert refusal(lambda request=request: search(client, **request)).field == field  # type: ignore[misc]


def test_documents_are_found_by_their_owners(client: Client, space: str) -> None:
    knowledge = knowledge_pb2_grpc.KnowledgeServiceStub(client.channel)  # type: ignore[no-untyped-call]

    def visible(**names: Any) -> list[str]:
        request = knowledge_pb2.SearchDocumentsRequest(namespace=space, query="bicycle", **names)
        return sorted(hit.chunk.document_id for hit in knowledge.SearchDocuments(request, timeout=CALL_SECONDS).hits)

    for name, scope in (("all", {}), ("annas", {"user_id": "anna"}), ("talks", {"session_id": "talk"})):
        document = Document(id=name, text=f"the bicycle of {name}")
        knowledge.PutDocument(knowledge_pb2.PutDocumentRequest(namespace=space, document=document, **scope))
    assert visible() == ["all"]
    assert visible(user_id="anna") == ["all", "annas"]
    assert visible(user_id="bert") == ["all"]
    assert visible(user_id="anna", session_id="talk") == ["all", "annas", "talks"]
    knowledge.DeleteDocument(knowledge_pb2.DeleteDocumentRequest(namespace=space, document_id="all"))
    assert visible() == []


def test_everything_is_found_after_the_process_was_killed(data_dir: Path) -> None:
    with SidecarProcess(data_dir, "--index", "lancedb") as running:
        with running.client() as client:
            for at in range(20):
                client.add("s", f"tea {at}", user_id="u")
            until(lambda: is_open(client, ""))
            for at in range(20, 30):
                client.add("s", f"tea {at}", user_id="u")
        running.kill()
        running.start()
        with running.client() as client:
            assert sorted(find(client, "tea", user_id="u", limit=100)) == sorted(f"tea {at}" for at in range(30))
            until(lambda: is_open(client, ""))
            assert sorted(find(client, "tea", user_id="u", limit=100)) == sorted(f"tea {at}" for at in range(30))
        assert running.stop() == 0
