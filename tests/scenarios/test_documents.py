"""Documents: put, listed, searched, replaced, deleted, and seen by those they were put for."""

from pathlib import Path
from typing import Any

import pytest

from memsidecar.v1 import session_pb2
from tests.scenarios.library import Library
from tests.scenarios.retrieval import until_retrieval_is_there
from tests.scenarios.talk import Talk, tagged
from tests.support.process import SidecarProcess, refusal

RETURNS = "Goods can be sent back within thirty days. The money is refunded to the card that was used."
HOURS = "The shop is open from nine to six, on Saturdays until two. On Sundays it is closed."
MANY = "\n\n".join(f"Chapter {number}. {'The fox jumps over the lazy dog. ' * 12}" for number in range(40))


def test_a_document_is_put_listed_and_found_by_words_and_by_meaning(library: Library) -> None:
    put = library.put("returns", RETURNS, title="Returns", source="shop.md", metadata=tagged({"lang": "en"}))
    library.put("hours", HOURS)
    assert not put.unchanged and put.document.chunk_count == 1 and put.document.tokens > 10
    listed = library.page().documents
    assert [document.id for document in listed] == ["hours", "returns"]
    assert listed[1] == put.document and listed[1].text == ""
    assert library.find("card")[0] == "returns"
    assert library.find("can I get a refund")[0] == "returns"
    assert library.find("opening times on the weekend")[0] == "hours"


def test_a_hit_shows_its_chunk_and_what_its_score_is_made_of(library: Library) -> None:
    count = library.put("many", MANY).document.chunk_count
    assert count > 10
    hit = library.search("chapter 17")[0]
    assert "Chapter 17." in hit.chunk.text and hit.chunk.text in MANY
    assert (hit.chunk.document_id, 0 < hit.chunk.tokens <= 300) == ("many", True)
    assert 0 < hit.chunk.chunk_index < count
    parts = [value for _, value in hit.scores.ListFields()]
    assert 0 < hit.score <= 1 and sum(parts) == pytest.approx(hit.score, abs=1e-5)


def test_a_document_is_found_the_moment_it_is_put_and_not_after_it_is_deleted(library: Library) -> None:
    for number in range(10):
        library.put(f"d{number}", f"The word of this one is xylophone{number}.")
        assert library.find(f"xylophone{number}")[0] == f"d{number}"
        assert library.delete(f"d{number}") == 1
        assert library.find(f"xylophone{number}") == []
    assert library.ids() == []
    refused = refusal(lambda: library.delete("d0"))
    assert (refused.code.name, refused.reason) == ("NOT_FOUND", "NOT_FOUND")


def test_the_same_again_changes_nothing_and_another_text_replaces_it(library: Library) -> None:
    first = library.put("d", RETURNS, title="Returns").document
    again = library.put("d", RETURNS, title="Returns")
    assert again.unchanged and again.document == first
    titled = library.put("d", RETURNS, title="Sending back")
    assert not titled.unchanged and titled.document.title == "Sending back"
    assert titled.document.sha256 == first.sha256
    replaced = library.put("d", HOURS)
    assert not replaced.unchanged and replaced.document.sha256 != first.sha256
    assert library.ids() == ["d"]
    assert all(hit.chunk.text == HOURS for hit in library.search("money refunded card"))


def test_documents_are_seen_by_those_they_were_put_for(library: Library) -> None:
    Talk(library.client, "s1", library.namespace, "ann").say("hello")
    for name, whose in {
        "all": library,
        "ann": library.of("ann"),
        "s1": library.of("ann", "s1"),
        "bob": library.of("bob"),
        "elsewhere": Library(library.client, f"not-{library.namespace}"),
    }.items():
        whose.put(name, f"A heron stands in the reeds of {name}.")

    def seen(user_id: str = "", session_id: str = "") -> set[str]:
        return set(library.of(user_id, session_id).find("heron", limit=5))

    assert seen() == {"all"}
    assert seen("ann") == {"all", "ann"}
    assert seen("ann", "s1") == seen("", "s1") == {"all", "ann", "s1"}
    assert seen("bob") == {"all", "bob"}
    assert [library.of(*who).ids() for who in (("", ""), ("ann", ""), ("", "s1"))] == [["all"], ["ann"], ["s1"]]
    refused = refusal(lambda: library.of("bob", "s1").search("heron"))
    assert (refused.code.name, refused.reason) == ("FAILED_PRECONDITION", "SESSION_OWNER_MISMATCH")


def test_one_id_is_another_document_for_each_whom_it_was_put_for(library: Library) -> None:
    library.put("same", "A heron for everybody.")
    library.of("ann").put("same", "A heron for Ann.")
    texts = {hit.chunk.text for hit in library.of("ann").search("heron")}
    assert texts == {"A heron for everybody.", "A heron for Ann."}
    library.of("ann").delete("same")
    assert [hit.chunk.text for hit in library.of("ann").search("heron")] == ["A heron for everybody."]


def test_a_deleted_session_takes_its_documents_along(library: Library) -> None:
    mine = library.of("ann", "s1")
    Talk(library.client, **mine.names).say("hello")
    mine.put("d", "A heron of this session.")
    library.client.sessions.DeleteSession(session_pb2.DeleteSessionRequest(**mine.names))
    assert mine.ids() == [] and mine.find("heron") == []


def test_a_list_is_read_page_by_page_in_the_order_of_ids(library: Library) -> None:
    ids = sorted(f"d{number}" for number in range(11))
    for name in reversed(ids):
        library.put(name, "Hello.")
    found: list[list[str]] = []
    fields: dict[str, Any] = {"page_size": 4}
    while len(found) < 4:
        page = library.page(**fields)
        found.append([document.id for document in page.documents])
        fields["page_token"] = page.next_page_token
        if not page.next_page_token:
            break
    assert found == [ids[:4], ids[4:8], ids[8:]]


def test_three_chunks_are_answered_where_no_limit_was_given_and_five_at_most(library: Library) -> None:
    library.put("many", MANY)
    assert [len(library.search("fox", limit=limit)) for limit in (0, 1, 5, 100)] == [3, 1, 5, 5]
    assert library.search("fox", min_score=1.01) == []


@pytest.mark.parametrize("index", ["off", "volatile", "lancedb"])
def test_documents_outlive_a_restart(data_dir: Path, index: str) -> None:
    with SidecarProcess(data_dir, "--index", index) as sidecar:
        with sidecar.client() as client:
            Library(client).put("returns", RETURNS)
            Library(client).put("hours", HOURS)
            Library(client).put("hours", HOURS.replace("six", "seven"))
        assert sidecar.stop() == 0
        sidecar.start()
        if index != "off":
            until_retrieval_is_there(sidecar)
        with sidecar.client() as client:
            library = Library(client)
            assert library.ids() == ["hours", "returns"]
            assert library.put("returns", RETURNS).unchanged
            assert library.search("open until seven")[0].chunk.text == HOURS.replace("six", "seven")
            assert library.find("refund")[0] == "returns"
