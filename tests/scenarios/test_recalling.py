"""Search by words and by meaning: what was said long ago, elsewhere and in other words is found again."""

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
from tests.scenarios.talk import Talk, at, tagged
from tests.support.process import Client, SidecarProcess, refusal

KEYWORD, SEMANTIC, HYBRID = pb.SEARCH_MODE_KEYWORD, pb.SEARCH_MODE_SEMANTIC, pb.SEARCH_MODE_HYBRID
RANKED = (KEYWORD, SEMANTIC, HYBRID)
every_mode = pytest.mark.parametrize("mode", RANKED, ids=pb.SearchMode.Name)

PEANUTS = "My daughter Emma is allergic to peanuts, so we never keep them at home."
CAT = "Our cat is called Zebulon."
CAR = "We bought a car last week, a small electric one."
WEEKS = 21 * 24 * 60 * 60


@pytest.fixture
def today(client: Client, namespace: str) -> Talk:
    """A new session of somebody who said three things three weeks ago, in another one."""
    long_ago = Timestamp(seconds=int(time.time()) - WEEKS)
    before = Talk(client, "weeks ago", namespace, "alice")
    for said, answered in ((PEANUTS, "I will remember that."), (CAT, "A lovely name."), (CAR, "Enjoy the ride.")):
        before.say(said, create_time=long_ago)
        before.assistant(answered, create_time=long_ago)
    talk = Talk(client, "today", namespace, "alice")
    talk.say("Let us plan the weekend.")
    talk.assistant("Gladly. What do you have in mind?")
    return talk


def sum_of(scores: ScoreParts) -> float:
    return sum(float(part) for _, part in scores.ListFields())


# -- what is found


@pytest.mark.parametrize("mode", [SEMANTIC, HYBRID], ids=pb.SearchMode.Name)
@pytest.mark.parametrize("query", ["what food makes my child sick", "which foods should my kid avoid"])
def test_what_was_said_weeks_ago_is_found_by_other_words(today: Talk, mode: pb.SearchMode, query: str) -> None:
    hit = today.search(query, mode=mode).hits[0]
    assert (hit.message.content, hit.session_id) == (PEANUTS, "weeks ago")
    assert today.find(query, mode=KEYWORD) == []


@pytest.mark.parametrize("mode", [KEYWORD, HYBRID, pb.SEARCH_MODE_UNSPECIFIED], ids=pb.SearchMode.Name)
def test_what_was_said_weeks_ago_is_found_by_a_rare_word(today: Talk, mode: pb.SearchMode) -> None:
    assert today.find("ZEBULON?", mode=mode)[0] == CAT
    assert today.find("What do you know about Zebulon", mode=mode)[0] == CAT


def test_every_message_with_all_words_as_written_comes_before_the_others(talk: Talk) -> None:
    for number in range(20):
        talk.say(f"The heron of pond {number} stands still, and herons are herons: heron, heron, heron.")
        talk.say(f"Note {number}: a grey heron was seen far out, by the ferry, in the fog, on a Sunday.")
    hits = talk.search("grey heron", mode=HYBRID, limit=40).hits
    assert all("grey" in hit.message.content and hit.score >= 0.5 for hit in hits[:20])
    assert all("grey" not in hit.message.content and hit.score < 0.5 for hit in hits[20:])


def test_inflections_of_a_word_are_found(talk: Talk) -> None:
    talk.say("She was walking along the river.")
    talk.say("Nothing of the kind.")
    assert talk.find("walks", mode=KEYWORD) == ["She was walking along the river."]


def test_function_words_count_only_when_nothing_else_is_asked(talk: Talk) -> None:
    talk.say("the heron")
    talk.say("the ferry is here")
    assert talk.find("is the heron there", mode=KEYWORD) == ["the heron"]
    assert sorted(talk.find("the", mode=KEYWORD)) == ["the ferry is here", "the heron"]


