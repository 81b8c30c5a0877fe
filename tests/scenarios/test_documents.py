"""Documents: put, listed, searched, replaced, deleted, and visible to their owner only."""

from pathlib import Path
from typing import Any

import pytest

from memsidecar.v1 import session_pb2
from tests.scenarios.conversation import Conversation, tagged
from tests.scenarios.document_client import DocumentClient
from tests.scenarios.index_readiness import until_index_is_ready
from tests.support.process import SidecarProcess, refusal

RETURNS = "Goods can be sent back within thirty days. The money is refunded to the card that was used."
HOURS = "The shop is open from nine to six, on Saturdays until two. On Sundays it is closed."
MANY = "\n\n".join(f"Chapter {number}. {'The fox jumps over the lazy dog. ' * 12}" for number in range(40))


def test_a_document_is_put_listed_and_found_by_words_and_by_meaning(document_client: DocumentClient) -> None:
    put = document_client.put("returns", RETURNS, title="Returns", source="shop.md", metadata=tagged({"lang": "en"}))
    document_client.put("hours", HOURS)
    assert not put.unchanged and put.document.chunk_count == 1 and put.document.tokens > 10
    listed = document_client.page().documents
    assert [document.id for document in listed] == ["hours", "returns"]
    assert listed[1] == put.document and listed[1].text == ""
    assert document_client.find("card")[0] == "returns"
    assert document_client.find("can I get a refund")[0] == "returns"
    assert document_client.find("opening times on the weekend")[0] == "hours"


def test_a_hit_has_its_chunk_and_the_parts_of_its_score(document_client: DocumentClient) -> None:
    count = document_client.put("many", MANY).document.chunk_count
    assert count > 10
    hit = document_client.search("chapter 17")[0]
    assert "Chapter 17." in hit.chunk.text and hit.chunk.text in MANY
    assert (hit.chunk.document_id, 0 < hit.chunk.tokens <= 300) == ("many", True)
    assert 0 < hit.chunk.chunk_index < count
    parts = [value for _, value in hit.scores.ListFields()]
    assert 0 < hit.score <= 1 and sum(parts) == pytest.approx(hit.score, abs=1e-5)


def test_a_document_is_found_the_moment_it_is_put_and_not_after_it_is_deleted(document_client: DocumentClient) -> None:
    for number in range(10):
        document_client.put(f"d{number}", f"The word of this one is xylophone{number}.")
        assert document_client.find(f"xylophone{number}")[0] == f"d{number}"
        assert document_client.delete(f"d{number}") == 1
        assert document_client.find(f"xylophone{number}") == []
    assert document_client.ids() == []
    refused = refusal(lambda: document_client.delete("d0"))
    assert (refused.code.name, refused.reason) == ("NOT_FOUND", "NOT_FOUND")


def test_an_equal_document_changes_nothing_and_another_text_replaces_it(document_client: DocumentClient) -> None:
    first = document_client.put("d", RETURNS, title="Returns").document
    again = document_client.put("d", RETURNS, title="Returns")
    assert again.unchanged and again.document == first
    titled = document_client.put("d", RETURNS, title="Sending back")
    assert not titled.unchanged and titled.document.title == "Sending back"
    assert titled.document.sha256 == first.sha256
    replaced = document_client.put("d", HOURS)
    assert not replaced.unchanged and replaced.document.sha256 != first.sha256
    assert document_client.ids() == ["d"]
    assert all(hit.chunk.text == HOURS for hit in document_client.search("money refunded card"))


def test_documents_are_visible_to_their_owner_only(document_client: DocumentClient) -> None:
    Conversation(document_client.client, "s1", document_client.namespace, "ann").add("hello")
    for name, owner in {
        "all": document_client,
        "ann": document_client.of("ann"),
        "s1": document_client.of("ann", "s1"),
        "bob": document_client.of("bob"),
        "elsewhere": DocumentClient(document_client.client, f"not-{document_client.namespace}"),
    }.items():
        owner.put(name, f"A heron stands in the reeds of {name}.")

    def seen(user_id: str = "", session_id: str = "") -> set[str]:
        return set(document_client.of(user_id, session_id).find("heron", limit=5))

    assert seen() == {"all"}
    assert seen("ann") == {"all", "ann"}
    assert seen("ann", "s1") == seen("", "s1") == {"all", "ann", "s1"}
    assert seen("bob") == {"all", "bob"}
    assert [document_client.of(*who).ids() for who in (("", ""), ("ann", ""), ("", "s1"))] == [["all"], ["ann"], ["s1"]]
    refused = refusal(lambda: document_client.of("bob", "s1").search("heron"))
    assert (refused.code.name, refused.reason) == ("FAILED_PRECONDITION", "SESSION_OWNER_MISMATCH")


def test_the_same_id_is_another_document_for_each_owner(document_client: DocumentClient) -> None:
    document_client.put("same", "A heron for all.")
    document_client.of("ann").put("same", "A heron for Ann.")
    texts = {hit.chunk.text for hit in document_client.of("ann").search("heron")}
    assert texts == {"A heron for all.", "A heron for Ann."}
    document_client.of("ann").delete("same")
    assert [hit.chunk.text for hit in document_client.of("ann").search("heron")] == ["A heron for all."]


def test_a_deleted_session_deletes_its_documents(document_client: DocumentClient) -> None:
    mine = document_client.of("ann", "s1")
    Conversation(document_client.client, **mine.scope_ids).add("hello")
    mine.put("d", "A heron of this session.")
    document_client.client.sessions.DeleteSession(session_pb2.DeleteSessionRequest(**mine.scope_ids))
    assert mine.ids() == [] and mine.find("heron") == []


def test_a_list_is_read_page_by_page_in_the_order_of_ids(document_client: DocumentClient) -> None:
    ids = sorted(f"d{number}" for number in range(11))
    for name in reversed(ids):
        document_client.put(name, "Hello.")
    found: list[list[str]] = []
    fields: dict[str, Any] = {"page_size": 4}
    while len(found) < 4:
        page = document_client.page(**fields)
        found.append([document.id for document in page.documents])
        fields["page_token"] = page.next_page_token
        if not page.next_page_token:
            break
    assert found == [ids[:4], ids[4:8], ids[8:]]


def test_the_default_limit_is_three_chunks_and_the_maximum_twenty(document_client: DocumentClient) -> None:
    for name in ("many", "more", "most"):
        document_client.put(name, MANY)
    assert [len(document_client.search("fox", limit=limit)) for limit in (0, 1, 20, 100)] == [3, 1, 20, 20]
    assert document_client.search("fox", min_score=1.01) == []


@pytest.mark.parametrize("index", ["off", "volatile", "lancedb"])
def test_documents_outlive_a_restart(data_dir: Path, index: str) -> None:
    with SidecarProcess(data_dir, "--index", index) as sidecar:
        with sidecar.client() as client:
            DocumentClient(client).put("returns", RETURNS)
            DocumentClient(client).put("hours", HOURS)
            DocumentClient(client).put("hours", HOURS.replace("six", "seven"))
        assert sidecar.stop() == 0
        sidecar.start()
        if index != "off":
            until_index_is_ready(sidecar)
        with sidecar.client() as client:
            document_client = DocumentClient(client)
            assert document_client.ids() == ["hours", "returns"]
            assert document_client.put("returns", RETURNS).unchanged
            assert document_client.search("open until seven")[0].chunk.text == HOURS.replace("six", "seven")
            assert document_client.find("refund")[0] == "returns"
