"""Search in the substring mode: all acknowledged messages with the text, newest first."""

from typing import Any

import grpc
import pytest

from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_SYSTEM, ROLE_USER
from tests.scenarios.conversation import Conversation, tagged, timestamp
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
def test_case_is_ignored_in_all_scripts(conversation: Conversation, content: str, query: str) -> None:
    conversation.add(content)
    conversation.add("something else entirely")
    assert conversation.find(query) == [content]


def test_hits_come_newest_first_with_their_session_and_a_score(conversation: Conversation) -> None:
    for text in ("tea one", "coffee", "tea two", "tea three"):
        conversation.add(text)
    hits = conversation.search("tea").hits
    assert [hit.message.content for hit in hits] == ["tea three", "tea two", "tea one"]
    assert {hit.session_id for hit in hits} == {conversation.session_id}
    assert all(0 < hit.score <= 1 for hit in hits)


def test_a_message_is_found_the_moment_it_is_acknowledged(conversation: Conversation) -> None:
    for number in range(20):
        conversation.add(f"needle {number}")
        assert conversation.find(f"needle {number}") == [f"needle {number}"]


def test_pruned_messages_are_found(conversation: Conversation) -> None:
    conversation.add_turns(3)
    conversation.prune(1)
    assert conversation.find("q1 and") == ["q1 and some words to weigh something"]


def test_only_the_requested_roles_are_found(conversation: Conversation) -> None:
    conversation.system("tea rules")
    conversation.add("tea?")
    conversation.assistant("tea.")
    assert conversation.find("tea", roles=[ROLE_USER]) == ["tea?"]
    assert conversation.find("tea", roles=[ROLE_SYSTEM, ROLE_ASSISTANT]) == ["tea.", "tea rules"]


def test_only_messages_with_the_requested_tags_are_found(conversation: Conversation) -> None:
    conversation.add("tea 1", metadata=tagged({"important": True, "n": 1}))
    conversation.add("tea 2", metadata=tagged({"important": True, "n": 2}))
    conversation.add("tea 3")
    assert conversation.find("tea", metadata_filter=tagged({"important": True})) == ["tea 2", "tea 1"]
    assert conversation.find("tea", metadata_filter=tagged({"important": True, "n": 1})) == ["tea 1"]


def test_after_and_before_are_exclusive(conversation: Conversation) -> None:
    for day in (1, 2, 3):
        conversation.add(f"tea on day {day}", create_time=timestamp(f"2024-05-0{day}T12:00:00Z"))
    assert conversation.find(
        "tea", after=timestamp("2024-05-01T12:00:01Z"), before=timestamp("2024-05-03T11:59:59Z")
    ) == ["tea on day 2"]
    assert conversation.find("tea", before=timestamp("2024-05-02T12:00:00Z")) == ["tea on day 1"]
    assert conversation.find("tea", after=timestamp("2024-05-02T12:00:00Z")) == ["tea on day 3"]


def test_pages_of_hits_follow_each_other_without_gap_or_repetition(conversation: Conversation) -> None:
    for number in range(7):
        conversation.add(f"tea {number}")
    found: list[str] = []
    token = ""
    for _ in range(3):
        answer = conversation.search("tea", limit=3, page_token=token)
        found += [hit.message.content for hit in answer.hits]
        token = answer.next_page_token
    assert found == [f"tea {number}" for number in range(6, -1, -1)]
    assert token == ""


def test_a_message_added_between_two_pages_does_not_shift_them(conversation: Conversation) -> None:
    for number in range(4):
        conversation.add(f"tea {number}")
    token = conversation.search("tea", limit=2).next_page_token
    conversation.add("tea at last")
    assert conversation.find("tea", limit=2, page_token=token) == ["tea 1", "tea 0"]


def test_the_default_limit_is_ten_hits(conversation: Conversation) -> None:
    conversation.add_turns(10)
    assert len(conversation.search("words").hits) == 10
    assert len(conversation.search("words", limit=2000).hits) == 20


@pytest.mark.parametrize("changed", [{"query": "te"}, {"roles": [ROLE_USER]}, {"min_score": 0.5}], ids=str)
def test_the_token_of_another_search_is_refused(conversation: Conversation, changed: dict[str, Any]) -> None:
    for number in range(4):
        conversation.add(f"tea {number}")
    token = conversation.search("tea", limit=2).next_page_token
    refused = refusal(lambda: conversation.search(**{"query": "tea", "limit": 2, "page_token": token, **changed}))
    assert (refused.code, refused.field) == (grpc.StatusCode.INVALID_ARGUMENT, "page_token")


def test_an_empty_query_is_refused(conversation: Conversation) -> None:
    assert refusal(lambda: conversation.search("")).field == "query"