def test_who_is_named_in_the_query_ranks_higher_for_what_they_said(talk: Talk) -> None:
    for name in ("Maria", "John"):
        talk.say("The trip to the lake was wonderful.", name=name)
        talk.assistant("Good to hear.")
    hits = talk.search("What did John say about the lake?", mode=HYBRID).hits
    assert (hits[0].message.name, hits[0].scores.speaker > 0) == ("John", True)
    assert {hit.scores.speaker > 0 for hit in hits if hit.message.name != "John"} == {False}


@every_mode
def test_a_message_is_found_the_moment_it_is_acknowledged(talk: Talk, mode: pb.SearchMode) -> None:
    for number in range(20):
        talk.say(f"needle{number} in a haystack")
        assert talk.find(f"needle{number}", mode=mode)[0] == f"needle{number} in a haystack"


@every_mode
def test_pruned_messages_are_found_and_erased_ones_are_not(talk: Talk, mode: pb.SearchMode) -> None:
    talk.say("A heron in the reeds.")
    talk.turns(3)
    talk.prune(1)
    assert "A heron in the reeds." not in talk.contents()
    assert talk.find("heron", mode=mode)[0] == "A heron in the reeds."
    talk.clear()
    assert talk.find("heron", mode=mode) == []


@every_mode
def test_a_deleted_session_is_not_found_in_its_users_memory(today: Talk, mode: pb.SearchMode) -> None:
    assert PEANUTS in today.find("allergic to peanuts", mode=mode)
    request = session_pb2.DeleteSessionRequest(namespace=today.namespace, session_id="weeks ago")
    today.client.sessions.DeleteSession(request)
    assert PEANUTS not in today.find("allergic to peanuts", mode=mode)


# -- scores


@every_mode
def test_scores_fall_and_their_parts_add_up(today: Talk, mode: pb.SearchMode) -> None:
    hits = today.search("is Emma allergic to the cat", mode=mode).hits
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True) and all(0 < score <= 1 for score in scores)
    assert [sum_of(hit.scores) for hit in hits] == pytest.approx(scores, abs=1e-5)


def test_a_mode_shows_only_its_own_parts(today: Talk) -> None:
    def parts(mode: pb.SearchMode) -> set[str]:
        hits = today.search("cat", mode=mode).hits
        return {part.name for hit in hits for part, _ in hit.scores.ListFields()}

    assert (parts(KEYWORD), parts(SEMANTIC)) == ({"keyword"}, {"semantic"})
    assert parts(HYBRID) == {"keyword", "semantic", "neighbours", "session"}


@every_mode
def test_hits_below_the_least_score_are_left_out(today: Talk, mode: pb.SearchMode) -> None:
    hits = today.search("allergic to a cat", mode=mode).hits
    kept = today.search("allergic to a cat", mode=mode, min_score=hits[0].score).hits
    assert [hit.message.id for hit in kept] == [hits[0].message.id]
    assert today.find("allergic to a cat", mode=mode, min_score=1.01) == []


# -- what is asked for


@every_mode
def test_the_scope_says_whose_memory_is_searched(today: Talk, mode: pb.SearchMode) -> None:
    bobs = Talk(today.client, "bobs", today.namespace, "bob")
    bobs.say("My son is allergic to peanuts.")
    query = "allergic to peanuts"
    assert PEANUTS not in today.find(query, mode=mode, scope=SCOPE_SESSION)
    assert PEANUTS in today.find(query, mode=mode, scope=SCOPE_USER)
    assert bobs.contents()[0] not in today.find(query, mode=mode, scope=SCOPE_USER)
    assert {PEANUTS, bobs.contents()[0]} <= set(today.find(query, mode=mode, scope=SCOPE_NAMESPACE))


