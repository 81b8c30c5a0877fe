"""ForgetMessage: nothing of the message is in any response or file, and the rest of the session stays."""

from functools import partial
from uuid import uuid4

import pytest

from memsidecar.v1.knowledge_pb2 import GetPatternsRequest
from memsidecar.v1.memory_pb2 import GetAllRequest
from memsidecar.v1.session_pb2 import ErasureReceipt, ForgetMessageRequest
from tests.scenarios.conversation import Conversation, tagged
from tests.scenarios.knowledge_client import KnowledgeClient, fact
from tests.scenarios.test_erasure import files_with
from tests.support.process import Client, SidecarProcess, refusal
from tests.support.waiting import until


def forget(here: Conversation, message_id: str, dry_run: bool = False) -> ErasureReceipt:
    request = ForgetMessageRequest(**here.scope_ids, message_id=message_id, dry_run=dry_run)
    receipt: ErasureReceipt = here.client.sessions.ForgetMessage(request).receipt
    return receipt


def test_a_forgotten_message_is_in_no_response(conversation: Conversation) -> None:
    conversation.add_turns(2)
    before = conversation.count()
    forgotten = conversation.messages()[1]
    assert forget(conversation, "a1") == ErasureReceipt(messages=1, index_rows=1)
    assert conversation.ids(include_pruned=True) == ["q1", "q2", "a2"]
    assert [message.sequence for message in conversation.messages()] == [1, 3, 4]
    assert forgotten.id not in conversation.find(forgotten.content[:9])
    after = conversation.count()
    assert after.message_count == 3 and after.tokens < before.tokens
    assert after.tokens == after.tokens_by_role.user + after.tokens_by_role.assistant
    assert conversation.add("again", id="a1").sequence == 5


def test_a_page_token_continues_after_a_forgotten_message(conversation: Conversation) -> None:
    conversation.add_turns(2)
    first = conversation.client.memory.GetAll(GetAllRequest(**conversation.scope_ids, page_size=2))
    forget(conversation, first.messages[-1].id)
    token = first.next_page_token
    rest = conversation.client.memory.GetAll(GetAllRequest(**conversation.scope_ids, page_size=2, page_token=token))
    assert [message.id for message in rest.messages] == ["q2", "a2"]


def test_an_exchange_leaves_the_window_with_one_of_its_messages(conversation: Conversation) -> None:
    conversation.add("go on", id="u")
    conversation.add_tool_call("x", "y", id="call")
    conversation.add_tool_result("x", "found", id="result")
    forget(conversation, "result")
    assert conversation.ids() == ["u"]
    assert conversation.ids(include_pruned=True) == ["u", "call"]
    conversation.add_tool_result("y", "late", id="late")
    assert conversation.ids() == ["u", "late"]


@pytest.mark.parametrize("dry_run", [True, False])
def test_an_unknown_message_session_or_owner_is_refused(client: Client, namespace: str, dry_run: bool) -> None:
    here = Conversation(client, "s", namespace=namespace, user_id="ann")
    here.add("hello", id="m")
    theirs = Conversation(client, "s", namespace=namespace, user_id="bob")
    elsewhere = Conversation(client, "t", namespace=namespace)
    assert refusal(lambda: forget(here, "n", dry_run)).reason == "NOT_FOUND"
    assert refusal(lambda: forget(elsewhere, "m", dry_run)).reason == "NOT_FOUND"
    assert refusal(lambda: forget(theirs, "m", dry_run)).reason == "SESSION_OWNER_MISMATCH"
    refused = refusal(lambda: forget(here, "", dry_run))
    assert (refused.reason, refused.field) == ("INVALID_FIELD", "message_id")


