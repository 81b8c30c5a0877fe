"""ListUsers and GetUsage: the users of a namespace, and what it stores."""

import time
from typing import Any

import grpc
import pytest

from memsidecar.v1.session_pb2 import (
    DeleteSessionRequest,
    ForgetUserRequest,
    GetUsageRequest,
    GetUsageResponse,
    ListSessionsRequest,
    ListUsersRequest,
    ListUsersResponse,
    NamespaceQuota,
    NamespaceUsage,
    User,
)
from tests.scenarios.conversation import Conversation
from tests.scenarios.document_client import DocumentClient
from tests.scenarios.knowledge_client import KnowledgeClient, fact
from tests.support.process import Client, refusal
from tests.support.waiting import until


def listed(client: Client, namespace: str, **fields: Any) -> ListUsersResponse:
    answer: ListUsersResponse = client.sessions.ListUsers(ListUsersRequest(namespace=namespace, **fields))
    return answer


def ids(answer: ListUsersResponse) -> list[str]:
    return [user.user_id for user in answer.users]


def usage(client: Client, namespace: str) -> NamespaceUsage:
    answer: GetUsageResponse = client.sessions.GetUsage(GetUsageRequest(namespace=namespace))
    return answer.usage


def write(client: Client, namespace: str, *user_ids: str, session_id: str = "") -> None:
    for user_id in user_ids:
        Conversation(client, session_id or f"of {user_id}", namespace, user_id).add("hello")


def test_a_user_has_its_sessions_and_the_time_of_the_newest_activity(client: Client, namespace: str) -> None:
    before = time.time()
    write(client, namespace, "bob")
    for session_id in ("one", "two"):
        write(client, namespace, "ann", session_id=session_id)
    ann, bob = listed(client, namespace).users
    assert (ann.user_id, ann.session_count, bob.user_id, bob.session_count) == ("ann", 2, "bob", 1)
    newest = client.sessions.ListSessions(ListSessionsRequest(namespace=namespace, user_id="ann")).sessions[0]
    assert ann.last_active == newest.last_active
    assert before - 1 <= bob.last_active.seconds <= ann.last_active.seconds <= time.time() + 1


def test_owners_of_facts_and_documents_are_listed_without_sessions(client: Client, namespace: str) -> None:
    KnowledgeClient(client, namespace, "fact").put_facts(fact("Lisbon"))
    DocumentClient(client, namespace, "document").put("d", "A text.")
    assert list(listed(client, namespace).users) == [User(user_id="document"), User(user_id="fact")]


def test_pages_of_users_follow_each_other(client: Client, namespace: str) -> None:
    write(client, namespace, *"ecadb")
    first = listed(client, namespace, page_size=2)
    second = listed(client, namespace, page_size=2, page_token=first.next_page_token)
    third = listed(client, namespace, page_size=2, page_token=second.next_page_token)
    assert [ids(first), ids(second), ids(third)] == [["a", "b"], ["c", "d"], ["e"]]
    assert third.next_page_token == ""


def test_a_page_that_ends_with_the_last_user_has_no_token(client: Client, namespace: str) -> None:
    write(client, namespace, *"ab")
    assert listed(client, namespace, page_size=2).next_page_token == ""


def test_a_prefix_selects_users_on_each_page(client: Client, namespace: str) -> None:
    write(client, namespace, "an", "ann", "anna", "bob", "anne")
    first = listed(client, namespace, user_id_prefix="ann", page_size=2)
    second = listed(client, namespace, user_id_prefix="ann", page_size=2, page_token=first.next_page_token)
    assert [ids(first), ids(second)] == [["ann", "anna"], ["anne"]]
    assert listed(client, namespace, user_id_prefix="x") == ListUsersResponse()


def test_a_token_for_another_prefix_is_refused(client: Client, namespace: str) -> None:
    write(client, namespace, "a1", "a2")
    token = listed(client, namespace, page_size=1).next_page_token
    refused = refusal(lambda: listed(client, namespace, user_id_prefix="a", page_token=token))
    assert (refused.code, refused.field) == (grpc.StatusCode.INVALID_ARGUMENT, "page_token")


def test_a_user_who_comes_between_two_pages_is_on_the_second_one(client: Client, namespace: str) -> None:
    write(client, namespace, *"acd")
    first = listed(client, namespace, page_size=2)
    write(client, namespace, "b", "cc")
    assert ids(listed(client, namespace, page_token=first.next_page_token)) == ["cc", "d"]


def test_a_namespace_without_users_has_none(client: Client, namespace: str) -> None:
    assert listed(client, namespace) == ListUsersResponse()
    Conversation(client, "s", namespace).add("hello")
    DocumentClient(client, namespace).put("d", "A text of the whole namespace.")
    assert listed(client, namespace) == ListUsersResponse()


def test_a_forgotten_user_is_not_listed(client: Client, namespace: str) -> None:
    write(client, namespace, "ann", "bob")
    KnowledgeClient(client, namespace, "ann").put_facts(fact("Lisbon"))
    client.sessions.ForgetUser(ForgetUserRequest(namespace=namespace, user_id="ann"))
    assert ids(listed(client, namespace)) == ["bob"]


# -- GetUsage


def test_an_unknown_namespace_stores_nothing(client: Client, namespace: str) -> None:
    answer = client.sessions.GetUsage(GetUsageRequest(namespace=namespace))
    assert answer == GetUsageResponse(usage=NamespaceUsage(), quota=NamespaceQuota())
    assert answer.HasField("usage") and answer.HasField("quota")


def test_usage_counts_sessions_messages_and_bytes_of_the_namespace(client: Client, namespace: str) -> None:
    conversation = Conversation(client, "s", namespace, "ann")
    conversation.add_turns(3)
    write(client, f"{namespace} of others", "ann")
    conversation.prune(1)
    before = usage(client, namespace)
    assert (before.sessions, before.messages) == (1, 6)
    conversation.add("x" * 10_000)
    assert usage(client, namespace).messages == 7
    assert usage(client, namespace).bytes > before.bytes + 10_000
    DocumentClient(client, namespace).put("d", "A text. " * 1_000)
    assert usage(client, namespace).bytes > before.bytes + 18_000


@pytest.mark.parametrize("forget", [False, True], ids=["session", "user"])
def test_what_was_erased_is_no_usage(client: Client, namespace: str, forget: bool) -> None:
    conversation = Conversation(client, "s", namespace, "ann")
    conversation.add("hello")
    if forget:
        client.sessions.ForgetUser(ForgetUserRequest(namespace=namespace, user_id="ann"))
    else:
        client.sessions.DeleteSession(DeleteSessionRequest(**conversation.scope_ids))
    until(lambda: usage(client, namespace) == NamespaceUsage(), "no background task stores anything for it")