@every_mode
def test_roles_times_and_tags_are_asked_for_as_in_the_substring_mode(talk: Talk, mode: pb.SearchMode) -> None:
    for day in (1, 2, 3):
        time_of_day: dict[str, Any] = {"create_time": at(f"2024-05-0{day}T12:00:00Z"), "metadata": tagged({"day": day})}
        talk.say(f"tea on day {day}", **time_of_day)
        talk.assistant(f"more tea on day {day}", **time_of_day)

    def found(**fields: Any) -> list[str]:
        return sorted(talk.find("tea", mode=mode, **fields))

    assert found(roles=[ROLE_USER]) == [f"tea on day {day}" for day in (1, 2, 3)]
    assert found(roles=[ROLE_USER, ROLE_ASSISTANT]) == found() and len(found()) == 6
    assert found(before=at("2024-05-02T12:00:00Z")) == ["more tea on day 1", "tea on day 1"]
    assert found(after=at("2024-05-02T12:00:00Z")) == ["more tea on day 3", "tea on day 3"]
    assert found(metadata_filter=tagged({"day": 2})) == ["more tea on day 2", "tea on day 2"]


def test_a_meaning_of_the_callers_own_is_found_by_a_vector_alone(talk: Talk) -> None:
    north, east = [1.0] + [0.0] * 255, [0.0, 1.0] + [0.0] * 254
    talk.say("north", vector=north)
    talk.say("east", vector=east)
    answer = talk.search("", mode=SEMANTIC, query_vector=[0.9, 0.1] + [0.0] * 254)
    assert [hit.message.content for hit in answer.hits] == ["north", "east"]
    assert answer.hits[0].score == pytest.approx(0.9939, abs=1e-3)
    assert refusal(lambda: talk.search("", mode=HYBRID, query_vector=north)).field == "query"
    assert refusal(lambda: talk.search("", mode=SEMANTIC, query_vector=[1.0])).field == "query_vector"


# -- pages


def pages(talk: Talk, mode: pb.SearchMode, between: Callable[[], object] = lambda: None) -> list[list[str]]:
    found, token = [], ""
    while True:
        answer = talk.search("tea time", mode=mode, limit=3, page_token=token)
        found.append([hit.message.content for hit in answer.hits])
        token = answer.next_page_token
        if not token:
            return found
        between()


@every_mode
def test_pages_follow_each_other_without_gap_or_repetition(talk: Talk, mode: pb.SearchMode) -> None:
    for number in range(7):
        talk.say(f"tea time number {number}")
    whole = talk.find("tea time", mode=mode, limit=100)
    assert sorted(whole) == [f"tea time number {number}" for number in range(7)]
    assert pages(talk, mode) == [whole[:3], whole[3:6], whole[6:]]


@every_mode
def test_pages_are_as_of_the_first_one(talk: Talk, mode: pb.SearchMode) -> None:
    for number in range(7):
        talk.say(f"tea time number {number}")
    whole = talk.find("tea time", mode=mode, limit=100)
    assert pages(talk, mode, lambda: talk.say("tea time, tea time")) == [whole[:3], whole[3:6], whole[6:]]
    assert "tea time, tea time" in talk.find("tea time", mode=mode, limit=100)


@every_mode
def test_ten_hits_are_answered_where_no_limit_was_given(talk: Talk, mode: pb.SearchMode) -> None:
    talk.turns(10)
    assert len(talk.search("words", mode=mode).hits) == 10
    assert len(talk.search("words", mode=mode, limit=2000).hits) == 20


# -- what is missing


def test_without_an_index_recent_messages_are_ranked_and_the_answer_says_so(data_dir: Path) -> None:
    with SidecarProcess(data_dir, "--index", "off") as sidecar, sidecar.client() as client:
        talk = Talk(client, "s", user_id="alice")
        for said in (PEANUTS, CAT, CAR):
            talk.say(said)
        for query, mode, content in (
            ("my child's food", SEMANTIC, PEANUTS),
            ("zebulon", KEYWORD, CAT),
            ("electric cars", HYBRID, CAR),
        ):
            answer = talk.search(query, mode=mode)
            assert answer.hits[0].message.content == content
            assert list(answer.degraded) == [DEGRADATION_INDEX_UNAVAILABLE]
        assert list(talk.search("zebulon").degraded) == []


def test_with_an_index_nothing_is_missing(today: Talk) -> None:
    assert {len(today.search("cat", mode=mode).degraded) for mode in RANKED} == {0}
