"""Search in the substring mode: every acknowledged message that holds the words, newest first."""

from typing import Any

import grpc
import pytest

from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_SYSTEM, ROLE_USER
from tests.scenarios.talk import Talk, at, tagged
from tests.support.process import refusal


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("The Weather in Paris", "weather"),
        ("the weather in paris", "WEATHER IN"),
        ("Grüße aus KÖLN", "köln"),
        ("die Straße", "STRASSE"),
        ("ΟΔΥΣΣΕΥΣ", "οδυσσευς"),
        ("Привет, МИР", "мир"),
        ("東京の天気", "天気"),
        ("100% of it_all", "% of it_"),
        ("a 🦊 jumps", "🦊"),
    ],
)
def test_case_does_not_matter_in_any_script(talk: Talk, content: str, query: str) -> None:
    talk.say(content)
    talk.say("something else entirely")
    assert talk.find(query) == [content]


def test_hits_come_newest_first_with_their_session_and_a_score(talk: Talk) -> None:
    for text in ("tea one", "coffee", "tea two", "tea three"):
        talk.say(text)
    hits = talk.search("tea").hits
    assert [hit.message.content for hit in hits] == ["tea three", "tea two", "tea one"]
    assert {hit.session_id for hit in hits} == {talk.session_id}
    assert all(0 < hit.score <= 1 for hit in hits)


def test_a_message_is_found_the_moment_it_is_acknowledged(talk: Talk) -> None:
    for at_ in range(20):
        talk.say(f"needle {at_}")
        assert talk.find(f"needle {at_}") == [f"needle {at_}"]


def test_pruned_messages_are_found_as_before(talk: Talk) -> None:
    talk.turns(3)
    talk.prune(1)
    assert talk.find("q1 and") == ["q1 and some words to weigh something"]


def test_only_the_roles_that_were_named_are_found(talk: Talk) -> None:
    talk.system("tea rules")
    talk.say("tea?")
    talk.assistant("tea.")
    assert talk.find("tea", roles=[ROLE_USER]) == ["tea?"]
    assert talk.find("tea", roles=[ROLE_SYSTEM, ROLE_ASSISTANT]) == ["tea.", "tea rules"]


def test_only_messages_with_the_wanted_tags_are_found(talk: Talk) -> None:
    talk.say("tea 1", metadata=tagged({"important": True, "n": 1}))
    talk.say("tea 2", metadata=tagged({"important": True, "n": 2}))
    talk.say("tea 3")
    assert talk.find("tea", metadata_filter=tagged({"important": True})) == ["tea 2", "tea 1"]
    assert talk.find("tea", metadata_filter=tagged({"important": True, "n": 1})) == ["tea 1"]


def test_after_and_before_leave_out_the_moments_themselves(talk: Talk) -> None:
    for day in (1, 2, 3):
        talk.say(f"tea on day {day}", create_time=at(f"2024-05-0{day}T12:00:00Z"))
    assert talk.find("tea", after=at("2024-05-01T12:00:01Z"), before=at("2024-05-03T11:59:59Z")) == ["tea on day 2"]
    assert talk.find("tea", before=at("2024-05-02T12:00:00Z")) == ["tea on day 1"]
    assert talk.find("tea", after=at("2024-05-02T12:00:00Z")) == ["tea on day 3"]


def test_pages_of_hits_follow_each_other_without_gap_or_repetition(talk: Talk) -> None:
    for number in range(7):
        talk.say(f"tea {number}")
    found: list[str] = []
    token = ""
    for _ in range(3):
        answer = talk.search("tea", limit=3, page_token=token)
        found += [hit.message.content for hit in answer.hits]
        token = answer.next_page_token
    assert found == [f"tea {number}" for number in range(6, -1, -1)]
    assert token == ""


def test_what_is_said_between_two_pages_does_not_shift_them(talk: Talk) -> None:
    for number in range(4):
        talk.say(f"tea {number}")
    token = talk.search("tea", limit=2).next_page_token
    talk.say("tea at last")
    assert talk.find("tea", limit=2, page_token=token) == ["tea 1", "tea 0"]


def test_ten_hits_are_answered_where_no_limit_was_given(talk: Talk) -> None:
    talk.turns(10)
    assert len(talk.search("words").hits) == 10
    assert len(talk.search("words", limit=2000).hits) == 20


@pytest.mark.parametrize("changed", [{"query": "te"}, {"roles": [ROLE_USER]}, {"min_score": 0.5}], ids=str)
def test_the_token_of_another_search_is_refused(talk: Talk, changed: dict[str, Any]) -> None:
    for number in range(4):
        talk.say(f"tea {number}")
    token = talk.search("tea", limit=2).next_page_token
    refused = refusal(lambda: talk.search(**{"query": "tea", "limit": 2, "page_token": token, **changed}))
    assert (refused.code, refused.field) == (grpc.StatusCode.INVALID_ARGUMENT, "page_token")


def test_a_search_for_nothing_is_refused(talk: Talk) -> None:
    assert refusal(lambda: talk.search("")).field == "query"
