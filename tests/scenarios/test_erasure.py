"""Clear and DeleteSession: erased text is in no response and in no file."""

from functools import partial
from pathlib import Path
from uuid import uuid4

import grpc
import pytest

from memsidecar.v1 import session_pb2
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from memsidecar.v1.session_pb2 import DeleteSessionRequest, ErasureReceipt
from tests.scenarios.conversation import Conversation, tagged
from tests.scenarios.document_client import DocumentClient
from tests.scenarios.knowledge_client import KnowledgeClient, fact
from tests.support.process import Client, SidecarProcess, refusal
from tests.support.waiting import until


def delete(conversation: Conversation, dry_run: bool = False) -> ErasureReceipt:
    answer: session_pb2.DeleteSessionResponse = conversation.client.sessions.DeleteSession(
        DeleteSessionRequest(**conversation.scope_ids, dry_run=dry_run)
    )
    return answer.receipt


def files_with(data_dir: Path, text: str) -> list[str]:
    """Return the files of the data directory that contain the text."""
    return [path.name for path in data_dir.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def add_secret(conversation: Conversation, secret: str) -> None:
    """Add the secret to each field and version of messages: displayed, pruned, shortened, annotated."""
    conversation.add_tool_call("c", id="call", reasoning=f"thinking of {secret}")
    conversation.add_tool_result("c", "\n".join(f"line {at} {secret}" for at in range(300)), id="result")
    conversation.add(f"content {secret}", id=f"id-{secret}", name=f"name-{secret}", metadata=tagged({"tag": secret}))
    conversation.annotate(f"id-{secret}", {"tag": "changed", "later": secret})
    conversation.add_batch(*(Message(role=ROLE_USER, content=f"{at} {secret} " * 20) for at in range(100)))
    conversation.prune(conversation.count().tokens - 500, overflow=True)
    conversation.prune(100)


def test_a_cleared_session_reads_as_empty(conversation: Conversation) -> None:
    conversation.add_turns(3)
    conversation.prune(1)
    assert conversation.clear() == 6
    assert conversation.ids(include_pruned=True) == []
    assert conversation.find("words") == []
    stats = conversation.count()
    assert (stats.message_count, stats.pruned_count, stats.tokens) == (0, 0, 0)


def test_sequences_continue_after_a_clear(conversation: Conversation) -> None:
    conversation.add_turns(2)
    conversation.clear()
    assert conversation.count().last_sequence == 4
    assert conversation.add("again", expected_sequence=4).sequence == 5


def test_ids_are_free_again_after_a_clear(conversation: Conversation) -> None:
    conversation.add("first body", id="m")
    conversation.clear()
    added = conversation.add("second body", id="m")
    assert (added.duplicate, added.sequence) == (False, 2)
    assert conversation.contents() == ["second body"]


def test_a_result_of_a_cleared_call_has_no_exchange(conversation: Conversation) -> None:
    conversation.add_tool_call("c", id="call")
    conversation.clear()
    conversation.add_tool_result("c", "without a call", id="late")
    assert conversation.ids(include_pruned=True) == ["late"]


def test_clearing_an_unknown_session_removes_nothing_and_creates_none(conversation: Conversation) -> None:
    assert conversation.clear() == 0
    assert refusal(lambda: delete(conversation)).reason == "NOT_FOUND"


def test_clearing_twice_removes_nothing_more(conversation: Conversation) -> None:
    conversation.add_turns(1)
    assert (conversation.clear(), conversation.clear()) == (2, 0)


def test_a_cleared_session_keeps_its_user(conversation: Conversation) -> None:
    mine = Conversation(conversation.client, conversation.session_id, user_id="alice")
    mine.add("hello")
    mine.clear()
    theirs = Conversation(conversation.client, conversation.session_id, user_id="bob")
    assert refusal(lambda: theirs.add("hello")).reason == "SESSION_OWNER_MISMATCH"


def test_a_clear_leaves_the_text_in_no_file(sidecar: SidecarProcess, conversation: Conversation) -> None:
    secret = f"secret{uuid4().hex}"
    add_secret(conversation, secret)
    assert files_with(sidecar.data_dir, secret)
    conversation.clear()
    assert files_with(sidecar.data_dir, secret) == []


def test_a_deleted_session_leaves_its_text_and_its_name_in_no_file(
    sidecar: SidecarProcess, conversation: Conversation
) -> None:
    secret = f"secret{uuid4().hex}"
    named = Conversation(conversation.client, f"session-{secret}", user_id=f"user-{secret}")
    add_secret(named, secret)
    assert files_with(sidecar.data_dir, secret)
    delete(named)
    assert files_with(sidecar.data_dir, secret) == []


def test_a_dry_run_of_a_deletion_counts_and_changes_nothing(conversation: Conversation) -> None:
    conversation.add_turns(3)
    conversation.prune(1)
    before = conversation.messages(include_pruned=True)
    assert delete(conversation, dry_run=True) == ErasureReceipt(messages=6, index_rows=6, sessions=1, dry_run=True)
    assert conversation.messages(include_pruned=True) == before
    assert delete(conversation) == ErasureReceipt(messages=6, index_rows=6, sessions=1)


def test_a_receipt_counts_the_deleted_rows_of_each_layer(client: Client, namespace: str) -> None:
    here = KnowledgeClient(client, namespace, "ann", "s")
    here.conversation.add_turns(3)
    here.conversation.prune(1, summarize=True)
    here.conversation.add_tool_call("c", id="call")
    here.conversation.add_tool_result("c", "a line of a long result\n" * 200, id="result")
    here.offload("result")
    here.put("a", "what a tool found")
    here.put_facts(*(fact(city, source_message_ids=["q1"]) for city in ("Oslo", "Rome")), fact("Ann", key="name"))
    documents = DocumentClient(client, namespace).of("ann", "s")
    chunks = sum(documents.put(name, "A sentence of a document. " * 300).document.chunk_count for name in "de")
    documents.of("ann").put("of ann", "This one stays.")
    expected = ErasureReceipt(
        messages=8, index_rows=8 + chunks, facts=2, summaries=1, artifacts=2, documents=2, sessions=1
    )
    counted = delete(here.conversation, dry_run=True)
    assert chunks > 2 and counted.dry_run
    counted.dry_run = False
    assert delete(here.conversation) == counted == expected
    assert (here.of("ann").values(), documents.of("ann").ids()) == (["Ann"], ["of ann"])


def test_the_receipt_counts_extracted_facts(client: Client, namespace: str) -> None:
    ann = KnowledgeClient(client, namespace, "ann", "s")
    ann.conversation.add("I live in Lisbon and I work at Acme.")
    until(lambda: len(ann.values()) >= 2)
    known = len(ann.facts(include_history=True))
    assert delete(ann.conversation, dry_run=True).facts == known
    assert delete(ann.conversation).facts == known
    assert ann.of("ann").facts(include_history=True) == []


@pytest.mark.parametrize("user_id", ["", "ann"])
def test_a_session_without_messages_is_deleted_as_its_dry_run_counted(
    client: Client, namespace: str, user_id: str
) -> None:
    papers, tools = (
        KnowledgeClient(client, namespace, user_id, "papers"),
        KnowledgeClient(client, namespace, user_id, "tools"),
    )
    DocumentClient(client, namespace, user_id, "papers").put("d", "short text")
    tools.put("a", "what a tool found")
    document = ErasureReceipt(documents=1, index_rows=1, sessions=1)
    for here, expected in ((papers, document), (tools, ErasureReceipt(artifacts=1, sessions=1))):
        counted = delete(here.conversation, dry_run=True)
        counted.dry_run = False
        assert delete(here.conversation) == counted == expected
        for dry_run in (True, False):
            assert refusal(partial(delete, here.conversation, dry_run)).reason == "NOT_FOUND"


@pytest.mark.parametrize("dry_run", [True, False])
def test_another_user_gets_no_counts(conversation: Conversation, dry_run: bool) -> None:
    Conversation(conversation.client, conversation.session_id, user_id="alice").add("hello")
    theirs = Conversation(conversation.client, conversation.session_id, user_id="bob")
    assert refusal(lambda: delete(theirs, dry_run)).reason == "SESSION_OWNER_MISMATCH"


def test_a_deleted_session_is_unknown_and_its_id_can_be_used_again(conversation: Conversation) -> None:
    mine = Conversation(conversation.client, conversation.session_id, user_id="alice")
    mine.add_turns(2)
    delete(mine)
    assert not conversation.client.sessions.GetSession(
        session_pb2.GetSessionRequest(**conversation.scope_ids)
    ).HasField("session")
    assert (conversation.ids(include_pruned=True), conversation.count().last_sequence) == ([], 0)
    theirs = Conversation(conversation.client, conversation.session_id, user_id="bob")
    assert theirs.add("hello", id="q1", expected_sequence=0).sequence == 1


def test_a_deleted_policy_does_not_come_back_with_the_name(conversation: Conversation) -> None:
    conversation.add("hello")
    policy = session_pb2.SessionPolicy(auto_prune_tokens=50)
    conversation.client.sessions.SetPolicy(session_pb2.SetPolicyRequest(**conversation.scope_ids, policy=policy))
    delete(conversation)
    conversation.add_turns(10)
    assert conversation.count().message_count == 20


@pytest.mark.parametrize("dry_run", [False, True])
def test_an_unknown_session_cannot_be_deleted(conversation: Conversation, dry_run: bool) -> None:
    refused = refusal(lambda: delete(conversation, dry_run))
    assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
