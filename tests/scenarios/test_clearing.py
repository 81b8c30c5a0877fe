"""Clear and DeleteSession: what is erased is gone from every answer and from every file."""

from functools import partial
from pathlib import Path
from uuid import uuid4

import grpc
import pytest

from memsidecar.v1 import session_pb2
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from memsidecar.v1.session_pb2 import DeleteSessionRequest, ErasureReceipt
from tests.scenarios.knowledge_client import KnowledgeClient, fact
from tests.scenarios.library import Library
from tests.scenarios.talk import Talk, tagged
from tests.support.process import Client, SidecarProcess, refusal
from tests.support.waiting import until


def delete(talk: Talk, dry_run: bool = False) -> ErasureReceipt:
    answer: session_pb2.DeleteSessionResponse = talk.client.sessions.DeleteSession(
        DeleteSessionRequest(**talk.names, dry_run=dry_run)
    )
    return answer.receipt


def files_with(data_dir: Path, text: str) -> list[str]:
    """The files of the data directory in which these bytes stand."""
    return [path.name for path in data_dir.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def secretive(talk: Talk, secret: str) -> None:
    """The secret in every place where a message keeps text: shown, pruned, shortened, annotated, said twice."""
    talk.call("c", id="call", reasoning=f"thinking of {secret}")
    talk.answer("c", "\n".join(f"line {at} {secret}" for at in range(300)), id="result")
    talk.say(f"content {secret}", id=f"id-{secret}", name=f"name-{secret}", metadata=tagged({"tag": secret}))
    talk.annotate(f"id-{secret}", {"tag": "changed", "later": secret})
    talk.batch(*(Message(role=ROLE_USER, content=f"{at} {secret} " * 20) for at in range(100)))
    talk.prune(talk.count().tokens - 500, overflow=True)
    talk.prune(100)


def test_a_cleared_session_reads_as_empty(talk: Talk) -> None:
    talk.turns(3)
    talk.prune(1)
    assert talk.clear() == 6
    assert talk.ids(include_pruned=True) == []
    assert talk.find("words") == []
    stats = talk.count()
    assert (stats.message_count, stats.pruned_count, stats.tokens) == (0, 0, 0)


def test_sequences_go_on_after_a_clear(talk: Talk) -> None:
    talk.turns(2)
    talk.clear()
    assert talk.count().last_sequence == 4
    assert talk.say("again", expected_sequence=4).sequence == 5


def test_ids_are_free_again_after_a_clear(talk: Talk) -> None:
    talk.say("first body", id="m")
    talk.clear()
    added = talk.say("second body", id="m")
    assert (added.duplicate, added.sequence) == (False, 2)
    assert talk.contents() == ["second body"]


def test_an_answer_to_a_cleared_call_stands_alone(talk: Talk) -> None:
    talk.call("c", id="call")
    talk.clear()
    talk.answer("c", "nobody asked", id="late")
    assert talk.ids(include_pruned=True) == ["late"]


def test_clearing_an_unknown_session_removes_nothing_and_makes_none(talk: Talk) -> None:
    assert talk.clear() == 0
    assert refusal(lambda: delete(talk)).reason == "NOT_FOUND"


def test_clearing_twice_removes_nothing_more(talk: Talk) -> None:
    talk.turns(1)
    assert (talk.clear(), talk.clear()) == (2, 0)


def test_a_cleared_session_stays_its_users(talk: Talk) -> None:
    mine = Talk(talk.client, talk.session_id, user_id="alice")
    mine.say("hello")
    mine.clear()
    theirs = Talk(talk.client, talk.session_id, user_id="bob")
    assert refusal(lambda: theirs.say("hello")).reason == "SESSION_OWNER_MISMATCH"


def test_a_clear_leaves_the_text_in_no_file(sidecar: SidecarProcess, talk: Talk) -> None:
    secret = f"secret{uuid4().hex}"
    secretive(talk, secret)
    assert files_with(sidecar.data_dir, secret)
    talk.clear()
    assert files_with(sidecar.data_dir, secret) == []


def test_a_deleted_session_leaves_its_text_and_its_name_in_no_file(sidecar: SidecarProcess, talk: Talk) -> None:
    secret = f"secret{uuid4().hex}"
    named = Talk(talk.client, f"session-{secret}", user_id=f"user-{secret}")
    secretive(named, secret)
    assert files_with(sidecar.data_dir, secret)
    delete(named)
    assert files_with(sidecar.data_dir, secret) == []


def test_a_dry_run_of_a_deletion_tells_what_would_go_and_changes_nothing(talk: Talk) -> None:
    talk.turns(3)
    talk.prune(1)
    before = talk.messages(include_pruned=True)
    assert delete(talk, dry_run=True) == ErasureReceipt(messages=6, index_rows=6, sessions=1, dry_run=True)
    assert talk.messages(include_pruned=True) == before
    assert delete(talk) == ErasureReceipt(messages=6, index_rows=6, sessions=1)


def test_a_receipt_tells_how_much_of_each_layer_goes_and_not_what_stays(client: Client, namespace: str) -> None:
    here = KnowledgeClient(client, namespace, "ann", "s")
    here.talk.turns(3)
    here.talk.prune(1, summarize=True)
    here.talk.call("c", id="call")
    here.talk.answer("c", "a line of a long result\n" * 200, id="result")
    here.offload("result")
    here.put("a", "what a tool found")
    here.tell(*(fact(city, source_message_ids=["q1"]) for city in ("Oslo", "Rome")), fact("Ann", key="name"))
    documents = Library(client, namespace).of("ann", "s")
    chunks = sum(documents.put(name, "A sentence of a document. " * 300).document.chunk_count for name in "de")
    documents.of("ann").put("of ann", "This one stays.")
    expected = ErasureReceipt(
        messages=8, index_rows=8 + chunks, facts=2, summaries=1, artifacts=2, documents=2, sessions=1
    )
    foretold = delete(here.talk, dry_run=True)
    assert chunks > 2 and foretold.dry_run
    foretold.dry_run = False
    assert delete(here.talk) == foretold == expected
    assert (here.of("ann").values(), documents.of("ann").ids()) == (["Ann"], ["of ann"])


def test_what_was_learned_of_a_session_is_in_its_receipt(client: Client, namespace: str) -> None:
    ann = KnowledgeClient(client, namespace, "ann", "s")
    ann.talk.say("I live in Lisbon and I work at Acme.")
    until(lambda: len(ann.values()) >= 2)
    known = len(ann.facts(include_history=True))
    assert delete(ann.talk, dry_run=True).facts == known
    assert delete(ann.talk).facts == known
    assert ann.of("ann").facts(include_history=True) == []


@pytest.mark.parametrize("user_id", ["", "ann"])
def test_a_session_that_nobody_spoke_in_is_deleted_as_its_dry_run_told(
    client: Client, namespace: str, user_id: str
) -> None:
    papers, tools = (
        KnowledgeClient(client, namespace, user_id, "papers"),
        KnowledgeClient(client, namespace, user_id, "tools"),
    )
    Library(client, namespace, user_id, "papers").put("d", "short text")
    tools.put("a", "what a tool found")
    document = ErasureReceipt(documents=1, index_rows=1, sessions=1)
    for here, expected in ((papers, document), (tools, ErasureReceipt(artifacts=1, sessions=1))):
        foretold = delete(here.talk, dry_run=True)
        foretold.dry_run = False
        assert delete(here.talk) == foretold == expected
        for dry_run in (True, False):
            assert refusal(partial(delete, here.talk, dry_run)).reason == "NOT_FOUND"


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_stranger_is_not_told_what_would_go(talk: Talk, dry_run: bool) -> None:
    Talk(talk.client, talk.session_id, user_id="alice").say("hello")
    theirs = Talk(talk.client, talk.session_id, user_id="bob")
    assert refusal(lambda: delete(theirs, dry_run)).reason == "SESSION_OWNER_MISMATCH"


def test_a_deleted_session_is_unknown_and_its_name_begins_anew(talk: Talk) -> None:
    mine = Talk(talk.client, talk.session_id, user_id="alice")
    mine.turns(2)
    delete(mine)
    assert not talk.client.sessions.GetSession(session_pb2.GetSessionRequest(**talk.names)).HasField("session")
    assert (talk.ids(include_pruned=True), talk.count().last_sequence) == ([], 0)
    theirs = Talk(talk.client, talk.session_id, user_id="bob")
    assert theirs.say("hello", id="q1", expected_sequence=0).sequence == 1


def test_a_deleted_policy_does_not_come_back_with_the_name(talk: Talk) -> None:
    talk.say("hello")
    policy = session_pb2.SessionPolicy(auto_prune_tokens=50)
    talk.client.sessions.SetPolicy(session_pb2.SetPolicyRequest(**talk.names, policy=policy))
    delete(talk)
    talk.turns(10)
    assert talk.count().message_count == 20


@pytest.mark.parametrize("dry_run", [False, True])
def test_an_unknown_session_cannot_be_deleted(talk: Talk, dry_run: bool) -> None:
    refused = refusal(lambda: delete(talk, dry_run))
    assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
