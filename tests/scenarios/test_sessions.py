"""ListSessions and GetSession: which sessions there are, and where each stands."""

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
from tests.scenarios.talk import Talk
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
        Talk(client, session_id, namespace, user_id).say("hello")


def test_the_session_with_the_newest_activity_comes_first(client: Client, namespace: str) -> None:
    write(client, namespace, "a", "b", "c")
    assert ids(listed(client, namespace)) == ["c", "b", "a"]
    write(client, namespace, "a")
    assert ids(listed(client, namespace)) == ["a", "c", "b"]


@pytest.mark.parametrize(
    "write_to",
    [lambda talk: talk.annotate("q1", {"seen": True}), lambda talk: talk.prune(1), lambda talk: talk.clear()],
    ids=["Annotate", "Prune", "Clear"],
)
def test_every_write_is_activity(client: Client, namespace: str, write_to: Callable[[Talk], object]) -> None:
    for name in ("a", "b"):
        Talk(client, name, namespace).turns(2)
    write_to(Talk(client, "a", namespace))
    assert ids(listed(client, namespace)) == ["a", "b"]


def test_reading_is_no_activity(client: Client, namespace: str) -> None:
    write(client, namespace, "a", "b")
    Talk(client, "a", namespace).messages()
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
    assert ids(listed(client, namespace, user_id="nobody")) == []
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


def test_a_session_tells_where_it_stands(client: Client, namespace: str) -> None:
    before = time.time()
    talk = Talk(client, "s", namespace, "alice")
    talk.turns(3)
    talk.prune(1)
    session = client.sessions.GetSession(GetSessionRequest(**talk.names)).session
    assert (session.namespace, session.user_id, session.session_id) == (namespace, "alice", "s")
    assert session.stats == talk.count()
    created, active = (stamp.ToNanoseconds() / 1e9 for stamp in (session.create_time, session.last_active))
    assert before - 1 <= created <= active <= time.time() + 1
    (again,) = listed(client, namespace).sessions
    assert without_watermarks(again) == without_watermarks(session)


def test_the_time_of_a_message_is_not_the_time_of_activity(client: Client, namespace: str) -> None:
    talk = Talk(client, "s", namespace)
    talk.say("imported", create_time={"seconds": 1})
    session = client.sessions.GetSession(GetSessionRequest(**talk.names)).session
    assert session.create_time.seconds > 1_600_000_000 and session.last_active.seconds > 1_600_000_000


@pytest.mark.parametrize("user_id", ["", "alice"])
def test_an_unknown_session_is_answered_empty(client: Client, namespace: str, user_id: str) -> None:
    request = GetSessionRequest(namespace=namespace, session_id="unknown", user_id=user_id)
    assert client.sessions.GetSession(request) == GetSessionResponse()
    assert listed(client, namespace) == ListSessionsResponse()


# -- how far the background has come

TASKS = {"episodic", "semantic.facts", "summaries", "procedural"}


def watermarks(talk: Talk) -> dict[str, int]:
    return dict(talk.client.sessions.GetSession(GetSessionRequest(**talk.names)).session.watermarks)


def until_all_tasks_are_at(talk: Talk, sequence: int) -> None:
    until(lambda: watermarks(talk) == dict.fromkeys(TASKS, sequence))


def test_a_session_tells_how_far_each_background_task_has_come(client: Client, namespace: str) -> None:
    first, second = Talk(client, "first", namespace), Talk(client, "second", namespace)
    first.turns(3)
    second.say("hello")
    until_all_tasks_are_at(first, 6)
    until_all_tasks_are_at(second, 1)
    assert [dict(one.watermarks) for one in listed(client, namespace).sessions] == [
        dict.fromkeys(TASKS, 1),
        dict.fromkeys(TASKS, 6),
    ]


def test_what_left_the_window_was_gone_through_all_the_same(client: Client, namespace: str) -> None:
    talk = Talk(client, "s", namespace)
    talk.turns(3)
    until_all_tasks_are_at(talk, 6)
    talk.prune(1)
    assert set(watermarks(talk).values()) == {6}
    talk.clear()
    assert set(watermarks(talk).values()) == {6}
    talk.turns(2)
    assert set(watermarks(talk)) == TASKS and min(watermarks(talk).values()) >= 6
    until_all_tasks_are_at(talk, 10)


def test_what_nobody_said_leaves_nothing_to_do(client: Client, namespace: str) -> None:
    talk = Talk(client, "s", namespace)
    client.sessions.SetPolicy(SetPolicyRequest(**talk.names, policy=SessionPolicy(auto_prune_tokens=100)))
    until_all_tasks_are_at(talk, 0)


def test_a_task_that_waits_says_how_far_it_has_come(tmp_path: Path) -> None:
    """Facts are looked for after a number of turns, and this session never falls quiet."""
    flags = ("--index", "off", "--facts-every-turns", "3", "--facts-quiet-seconds", "86400")
    with SidecarProcess(tmp_path / "data", *flags) as sidecar, sidecar.client() as client:
        talk = Talk(client, "s")
        talk.turns(3)
        until(lambda: watermarks(talk).get("semantic.facts") == 6)
        talk.turns(1)
        talk.say("and one more", id="more")
        until(lambda: watermarks(talk) == {"semantic.facts": 6, "summaries": 7, "procedural": 7})
