"""ForgetUser: nothing of the user is in any response or file, and everything of others stays."""

from uuid import uuid4

import pytest

from memsidecar.v1.session_pb2 import ErasureReceipt, ForgetUserRequest, ListSessionsRequest
from tests.scenarios.conversation import Conversation
from tests.scenarios.document_client import DocumentClient
from tests.scenarios.knowledge_client import KnowledgeClient, fact
from tests.scenarios.test_erasure import add_secret, files_with
from tests.support.process import Client, SidecarProcess, refusal
from tests.support.waiting import until


def forget(client: Client, namespace: str, user_id: str, dry_run: bool = False) -> ErasureReceipt:
    request = ForgetUserRequest(namespace=namespace, user_id=user_id, dry_run=dry_run)
    receipt: ErasureReceipt = client.sessions.ForgetUser(request).receipt
    return receipt


def fill(client: Client, namespace: str, user_id: str, secret: str) -> None:
    """Store the secret in two sessions, in facts, summaries, artifacts and documents of the user."""
    for name in ("one", "two"):
        here = KnowledgeClient(client, namespace, user_id, f"{user_id}-{name}-{secret}")
        here.conversation.add(f"We decided to use {secret} for the release on Friday.")
        here.conversation.add_turns(2)
        here.conversation.prune(1, summarize=True)
        add_secret(here.conversation, secret)
        here.put(f"a-{secret}", f"what a tool found: {secret}")
        DocumentClient(client, namespace).of(user_id, here.session_id).put(f"d-{secret}", f"A text of {secret}. " * 50)
    mine = KnowledgeClient(client, namespace, user_id)
    mine.put_facts(fact(secret), fact(f"{secret} of old", key="name"), fact(f"{secret} of today", key="name"))
    DocumentClient(client, namespace).of(user_id).put("own", f"A text of {secret}. " * 50, title=secret)


def test_a_forgotten_user_leaves_no_text_and_no_name_in_any_file(
    sidecar: SidecarProcess, client: Client, namespace: str
) -> None:
    secret, user_id = f"secret{uuid4().hex}", f"user-{uuid4().hex}"
    fill(client, namespace, user_id, secret)
    assert files_with(sidecar.data_dir, secret) and files_with(sidecar.data_dir, user_id)
    forget(client, namespace, user_id)

    def found() -> list[str]:
        return files_with(sidecar.data_dir, secret) + files_with(sidecar.data_dir, user_id)

    until(lambda: not found(), "no file has the secret or the user", progress=found)


def test_the_receipt_counts_what_the_dry_run_counted(client: Client, namespace: str) -> None:
    fill(client, namespace, "ann", "words")
    counted = forget(client, namespace, "ann", dry_run=True)
    assert counted.dry_run and counted.messages == 2 * 108 and counted.sessions == 2 and counted.documents == 3
    assert counted.facts >= 3 and counted.summaries == 2 and counted.artifacts >= 2
    assert counted.index_rows > counted.messages
    counted.dry_run = False
    assert forget(client, namespace, "ann") == counted
    assert forget(client, namespace, "ann") == ErasureReceipt()


def test_others_keep_everything(client: Client, namespace: str) -> None:
    fill(client, namespace, "ann", "words")
    fill(client, namespace, "bob", "words")
    elsewhere = Conversation(client, "s", user_id="ann")
    elsewhere.add("of another namespace")
    before = forget(client, namespace, "bob", dry_run=True)
    forget(client, namespace, "ann")
    assert forget(client, namespace, "bob", dry_run=True) == before
    assert elsewhere.contents() == ["of another namespace"]
    listed = client.sessions.ListSessions(ListSessionsRequest(namespace=namespace)).sessions
    assert {session.user_id for session in listed} == {"bob"}


def test_a_forgotten_user_can_come_back(client: Client, namespace: str) -> None:
    ann = KnowledgeClient(client, namespace, "ann", "s")
    ann.conversation.add("I live in Lisbon.", id="m")
    until(ann.values)
    forget(client, namespace, "ann")
    assert ann.of("ann").facts(include_history=True) == []
    assert ann.conversation.add("I live in Oslo.", id="m").sequence == 1
    until(lambda: ann.values() == ["Oslo"])


def test_a_user_is_required(client: Client, namespace: str) -> None:
    refused = refusal(lambda: forget(client, namespace, ""))
    assert (refused.reason, refused.field) == ("INVALID_FIELD", "user_id")


@pytest.mark.parametrize("dry_run", [True, False])
def test_an_unknown_user_has_nothing_to_forget(client: Client, namespace: str, dry_run: bool) -> None:
    assert forget(client, namespace, "nobody", dry_run) == ErasureReceipt(dry_run=dry_run)
