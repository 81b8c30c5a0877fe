"""`--journal volatile`: all messages in RAM, for tests, until the process ends."""

from collections.abc import Iterator

import pytest

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_USER, SCOPE_USER
from memsidecar.v1.session_pb2 import (
    DeleteSessionRequest,
    GetSessionRequest,
    ListSessionsRequest,
    SessionPolicy,
    SetPolicyRequest,
)
from tests.scenarios.conversation import Conversation, tagged
from tests.support.process import Client, SidecarProcess, refusal
from tests.support.waiting import until


@pytest.fixture(scope="module")
def volatile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    with SidecarProcess(tmp_path_factory.mktemp("volatile") / "data", "--journal", "volatile") as running:
        yield running


@pytest.fixture(scope="module")
def client(volatile: SidecarProcess) -> Iterator[Client]:
    with volatile.client() as connected:
        yield connected


def test_messages_are_added_read_found_and_counted(conversation: Conversation) -> None:
    conversation.system("be kind", id="s", metadata=tagged({"important": True}))
    conversation.add_turns(3)
    assert conversation.ids() == ["s", "q1", "a1", "q2", "a2", "q3", "a3"]
    assert conversation.find("Q2 AND") == ["q2 and some words to weigh something"]
    assert conversation.count().tokens == sum(message.tokens for message in conversation.messages())
    assert conversation.count("gpt-4").message_count == 7


def test_all_messages_of_a_role_are_read_without_a_limit(conversation: Conversation) -> None:
    conversation.add_turns(3)
    answer = conversation.client.memory.GetByRole(pb.GetByRoleRequest(**conversation.scope_ids, role=ROLE_USER))
    assert [message.id for message in answer.messages] == ["q1", "q2", "q3"]
    assert [message.id for message in conversation.client.recent(conversation.session_id, 100)] == conversation.ids()


def test_duplicates_conflicts_and_sequence_mismatches_are_distinguished(conversation: Conversation) -> None:
    conversation.add("hello", id="m", expected_sequence=0)
    assert conversation.add("hello", id="m", expected_sequence=0).duplicate
    assert refusal(lambda: conversation.add("another", id="m")).reason == "ID_CONFLICT"
    assert refusal(lambda: conversation.add("next", expected_sequence=0)).metadata == {"last_sequence": "1"}


def test_sessions_are_pruned_and_late_results_restore_their_call(conversation: Conversation) -> None:
    conversation.add_tool_call("c", id="call")
    conversation.add_turns(2)
    assert conversation.prune(1).removed_count == 3
    conversation.add_tool_result("c", "at last", id="late")
    assert conversation.ids() == ["call", "q2", "a2", "late"]


def test_large_results_are_shortened_and_their_original_found(conversation: Conversation) -> None:
    conversation.add_tool_call("c", id="call")
    conversation.add_tool_result("c", "\n".join(f"line {at} of many" for at in range(300)), id="result")
    conversation.add_turns(1)
    answer = conversation.prune(conversation.count().tokens - 500, overflow=True)
    assert list(answer.shortened_ids) == ["result"]
    assert conversation.messages()[1].synthetic
    assert not conversation.search("line 150 of").hits[0].message.synthetic


def test_policies_annotations_and_reports_are_stored(conversation: Conversation) -> None:
    policy = SessionPolicy(auto_prune_tokens=100)
    conversation.client.sessions.SetPolicy(SetPolicyRequest(**conversation.scope_ids, policy=policy))
    conversation.add_turns(20)
    assert conversation.count().tokens <= 100
    assert conversation.annotate("q1", {"kept": True}).metadata == tagged({"kept": True})
    usage = pb.ReportUsageRequest(model="claude-v", estimated_tokens=100, actual_tokens=150)
    assert conversation.client.memory.ReportUsage(usage).factor == pytest.approx(1.5)


def test_users_are_isolated_and_sessions_listed(client: Client, namespace: str) -> None:
    Conversation(client, "a", namespace, "alice").add("tea")
    Conversation(client, "b", namespace, "bob").add("tea")
    assert refusal(Conversation(client, "a", namespace, "bob").messages).reason == "SESSION_OWNER_MISMATCH"
    assert len(Conversation(client, "a", namespace, "alice").find("tea", scope=SCOPE_USER)) == 1
    listed = client.sessions.ListSessions(ListSessionsRequest(namespace=namespace)).sessions
    assert [session.session_id for session in listed] == ["b", "a"]


def test_sessions_are_cleared_and_deleted(conversation: Conversation) -> None:
    conversation.add_turns(1)
    assert (conversation.clear(), conversation.add("next").sequence) == (2, 3)
    conversation.client.sessions.DeleteSession(DeleteSessionRequest(**conversation.scope_ids))
    assert conversation.count().last_sequence == 0


def test_a_session_has_watermarks_and_its_deletion_a_receipt(conversation: Conversation) -> None:
    conversation.add_turns(2)
    conversation.prune(1)
    request = GetSessionRequest(**conversation.scope_ids)
    tasks = ("semantic.facts", "summaries", "procedural")
    until(lambda: all(conversation.client.sessions.GetSession(request).session.watermarks[task] == 4 for task in tasks))
    for dry_run in (True, False):
        answer = conversation.client.sessions.DeleteSession(
            DeleteSessionRequest(**conversation.scope_ids, dry_run=dry_run)
        )
        assert (answer.receipt.messages, answer.receipt.sessions, answer.receipt.dry_run) == (4, 1, dry_run)


def test_no_file_is_written_and_no_message_survives_a_restart(
    volatile: SidecarProcess, conversation: Conversation
) -> None:
    conversation.add("a secret that is kept in RAM")
    assert not volatile.data_dir.exists() or not any(path.is_file() for path in volatile.data_dir.rglob("*"))
    assert volatile.stop() == 0
    volatile.start()
    with volatile.client() as restarted:
        assert Conversation(restarted, conversation.session_id).ids() == []
