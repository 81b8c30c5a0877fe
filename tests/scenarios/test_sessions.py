"""ListSessions and GetSession: which sessions there are, and where each stands."""

import time
from collections.abc import Callable
from typing import Any

import grpc
import pytest

from memsidecar.v1.session_pb2 import GetSessionRequest, GetSessionResponse, ListSessionsRequest, ListSessionsResponse
from tests.scenarios.talk import Talk
from tests.support.process import Client, refusal


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
    assert list(listed(client, namespace).sessions) == [session]


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
