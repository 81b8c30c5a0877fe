"""GetAll, GetRecent and GetByRole: messages of a session, oldest first."""

from typing import Any

import grpc
import pytest

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_SYSTEM, ROLE_TOOL, ROLE_UNSPECIFIED, ROLE_USER, Role
from tests.scenarios.conversation import Conversation, tagged
from tests.support.process import refusal


def page(conversation: Conversation, **fields: Any) -> pb.GetAllResponse:
    answer: pb.GetAllResponse = conversation.client.memory.GetAll(
        pb.GetAllRequest(**{**conversation.scope_ids, **fields})
    )
    return answer


def recent(conversation: Conversation, n: int, **fields: Any) -> pb.GetRecentResponse:
    answer: pb.GetRecentResponse = conversation.client.memory.GetRecent(
        pb.GetRecentRequest(**conversation.scope_ids, n=n, **fields)
    )
    return answer


def by_role(conversation: Conversation, role: Role, limit: int = 0) -> list[str]:
    answer = conversation.client.memory.GetByRole(pb.GetByRoleRequest(**conversation.scope_ids, role=role, limit=limit))
    return [message.id for message in answer.messages]


def ids(answer: pb.GetAllResponse | pb.GetRecentResponse) -> list[str]:
    return [message.id for message in answer.messages]


# -- GetAll


def test_pages_follow_each_other_until_the_token_is_empty(conversation: Conversation) -> None:
    conversation.add_turns(3)
    first = page(conversation, page_size=4)
    assert ids(first) == ["q1", "a1", "q2", "a2"]
    second = page(conversation, page_size=4, page_token=first.next_page_token)
    assert (ids(second), second.next_page_token) == (["q3", "a3"], "")


def test_a_page_with_exactly_the_rest_is_the_last(conversation: Conversation) -> None:
    conversation.add_turns(2)
    assert page(conversation, page_size=4).next_page_token == ""


def test_a_message_added_between_two_pages_appears_on_the_later_one(conversation: Conversation) -> None:
    conversation.add_turns(2)
    token = page(conversation, page_size=3).next_page_token
    conversation.add("new", id="new")
    assert ids(page(conversation, page_size=3, page_token=token)) == ["a2", "new"]


def test_a_filter_by_tag_returns_the_messages_with_it(conversation: Conversation) -> None:
    conversation.add("one", id="both", metadata=tagged({"important": True, "topic": "tea"}))
    conversation.add("two", id="one", metadata=tagged({"important": True}))
    conversation.add("three", id="none")
    assert ids(page(conversation, metadata_filter=tagged({"important": True}))) == ["both", "one"]
    assert ids(page(conversation, metadata_filter=tagged({"important": True, "topic": "tea"}))) == ["both"]
    assert ids(page(conversation, metadata_filter=tagged({"important": "true"}))) == []
    assert ids(page(conversation, metadata_filter=tagged({}))) == ["both", "one", "none"]


def test_pruned_messages_are_read_in_order_when_requested(conversation: Conversation) -> None:
    conversation.add_turns(3)
    conversation.prune(1)
    assert ids(page(conversation)) == ["q3", "a3"]
    assert ids(page(conversation, include_pruned=True)) == ["q1", "a1", "q2", "a2", "q3", "a3"]


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
def test_the_token_of_another_request_is_refused(conversation: Conversation, changed: dict[str, Any]) -> None:
    conversation.add_turns(3)
    token = page(conversation, page_size=2).next_page_token
    refused = refusal(lambda: page(conversation, **{"page_size": 2, "page_token": token, **changed}))
    assert (refused.code, refused.field) == (grpc.StatusCode.INVALID_ARGUMENT, "page_token")


@pytest.mark.parametrize("token", ["nonsense", "e30", "\u00fc", "AAAAAAAAWzFd"])
def test_an_invalid_token_is_refused(conversation: Conversation, token: str) -> None:
    conversation.add_turns(1)
    assert refusal(lambda: page(conversation, page_token=token)).field == "page_token"


def test_a_page_size_above_the_maximum_is_taken_as_the_maximum_and_a_negative_one_refused(
    conversation: Conversation,
) -> None:
    conversation.add_turns(505)
    assert len(page(conversation, page_size=5000).messages) == 1000
    assert len(page(conversation).messages) == 100
    assert refusal(lambda: page(conversation, page_size=-1)).field == "page_size"


# -- GetRecent


def test_recent_messages_are_the_newest_and_come_oldest_first(conversation: Conversation) -> None:
    conversation.add_turns(3)
    answer = recent(conversation, 3)
    assert (ids(answer), answer.truncated) == (["a2", "q3", "a3"], False)


def test_more_messages_than_there_are_returns_all(conversation: Conversation) -> None:
    conversation.add_turns(1)
    answer = recent(conversation, 1_000_000)
    assert (ids(answer), answer.truncated) == (["q1", "a1"], False)


def test_a_limit_in_tokens_keeps_whole_messages_the_newest_first(conversation: Conversation) -> None:
    conversation.add_turns(3)
    tokens = [message.tokens for message in conversation.messages()]
    answer = recent(conversation, 6, max_tokens=sum(tokens[-2:]))
    assert (ids(answer), answer.truncated) == (["q3", "a3"], True)
    assert ids(recent(conversation, 6, max_tokens=sum(tokens[-2:]) - 1)) == ["a3"]
    assert not recent(conversation, 2, max_tokens=sum(tokens[-2:])).truncated


def test_recent_messages_leave_out_pruned_messages(conversation: Conversation) -> None:
    conversation.add_turns(3)
    conversation.prune(1)
    assert ids(recent(conversation, 10)) == ["q3", "a3"]


@pytest.mark.parametrize("n", [0, -1])
def test_a_number_below_one_is_refused(conversation: Conversation, n: int) -> None:
    conversation.add_turns(1)
    refused = refusal(lambda: recent(conversation, n))
    assert (refused.code, refused.field) == (grpc.StatusCode.INVALID_ARGUMENT, "n")


# -- GetByRole


def test_the_messages_of_a_role_come_oldest_first_and_a_limit_keeps_the_newest(conversation: Conversation) -> None:
    conversation.system("be kind", id="s")
    conversation.add_turns(3)
    conversation.add_tool_call("c", id="call")
    conversation.add_tool_result("c", "found", id="result")
    assert by_role(conversation, ROLE_SYSTEM) == ["s"]
    assert by_role(conversation, ROLE_USER) == ["q1", "q2", "q3"]
    assert by_role(conversation, ROLE_ASSISTANT, limit=2) == ["a3", "call"]
    assert by_role(conversation, ROLE_TOOL) == ["result"]


def test_the_messages_of_a_role_leave_out_pruned_messages(conversation: Conversation) -> None:
    conversation.add_turns(3)
    conversation.prune(1)
    assert by_role(conversation, ROLE_USER) == ["q3"]


def test_no_role_is_refused(conversation: Conversation) -> None:
    assert refusal(lambda: by_role(conversation, ROLE_UNSPECIFIED)).field == "role"


def test_an_unknown_session_reads_as_empty_and_is_not_created(conversation: Conversation) -> None:
    assert page(conversation) == pb.GetAllResponse()
    assert recent(conversation, 5) == pb.GetRecentResponse()
    assert by_role(conversation, ROLE_USER) == []
    assert conversation.find("anything") == []
    assert conversation.add("first", expected_sequence=0).sequence == 1
