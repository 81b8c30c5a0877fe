"""ListSessions and GetSession: listing, activity, statistics and watermarks."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest

from memsidecar.v1.session_pb2 import (
    GetSessionRequest,
    GetSessionResponse,
    ListSessionsRequest,
    ListSessionsResponse,
    SessionPolicy,
    SetPolicyRequest,
)
from tests.scenarios.conversation import Conversation
from tests.support.comparable import without_watermarks
from tests.support.process import Client, SidecarProcess, refusal
from tests.support.waiting import until


def listed(client: Client, namespace: str, **fields: Any) -> ListSessionsResponse:
    answer: ListSessionsResponse = client.sessions.ListSessions(ListSessionsRequest(namespace=namespace, **fields))
    return answer


def ids(answer: ListSessionsResponse) -> list[str]:
    return [session.session_id for session in answer.sessions]


def write(client: Client, namespace: str, *session_ids: str, user_id: str = "") -> None:
    for session_id in session_ids:
        Conversation(client, session_id, namespace, user_id).add("hello")


def test_the_session_with_the_newest_activity_comes_first(client: Client, namespace: str) -> None:
    write(client, namespace, "a", "b", "c")
    assert ids(listed(client, namespace)) == ["c", "b", "a"]
    write(client, namespace, "a")
    assert ids(listed(client, namespace)) == ["a", "c", "b"]


@pytest.mark.parametrize(
    "write_to",
    [
        lambda conversation: conversation.annotate("q1", {"seen": True}),
        lambda conversation: conversation.prune(1),
        lambda conversation: conversation.clear(),
    ],
    ids=["Annotate", "Prune", "Clear"],
)
def test_each_write_counts_as_activity(
    client: Client, namespace: str, write_to: Callable[[Conversation], object]
) -> None:
    for name in ("a", "b"):
        Conversation(client, name, namespace).add_turns(2)
    write_to(Conversation(client, "a", namespace))
    assert ids(listed(client, namespace)) == ["a", "b"]


def test_a_read_does_not_count_as_activity(client: Client, namespace: str) -> None:
    write(client, namespace, "a", "b")
    Conversation(client, "a", namespace).messages()
    assert ids(listed(client, namespace)) == ["b", "a"]


def test_pages_of_sessions_follow_each_other(client: Client, namespace: str) -> None:
    write(client, namespace, *"abcde")
    first = listed(client, namespace, page_size=2)
    second = listed(client, namespace, page_size=2, page_token=first.next_page_token)
    third = listed(client, namespace, page_size=2, page_token=second.next_page_token)
    assert [ids(first), ids(second), ids(third)] == [["e", "d"], ["c", "b"], ["a"]]
    assert third.next_page_token == ""


def test_sessions_are_listed_by_user(client: Client, namespace: str) -> None:
    write(client, namespace, "a1", "a2", user_id="alice")
    write(client, namespace, "b1", user_id="bob")
    write(client, namespace, "n1")
    assert ids(listed(client, namespace, user_id="alice")) == ["a2", "a1"]
    assert ids(listed(client, namespace, user_id="bob")) == ["b1"]
    assert ids(listed(client, namespace, user_id="unknown")) == []
    assert ids(listed(client, namespace)) == ["n1", "b1", "a2", "a1"]


def test_the_token_of_another_list_is_refused(client: Client, namespace: str) -> None:
    write(client, namespace, "a", "b", user_id="alice")
    token = listed(client, namespace, page_size=1).next_page_token
    refused = refusal(lambda: listed(client, namespace, page_size=1, page_token=token, user_id="alice"))
    assert (refused.code, refused.field) == (grpc.StatusCode.INVALID_ARGUMENT, "page_token")


def test_a_negative_page_size_is_refused(client: Client, namespace: str) -> None:
    assert refusal(lambda: listed(client, namespace, page_size=-1)).field == "page_size"


def test_an_unknown_namespace_has_no_sessions(client: Client, namespace: str) -> None:
    assert listed(client, namespace) == ListSessionsResponse()


def test_a_session_has_its_ids_stats_and_times(client: Client, namespace: str) -> None:
    before = time.time()
    conversation = Conversation(client, "s", namespace, "alice")
    conversation.add_turns(3)
    conversation.prune(1)
    session = client.sessions.GetSession(GetSessionRequest(**conversation.scope_ids)).session
    assert (session.namespace, session.user_id, session.session_id) == (namespace, "alice", "s")
    assert session.stats == conversation.count()
    created, active = (stamp.ToNanoseconds() / 1e9 for stamp in (session.create_time, session.last_active))
    assert before - 1 <= created <= active <= time.time() + 1
    (again,) = listed(client, namespace).sessions
    assert without_watermarks(again) == without_watermarks(session)


def test_the_time_of_a_message_is_not_the_time_of_activity(client: Client, namespace: str) -> None:
    conversation = Conversation(client, "s", namespace)
    conversation.add("imported", create_time={"seconds": 1})
    session = client.sessions.GetSession(GetSessionRequest(**conversation.scope_ids)).session
    assert session.create_time.seconds > 1_600_000_000 and session.last_active.seconds > 1_600_000_000


@pytest.mark.parametrize("user_id", ["", "alice"])
def test_an_unknown_session_is_answered_empty(client: Client, namespace: str, user_id: str) -> None:
    request = GetSessionRequest(namespace=namespace, session_id="unknown", user_id=user_id)
    assert client.sessions.GetSession(request) == GetSessionResponse()
    assert listed(client, namespace) == ListSessionsResponse()


# -- watermarks

TASKS = {"episodic", "semantic.facts", "summaries", "procedural"}


def watermarks(conversation: Conversation) -> dict[str, int]:
    return dict(conversation.client.sessions.GetSession(GetSessionRequest(**conversation.scope_ids)).session.watermarks)


def until_all_tasks_are_at(conversation: Conversation, sequence: int) -> None:
    until(lambda: watermarks(conversation) == dict.fromkeys(TASKS, sequence))


def test_a_session_has_a_watermark_for_each_background_task(client: Client, namespace: str) -> None:
    first, second = Conversation(client, "first", namespace), Conversation(client, "second", namespace)
    first.add_turns(3)
    second.add("hello")
    until_all_tasks_are_at(first, 6)
    until_all_tasks_are_at(second, 1)
    assert [dict(session.watermarks) for session in listed(client, namespace).sessions] == [
        dict.fromkeys(TASKS, 1),
        dict.fromkeys(TASKS, 6),
    ]


def test_watermarks_include_pruned_and_erased_messages(client: Client, namespace: str) -> None:
    conversation = Conversation(client, "s", namespace)
    conversation.add_turns(3)
    until_all_tasks_are_at(conversation, 6)
    conversation.prune(1)
    assert set(watermarks(conversation).values()) == {6}
    conversation.clear()
    assert set(watermarks(conversation).values()) == {6}
    conversation.add_turns(2)
    assert set(watermarks(conversation)) == TASKS and min(watermarks(conversation).values()) >= 6
    until_all_tasks_are_at(conversation, 10)


def test_watermarks_of_a_session_without_messages_are_zero(client: Client, namespace: str) -> None:
    conversation = Conversation(client, "s", namespace)
    client.sessions.SetPolicy(SetPolicyRequest(**conversation.scope_ids, policy=SessionPolicy(auto_prune_tokens=100)))
    until_all_tasks_are_at(conversation, 0)


def test_the_watermark_of_a_waiting_task_is_its_last_processed_message(tmp_path: Path) -> None:
    """Facts are extracted after three turns here, and this session never becomes quiet."""
    flags = ("--index", "off", "--facts-every-turns", "3", "--facts-quiet-seconds", "86400")
    with SidecarProcess(tmp_path / "data", *flags) as sidecar, sidecar.client() as client:
        conversation = Conversation(client, "s")
        conversation.add_turns(3)
        until(lambda: watermarks(conversation).get("semantic.facts") == 6)
        conversation.add_turns(1)
        conversation.add("and one more", id="more")
        until(lambda: watermarks(conversation) == {"semantic.facts": 6, "summaries": 7, "procedural": 7})
