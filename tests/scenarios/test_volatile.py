"""`--journal volatile`: the same memory without a disk, for tests, until the process ends."""

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
from tests.scenarios.talk import Talk, tagged
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


def test_messages_are_added_read_found_and_counted(talk: Talk) -> None:
    talk.system("be kind", id="s", metadata=tagged({"important": True}))
    talk.turns(3)
    assert talk.ids() == ["s", "q1", "a1", "q2", "a2", "q3", "a3"]
    assert talk.find("Q2 AND") == ["q2 and some words to weigh something"]
    assert talk.count().tokens == sum(message.tokens for message in talk.messages())
    assert talk.count("gpt-4").message_count == 7


def test_every_message_of_a_role_is_read_where_no_limit_was_given(talk: Talk) -> None:
    talk.turns(3)
    answer = talk.client.memory.GetByRole(pb.GetByRoleRequest(**talk.names, role=ROLE_USER))
    assert [message.id for message in answer.messages] == ["q1", "q2", "q3"]
    assert [message.id for message in talk.client.recent(talk.session_id, 100)] == talk.ids()


def test_retries_conflicts_and_expectations_are_kept_apart(talk: Talk) -> None:
    talk.say("hello", id="m", expected_sequence=0)
    assert talk.say("hello", id="m", expected_sequence=0).duplicate
    assert refusal(lambda: talk.say("another", id="m")).reason == "ID_CONFLICT"
    assert refusal(lambda: talk.say("next", expected_sequence=0)).metadata == {"last_sequence": "1"}


def test_sessions_are_pruned_and_late_answers_bring_their_call_back(talk: Talk) -> None:
    talk.call("c", id="call")
    talk.turns(2)
    assert talk.prune(1).removed_count == 3
    talk.answer("c", "at last", id="late")
    assert talk.ids() == ["call", "q2", "a2", "late"]


def test_large_results_are_shortened_and_their_original_found(talk: Talk) -> None:
    talk.call("c", id="call")
    talk.answer("c", "\n".join(f"line {at} of many" for at in range(300)), id="result")
    talk.turns(1)
    answer = talk.prune(talk.count().tokens - 500, overflow=True)
    assert list(answer.shortened_ids) == ["result"]
    assert talk.messages()[1].synthetic
    assert not talk.search("line 150 of").hits[0].message.synthetic


def test_policies_annotations_and_reports_are_kept(talk: Talk) -> None:
    policy = SessionPolicy(auto_prune_tokens=100)
    talk.client.sessions.SetPolicy(SetPolicyRequest(**talk.names, policy=policy))
    talk.turns(20)
    assert talk.count().tokens <= 100
    assert talk.annotate("q1", {"kept": True}).metadata == tagged({"kept": True})
    usage = pb.ReportUsageRequest(model="claude-v", estimated_tokens=100, actual_tokens=150)
    assert talk.client.memory.ReportUsage(usage).factor == pytest.approx(1.5)


def test_users_are_apart_and_sessions_listed(client: Client, namespace: str) -> None:
    Talk(client, "a", namespace, "alice").say("tea")
    Talk(client, "b", namespace, "bob").say("tea")
    assert refusal(Talk(client, "a", namespace, "bob").messages).reason == "SESSION_OWNER_MISMATCH"
    assert len(Talk(client, "a", namespace, "alice").find("tea", scope=SCOPE_USER)) == 1
    listed = client.sessions.ListSessions(ListSessionsRequest(namespace=namespace)).sessions
    assert [session.session_id for session in listed] == ["b", "a"]


def test_sessions_are_cleared_and_deleted(talk: Talk) -> None:
    talk.turns(1)
    assert (talk.clear(), talk.say("next").sequence) == (2, 3)
    talk.client.sessions.DeleteSession(DeleteSessionRequest(**talk.names))
    assert talk.count().last_sequence == 0


def test_a_session_tells_how_far_the_background_is_and_its_receipt_what_went(talk: Talk) -> None:
    talk.turns(2)
    talk.prune(1)
    request = GetSessionRequest(**talk.names)
    tasks = ("semantic.facts", "summaries", "procedural")
    until(lambda: all(talk.client.sessions.GetSession(request).session.watermarks[one] == 4 for one in tasks))
    for dry_run in (True, False):
        answer = talk.client.sessions.DeleteSession(DeleteSessionRequest(**talk.names, dry_run=dry_run))
        assert (answer.receipt.messages, answer.receipt.sessions, answer.receipt.dry_run) == (4, 1, dry_run)


def test_nothing_is_written_and_everything_forgotten_at_exit(volatile: SidecarProcess, talk: Talk) -> None:
    talk.say("a secret that is kept in RAM")
    assert not volatile.data_dir.exists() or not any(path.is_file() for path in volatile.data_dir.rglob("*"))
    assert volatile.stop() == 0
    volatile.start()
    with volatile.client() as anew:
        assert Talk(anew, talk.session_id).ids() == []
