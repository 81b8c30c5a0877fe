"""GetAll, GetRecent and GetByRole: a conversation is read back, oldest first."""

from typing import Any

import grpc
import pytest

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_SYSTEM, ROLE_TOOL, ROLE_UNSPECIFIED, ROLE_USER, Role
from tests.scenarios.talk import Talk, tagged
from tests.support.process import refusal


def page(talk: Talk, **fields: Any) -> pb.GetAllResponse:
    answer: pb.GetAllResponse = talk.client.memory.GetAll(pb.GetAllRequest(**{**talk.names, **fields}))
    return answer


def recent(talk: Talk, n: int, **fields: Any) -> pb.GetRecentResponse:
    answer: pb.GetRecentResponse = talk.client.memory.GetRecent(pb.GetRecentRequest(**talk.names, n=n, **fields))
    return answer


def by_role(talk: Talk, role: Role, limit: int = 0) -> list[str]:
    answer = talk.client.memory.GetByRole(pb.GetByRoleRequest(**talk.names, role=role, limit=limit))
    return [message.id for message in answer.messages]


def ids(answer: pb.GetAllResponse | pb.GetRecentResponse) -> list[str]:
    return [message.id for message in answer.messages]


# -- GetAll


def test_pages_follow_each_other_until_the_token_is_empty(talk: Talk) -> None:
    talk.turns(3)
    first = page(talk, page_size=4)
    assert ids(first) == ["q1", "a1", "q2", "a2"]
    second = page(talk, page_size=4, page_token=first.next_page_token)
    assert (ids(second), second.next_page_token) == (["q3", "a3"], "")


def test_a_page_that_holds_exactly_the_rest_is_the_last(talk: Talk) -> None:
    talk.turns(2)
    assert page(talk, page_size=4).next_page_token == ""


def test_a_message_added_between_two_pages_appears_on_the_later_one(talk: Talk) -> None:
    talk.turns(2)
    token = page(talk, page_size=3).next_page_token
    talk.say("new", id="new")
    assert ids(page(talk, page_size=3, page_token=token)) == ["a2", "new"]


def test_a_filter_by_tag_finds_what_is_tagged_so(talk: Talk) -> None:
    talk.say("one", id="both", metadata=tagged({"important": True, "topic": "tea"}))
    talk.say("two", id="one", metadata=tagged({"important": True}))
    talk.say("three", id="none")
    assert ids(page(talk, metadata_filter=tagged({"important": True}))) == ["both", "one"]
    assert ids(page(talk, metadata_filter=tagged({"important": True, "topic": "tea"}))) == ["both"]
    assert ids(page(talk, metadata_filter=tagged({"important": "true"}))) == []
    assert ids(page(talk, metadata_filter=tagged({}))) == ["both", "one", "none"]


def test_pruned_messages_are_read_at_their_place_when_asked_for(talk: Talk) -> None:
    talk.turns(3)
    talk.prune(1)
    assert ids(page(talk)) == ["q3", "a3"]
    assert ids(page(talk, include_pruned=True)) == ["q1", "a1", "q2", "a2", "q3", "a3"]


@pytest.mark.parametrize(
    "changed",
    [
        {"session_id": "another"},
        {"namespace": "another"},
        {"user_id": "bob"},
        {"include_pruned": True},
        {"metadata_filter": tagged({"important": True})},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_the_token_of_another_request_is_refused(talk: Talk, changed: dict[str, Any]) -> None:
    talk.turns(3)
    token = page(talk, page_size=2).next_page_token
    refused = refusal(lambda: page(talk, **{"page_size": 2, "page_token": token, **changed}))
    assert (refused.code, refused.field) == (grpc.StatusCode.INVALID_ARGUMENT, "page_token")


@pytest.mark.parametrize("token", ["nonsense", "e30", "\u00fc", "AAAAAAAAWzFd"])
def test_a_token_that_is_none_is_refused(talk: Talk, token: str) -> None:
    talk.turns(1)
    assert refusal(lambda: page(talk, page_token=token)).field == "page_token"


def test_a_page_size_above_the_maximum_is_taken_as_the_maximum_and_a_negative_one_refused(talk: Talk) -> None:
    talk.turns(505)
    assert len(page(talk, page_size=5000).messages) == 1000
    assert len(page(talk).messages) == 100
    assert refusal(lambda: page(talk, page_size=-1)).field == "page_size"


# -- GetRecent


def test_recent_messages_are_the_newest_and_come_oldest_first(talk: Talk) -> None:
    talk.turns(3)
    answer = recent(talk, 3)
    assert (ids(answer), answer.truncated) == (["a2", "q3", "a3"], False)


def test_more_than_there_are_is_all_of_them(talk: Talk) -> None:
    talk.turns(1)
    answer = recent(talk, 1_000_000)
    assert (ids(answer), answer.truncated) == (["q1", "a1"], False)


def test_a_limit_in_tokens_keeps_whole_messages_the_newest_first(talk: Talk) -> None:
    talk.turns(3)
    tokens = [message.tokens for message in talk.messages()]
    answer = recent(talk, 6, max_tokens=sum(tokens[-2:]))
    assert (ids(answer), answer.truncated) == (["q3", "a3"], True)
    assert ids(recent(talk, 6, max_tokens=sum(tokens[-2:]) - 1)) == ["a3"]
    assert not recent(talk, 2, max_tokens=sum(tokens[-2:])).truncated


def test_recent_messages_leave_out_what_was_pruned(talk: Talk) -> None:
    talk.turns(3)
    talk.prune(1)
    assert ids(recent(talk, 10)) == ["q3", "a3"]


@pytest.mark.parametrize("n", [0, -1])
def test_a_number_that_is_not_positive_is_refused(talk: Talk, n: int) -> None:
    talk.turns(1)
    refused = refusal(lambda: recent(talk, n))
    assert (refused.code, refused.field) == (grpc.StatusCode.INVALID_ARGUMENT, "n")


# -- GetByRole


def test_the_messages_of_a_role_come_oldest_first_and_a_limit_keeps_the_newest(talk: Talk) -> None:
    talk.system("be kind", id="s")
    talk.turns(3)
    talk.call("c", id="call")
    talk.answer("c", "found", id="result")
    assert by_role(talk, ROLE_SYSTEM) == ["s"]
    assert by_role(talk, ROLE_USER) == ["q1", "q2", "q3"]
    assert by_role(talk, ROLE_ASSISTANT, limit=2) == ["a3", "call"]
    assert by_role(talk, ROLE_TOOL) == ["result"]


def test_the_messages_of_a_role_leave_out_what_was_pruned(talk: Talk) -> None:
    talk.turns(3)
    talk.prune(1)
    assert by_role(talk, ROLE_USER) == ["q3"]


def test_no_role_is_refused(talk: Talk) -> None:
    assert refusal(lambda: by_role(talk, ROLE_UNSPECIFIED)).field == "role"


def test_an_unknown_session_reads_as_empty_and_does_not_come_into_being(talk: Talk) -> None:
    assert page(talk) == pb.GetAllResponse()
    assert recent(talk, 5) == pb.GetRecentResponse()
    assert by_role(talk, ROLE_USER) == []
    assert talk.find("anything") == []
    assert talk.say("first", expected_sequence=0).sequence == 1
