"""Retention over the wire: policies are shown, validated and obeyed by a running sidecar."""

from collections.abc import Iterator
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from memsidecar.v1.session_pb2 import (
    GetSessionRequest,
    ListSessionsRequest,
    Retention,
    RetentionLimits,
    Session,
    SessionPolicy,
)
from tests.scenarios.conversation import Conversation, tagged
from tests.scenarios.knowledge_client import KnowledgeClient, fact
from tests.scenarios.test_erasure import files_with
from tests.scenarios.test_policies import set_policy
from tests.support.process import Client, SidecarProcess, refusal
from tests.support.waiting import until

FLAGS = ("--retention-interval-seconds", "0.1", "--legal-hold-tag", "hold", "--retention-facts-max-count", "50")
BY_SETTINGS = Retention(facts=RetentionLimits(max_count=50))
LAST_TWO = Retention(messages=RetentionLimits(max_count=2))


@pytest.fixture(scope="module")
def retaining(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    with SidecarProcess(tmp_path_factory.mktemp("retention") / "data", *FLAGS) as running:
        yield running


@pytest.fixture(scope="module")
def client(retaining: SidecarProcess) -> Iterator[Client]:
    with retaining.client() as connected:
        yield connected


def session(here: Conversation) -> Session:
    found: Session = here.client.sessions.GetSession(GetSessionRequest(**here.scope_ids)).session
    return found


def retain(here: Conversation, retention: Retention | None, **names: Any) -> SessionPolicy:
    return set_policy(here.client, SessionPolicy(retention=retention), **(names or here.scope_ids))


def test_the_retention_in_force_is_shown(client: Client, namespace: str) -> None:
    here = Conversation(client, "s", namespace=namespace)
    here.add("a")
    assert session(here).retention == BY_SETTINGS and not session(here).HasField("policy")
    default = Retention(messages=RetentionLimits(max_age_seconds=86_400), documents=RetentionLimits(max_count=7))
    assert retain(here, default, namespace=namespace).retention == default
    assert session(here).retention == session(here).policy.retention == default
    retain(here, Retention())
    assert not session(here).HasField("retention") and session(here).policy.HasField("retention")
    (listed,) = client.sessions.ListSessions(ListSessionsRequest(namespace=namespace)).sessions
    assert listed == session(here)
    retain(here, None)
    assert session(here).retention == default and not session(here).policy.HasField("retention")


@pytest.mark.parametrize("layer", ["messages", "facts", "artifacts", "documents"])
def test_a_wrong_limit_is_refused_by_name(client: Client, namespace: str, layer: str) -> None:
    here = Conversation(client, "s", namespace=namespace)
    for field, value in (("max_age_seconds", -1), ("max_age_seconds", 10**12), ("max_count", -1)):
        wrong = Retention(**{layer: RetentionLimits(**{field: value})})
        refused = refusal(partial(retain, here, wrong))
        assert (refused.reason, refused.field) == ("INVALID_FIELD", f"policy.retention.{layer}.{field}")


def test_what_exceeds_a_limit_is_erased_from_every_file(
    retaining: SidecarProcess, client: Client, namespace: str
) -> None:
    secret = f"secret{uuid4().hex}"
    here = KnowledgeClient(client, namespace, "ann", "s")
    here.conversation.add(f"the first {secret}", id="m1")
    here.put_facts(fact(secret, source_message_ids=["m1"]))
    here.conversation.add_tool_call("c", id="call")
    here.conversation.add_tool_result("c", "done", id="result")
    here.conversation.add("held", id="held", metadata=tagged({"hold": True}))
    here.conversation.add_turns(1)
    retain(here.conversation, LAST_TWO)
    until(lambda: here.conversation.ids() == ["held", "q1", "a1"])
    until(lambda: not files_with(retaining.data_dir, secret))
    assert here.values(include_history=True) == []
    assert session(here.conversation).stats.last_sequence == 6


def test_only_old_messages_go(client: Client, namespace: str) -> None:
    here = Conversation(client, "s", namespace=namespace)
    here.add("a")
    retain(here, Retention(messages=RetentionLimits(max_age_seconds=1)))
    until(lambda: here.ids() == [])
    retain(here, Retention(messages=RetentionLimits(max_age_seconds=86_400)))
    here.add("b", id="b")
    erased_before = session(here).stats.last_sequence
    retain(here, LAST_TWO, session_id="other", namespace=namespace)
    other = Conversation(client, "other", namespace=namespace)
    for number in range(3):
        other.add("c", id=f"c{number}")
    until(lambda: other.ids() == ["c1", "c2"])
    assert here.ids() == ["b"] and erased_before == 2


def test_a_run_that_erases_is_logged_and_others_are_not(
    retaining: SidecarProcess, client: Client, namespace: str
) -> None:
    here = Conversation(client, "s", namespace=namespace)
    retain(here, LAST_TWO)
    for number in range(9):
        here.add("c", id=f"c{number}")
    until(lambda: here.ids() == ["c7", "c8"])
    until(lambda: "retention erased" in retaining.log())
    assert "erased 0 messages, 0 facts, 0 summaries, 0 artifacts and 0 documents" not in retaining.log()
