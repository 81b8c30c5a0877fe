"""Ranked search by words and by meaning, over all sessions of a user."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1 import session_pb2
from memsidecar.v1.context_pb2 import DEGRADATION_INDEX_UNAVAILABLE
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_USER, SCOPE_NAMESPACE, SCOPE_SESSION, SCOPE_USER, ScoreParts
from tests.scenarios.conversation import Conversation, tagged, timestamp
from tests.support.process import Client, SidecarProcess, refusal

KEYWORD, SEMANTIC, HYBRID = pb.SEARCH_MODE_KEYWORD, pb.SEARCH_MODE_SEMANTIC, pb.SEARCH_MODE_HYBRID
RANKED = (KEYWORD, SEMANTIC, HYBRID)
every_mode = pytest.mark.parametrize("mode", RANKED, ids=pb.SearchMode.Name)

PEANUTS = "My daughter Emma is allergic to peanuts, so we never keep them at home."
CAT = "Our cat is called Zebulon."
CAR = "We bought a car last week, a small electric one."
WEEKS = 21 * 24 * 60 * 60


@pytest.fixture
def today(client: Client, namespace: str) -> Conversation:
    """Return a new session of a user with three messages of three weeks ago, in another session."""
    long_ago = Timestamp(seconds=int(time.time()) - WEEKS)
    before = Conversation(client, "weeks ago", namespace, "alice")
    for question, reply in ((PEANUTS, "I will remember that."), (CAT, "A lovely name."), (CAR, "Enjoy the ride.")):
        before.add(question, create_time=long_ago)
        before.assistant(reply, create_time=long_ago)
    conversation = Conversation(client, "today", namespace, "alice")
    conversation.add("Let us plan the weekend.")
    conversation.assistant("Gladly. What do you have in mind?")
    return conversation


def sum_of(scores: ScoreParts) -> float:
    return sum(float(part) for _, part in scores.ListFields())


# -- hits


@pytest.mark.parametrize("mode", [SEMANTIC, HYBRID], ids=pb.SearchMode.Name)
@pytest.mark.parametrize("query", ["what food makes my child sick", "which foods should my kid avoid"])
def test_an_old_message_is_found_by_other_words(today: Conversation, mode: pb.SearchMode, query: str) -> None:
    hit = today.search(query, mode=mode).hits[0]
    assert (hit.message.content, hit.session_id) == (PEANUTS, "weeks ago")
    assert today.find(query, mode=KEYWORD) == []


@pytest.mark.parametrize("mode", [KEYWORD, HYBRID, pb.SEARCH_MODE_UNSPECIFIED], ids=pb.SearchMode.Name)
def test_an_old_message_is_found_by_a_rare_word(today: Conversation, mode: pb.SearchMode) -> None:
    assert today.find("ZEBULON?", mode=mode)[0] == CAT
    assert today.find("What do you know about Zebulon", mode=mode)[0] == CAT


def test_messages_with_all_words_as_written_rank_before_the_others(conversation: Conversation) -> None:
    for number in range(20):
        conversation.add(f"The heron of pond {number} stands still, and herons are herons: heron, heron, heron.")
        conversation.add(f"Note {number}: a grey heron was seen far out, by the ferry, in the fog, on a Sunday.")
    hits = conversation.search("grey heron", mode=HYBRID, limit=40).hits
    assert all("grey" in hit.message.content and hit.score >= 0.5 for hit in hits[:20])
    assert all("grey" not in hit.message.content and hit.score < 0.5 for hit in hits[20:])


def test_inflections_of_a_word_are_found(conversation: Conversation) -> None:
    conversation.add("She was walking along the river.")
    conversation.add("Nothing of the kind.")
    assert conversation.find("walks", mode=KEYWORD) == ["She was walking along the river."]


def test_stop_words_count_only_in_a_query_of_stop_words(conversation: Conversation) -> None:
    conversation.add("the heron")
    conversation.add("the ferry is here")
    assert conversation.find("is the heron there", mode=KEYWORD) == ["the heron"]
    assert sorted(conversation.find("the", mode=KEYWORD)) == ["the ferry is here", "the heron"]


def test_messages_of_a_speaker_named_in_the_query_rank_higher(conversation: Conversation) -> None:
    for name in ("Maria", "John"):
        conversation.add("The trip to the lake was wonderful.", name=name)
        conversation.assistant("Good to hear.")
    hits = conversation.search("What did John say about the lake?", mode=HYBRID).hits
    assert (hits[0].message.name, hits[0].scores.speaker > 0) == ("John", True)
    assert {hit.scores.speaker > 0 for hit in hits if hit.message.name != "John"} == {False}


@every_mode
def test_a_message_is_found_the_moment_it_is_acknowledged(conversation: Conversation, mode: pb.SearchMode) -> None:
    for number in range(20):
        conversation.add(f"needle{number} in a haystack")
        assert conversation.find(f"needle{number}", mode=mode)[0] == f"needle{number} in a haystack"


@every_mode
def test_pruned_messages_are_found_and_erased_ones_are_not(conversation: Conversation, mode: pb.SearchMode) -> None:
    conversation.add("A heron in the reeds.")
    conversation.add_turns(3)
    conversation.prune(1)
    assert "A heron in the reeds." not in conversation.contents()
    assert conversation.find("heron", mode=mode)[0] == "A heron in the reeds."
    conversation.clear()
    assert conversation.find("heron", mode=mode) == []


@every_mode
def test_a_deleted_session_is_not_found_in_its_users_memory(today: Conversation, mode: pb.SearchMode) -> None:
    assert PEANUTS in today.find("allergic to peanuts", mode=mode)
    request = session_pb2.DeleteSessionRequest(namespace=today.namespace, session_id="weeks ago")
    today.client.sessions.DeleteSession(request)
    assert PEANUTS not in today.find("allergic to peanuts", mode=mode)


# -- scores


@every_mode
def test_scores_fall_and_their_parts_add_up(today: Conversation, mode: pb.SearchMode) -> None:
    hits = today.search("is Emma allergic to the cat", mode=mode).hits
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True) and all(0 < score <= 1 for score in scores)
    assert [sum_of(hit.scores) for hit in hits] == pytest.approx(scores, abs=1e-5)


def test_a_mode_shows_only_its_own_parts(today: Conversation) -> None:
    def parts(mode: pb.SearchMode) -> set[str]:
        hits = today.search("cat", mode=mode).hits
        return {part.name for hit in hits for part, _ in hit.scores.ListFields()}

    assert (parts(KEYWORD), parts(SEMANTIC)) == ({"keyword"}, {"semantic"})
    assert parts(HYBRID) == {"keyword", "semantic", "neighbours", "session"}


@every_mode
def test_hits_below_the_minimum_score_are_left_out(today: Conversation, mode: pb.SearchMode) -> None:
    hits = today.search("allergic to a cat", mode=mode).hits
    above = today.search("allergic to a cat", mode=mode, min_score=hits[0].score).hits
    assert [hit.message.id for hit in above] == [hits[0].message.id]
    assert today.find("allergic to a cat", mode=mode, min_score=1.01) == []


# -- filters


@every_mode
def test_a_search_covers_the_sessions_of_its_scope(today: Conversation, mode: pb.SearchMode) -> None:
    bobs = Conversation(today.client, "bobs", today.namespace, "bob")
    bobs.add("My son is allergic to peanuts.")
    query = "allergic to peanuts"
    assert PEANUTS not in today.find(query, mode=mode, scope=SCOPE_SESSION)
    assert PEANUTS in today.find(query, mode=mode, scope=SCOPE_USER)
    assert bobs.contents()[0] not in today.find(query, mode=mode, scope=SCOPE_USER)
    assert {PEANUTS, bobs.contents()[0]} <= set(today.find(query, mode=mode, scope=SCOPE_NAMESPACE))


@every_mode
def test_roles_times_and_tags_are_filtered_as_in_the_substring_mode(
    conversation: Conversation, mode: pb.SearchMode
) -> None:
    for day in (1, 2, 3):
        time_of_day: dict[str, Any] = {
            "create_time": timestamp(f"2024-05-0{day}T12:00:00Z"),
            "metadata": tagged({"day": day}),
        }
        conversation.add(f"tea on day {day}", **time_of_day)
        conversation.assistant(f"more tea on day {day}", **time_of_day)

    def found(**fields: Any) -> list[str]:
        return sorted(conversation.find("tea", mode=mode, **fields))

    assert found(roles=[ROLE_USER]) == [f"tea on day {day}" for day in (1, 2, 3)]
    assert found(roles=[ROLE_USER, ROLE_ASSISTANT]) == found() and len(found()) == 6
    assert found(before=timestamp("2024-05-02T12:00:00Z")) == ["more tea on day 1", "tea on day 1"]
    assert found(after=timestamp("2024-05-02T12:00:00Z")) == ["more tea on day 3", "tea on day 3"]
    assert found(metadata_filter=tagged({"day": 2})) == ["more tea on day 2", "tea on day 2"]


def test_a_query_vector_without_text_is_a_semantic_search(conversation: Conversation) -> None:
    north, east = [1.0] + [0.0] * 255, [0.0, 1.0] + [0.0] * 254
    conversation.add("north", vector=north)
    conversation.add("east", vector=east)
    answer = conversation.search("", mode=SEMANTIC, query_vector=[0.9, 0.1] + [0.0] * 254)
    assert [hit.message.content for hit in answer.hits] == ["north", "east"]
    assert answer.hits[0].score == pytest.approx(0.9939, abs=1e-3)
    assert refusal(lambda: conversation.search("", mode=HYBRID, query_vector=north)).field == "query"
    assert refusal(lambda: conversation.search("", mode=SEMANTIC, query_vector=[1.0])).field == "query_vector"


# -- pages


def pages(
    conversation: Conversation, mode: pb.SearchMode, between: Callable[[], object] = lambda: None
) -> list[list[str]]:
    found, token = [], ""
    while True:
        answer = conversation.search("tea time", mode=mode, limit=3, page_token=token)
        found.append([hit.message.content for hit in answer.hits])
        token = answer.next_page_token
        if not token:
            return found
        between()


@every_mode
def test_pages_follow_each_other_without_gap_or_repetition(conversation: Conversation, mode: pb.SearchMode) -> None:
    for number in range(7):
        conversation.add(f"tea time number {number}")
    whole = conversation.find("tea time", mode=mode, limit=100)
    assert sorted(whole) == [f"tea time number {number}" for number in range(7)]
    assert pages(conversation, mode) == [whole[:3], whole[3:6], whole[6:]]


@every_mode
def test_pages_have_the_snapshot_of_the_first(conversation: Conversation, mode: pb.SearchMode) -> None:
    for number in range(7):
        conversation.add(f"tea time number {number}")
    whole = conversation.find("tea time", mode=mode, limit=100)
    assert pages(conversation, mode, lambda: conversation.add("tea time, tea time")) == [
        whole[:3],
        whole[3:6],
        whole[6:],
    ]
    assert "tea time, tea time" in conversation.find("tea time", mode=mode, limit=100)


@every_mode
def test_the_default_limit_is_ten_hits(conversation: Conversation, mode: pb.SearchMode) -> None:
    conversation.add_turns(10)
    assert len(conversation.search("words", mode=mode).hits) == 10
    assert len(conversation.search("words", mode=mode, limit=2000).hits) == 20


# -- degradation


def test_without_an_index_recent_messages_are_ranked_and_the_response_is_degraded(data_dir: Path) -> None:
    with SidecarProcess(data_dir, "--index", "off") as sidecar, sidecar.client() as client:
        conversation = Conversation(client, "s", user_id="alice")
        for text in (PEANUTS, CAT, CAR):
            conversation.add(text)
        for query, mode, content in (
            ("my child's food", SEMANTIC, PEANUTS),
            ("zebulon", KEYWORD, CAT),
            ("electric cars", HYBRID, CAR),
        ):
            answer = conversation.search(query, mode=mode)
            assert answer.hits[0].message.content == content
            assert list(answer.degraded) == [DEGRADATION_INDEX_UNAVAILABLE]
        assert list(conversation.search("zebulon").degraded) == []


def test_with_an_index_no_response_is_degraded(today: Conversation) -> None:
    assert {len(today.search("cat", mode=mode).degraded) for mode in RANKED} == {0}