def fill(here: KnowledgeClient, secret: str) -> None:
    """Store the secret in every field and version of the messages `call` and `result`, and in what rests on them."""
    spoken = here.conversation
    spoken.add_turns(1)
    spoken.add_tool_call("c", id="call", reasoning=f"thinking of {secret}", name=f"name-{secret}")
    text = "\n".join(f"Line {at} of the result names {secret}." for at in range(300))
    spoken.add_tool_result("c", text, id="result", name=f"tool-{secret}", metadata=tagged({"tag": secret}))
    spoken.annotate("result", {"later": secret})
    here.offload("result", 50)
    here.put_facts(
        fact(f"{secret} of old", source_message_ids=["result"]), fact(f"{secret}!", source_message_ids=["result"])
    )
    for number in range(5):
        spoken.add(f"Turn {number} is about the weather in Oslo.", id=f"u{number}")
        spoken.assistant("It rains.", id=f"v{number}")
    spoken.prune(40, summarize=True)


def test_a_forgotten_message_leaves_no_text_in_any_file(
    sidecar: SidecarProcess, client: Client, namespace: str
) -> None:
    secret = f"secret{uuid4().hex}"
    here = KnowledgeClient(client, namespace, "ann", "s")
    fill(here, secret)
    assert files_with(sidecar.data_dir, secret)
    counted = forget(here.conversation, "result", dry_run=True)
    assert (counted.messages, counted.facts, counted.artifacts, counted.summaries) == (1, 2, 1, 1)
    counted.dry_run = False
    assert forget(here.conversation, "result") == counted
    forget(here.conversation, "call")
    found = partial(files_with, sidecar.data_dir, secret)
    until(lambda: not found(), "no file has the secret", progress=found)
    assert here.ids() == [] and here.values(include_history=True) == []


def test_the_summary_is_made_again_without_the_message(client: Client, namespace: str) -> None:
    here = Conversation(client, "s", namespace=namespace)
    here.add("We decided to move the office to Lisbon in May 2024.", id="secret")
    here.add("We decided to hire two engineers in June 2024.", id="other")
    here.add_turns(2)
    here.prune(30, summarize=True)
    before = here.summary()
    assert before is not None and "Lisbon" in before.text
    forget(here, "secret")
    until(lambda: here.summary() is not None)
    after = here.summary()
    assert after is not None and "Lisbon" not in after.text and "engineers" in after.text
    assert after.last_sequence == before.last_sequence


def test_facts_that_rest_on_other_messages_stay(client: Client, namespace: str) -> None:
    ann = KnowledgeClient(client, namespace, "ann", "s")
    ann.conversation.add("I live in Lisbon.", id="m1")
    until(ann.values)
    again = ann.of("ann", "t")
    again.conversation.add("I live in Lisbon.", id="n1")
    seen = ann.facts()[0].last_updated
    until(lambda: ann.facts()[0].last_updated != seen)
    assert forget(ann.conversation, "m1").facts == 0
    assert ann.values() == ["Lisbon"]
    assert forget(again.conversation, "n1").facts == 1
    assert ann.values(include_history=True) == []


def test_a_fact_of_an_erased_message_does_not_restore_the_one_before(client: Client, namespace: str) -> None:
    ann = KnowledgeClient(client, namespace, "ann", "s")
    ann.conversation.add("I live in Lisbon.", id="m1")
    until(lambda: ann.values() == ["Lisbon"])
    ann.conversation.add("I live in Oslo.", id="m2")
    until(lambda: ann.values() == ["Oslo"])
    assert forget(ann.conversation, "m2").facts == 1
    assert ann.values() == [] and ann.values(include_history=True) == ["Lisbon"]


def test_patterns_are_counted_again(client: Client, namespace: str) -> None:
    ann = Conversation(client, "s", namespace=namespace, user_id="ann")
    for number in range(3):
        ann.add(f"What is the capital of France, number {number}?", id=f"m{number}")
    request = GetPatternsRequest(namespace=namespace, user_id="ann", refresh=True)
    assert client.knowledge.GetPatterns(request).mean_turns == 3
    forget(ann, "m1")
    assert client.knowledge.GetPatterns(request).mean_turns == 2
