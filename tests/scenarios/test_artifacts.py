"""Artifacts: output of tools, and large results offloaded from the window."""

import time
from pathlib import Path
from uuid import uuid4

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from memsidecar.v1 import knowledge_pb2 as pb
from memsidecar.v1.knowledge_pb2 import Artifact
from tests.scenarios.conversation import tagged, timestamp
from tests.scenarios.knowledge_client import KnowledgeClient
from tests.scenarios.test_erasure import files_with
from tests.support.process import Client, SidecarProcess, refusal

NEEDLE = "the needle in the middle"
LATER = timestamp("2100-01-01T00:00:00Z")


def report(lines: int = 400) -> str:
    return "\n".join(f"line {number}: {NEEDLE if number == lines // 2 else 'hay'}" for number in range(lines))


@pytest.fixture
def here(client: Client, namespace: str) -> KnowledgeClient:
    return KnowledgeClient(client, namespace, "ann", "s1")


def with_result(here: KnowledgeClient, content: str = "", message_id: str = "big") -> KnowledgeClient:
    here.conversation.add("look it up", id=f"ask-{message_id}")
    here.conversation.add_tool_call(f"c-{message_id}", id=f"call-{message_id}")
    here.conversation.add_tool_result(f"c-{message_id}", content or report(), id=message_id, name="search")
    return here


def test_an_artifact_is_read_as_it_was_put(here: KnowledgeClient) -> None:
    given = Artifact(
        id="a",
        source="https://example.org",
        content="It rains.",
        create_time=timestamp("2024-05-01T12:00:00Z"),
        expire_time=LATER,
        metadata=tagged({"lang": "en"}),
    )
    stored = here.put_request(pb.PutArtifactRequest(**here.scope_ids, artifact=given))
    assert here.artifacts() == [stored] and stored.tokens == 3
    stored.ClearField("tokens")
    assert stored == given


def test_output_only_fields_of_a_request_are_ignored(here: KnowledgeClient) -> None:
    stored = here.put(content="It rains.", tokens=1_000, message_id="m")
    assert (stored.tokens, stored.message_id) == (3, "") and stored.id and stored.HasField("create_time")


def test_the_same_id_again_replaces_it(here: KnowledgeClient) -> None:
    here.put("a", "old")
    here.put("a", "new", source="tool")
    (stored,) = here.artifacts()
    assert (stored.content, stored.source) == ("new", "tool")


def test_an_artifact_belongs_to_its_session(here: KnowledgeClient) -> None:
    here.conversation.add("hello")
    here.put("a", "x")
    assert here.of("ann", "s2").ids() == [] and here.of("", "s1").ids() == ["a"]
    theirs = here.of("bob", "s1")
    for call in (lambda: theirs.put("b", "x"), theirs.ids, lambda: theirs.delete_artifact("a")):
        refused = refusal(call)
        assert (refused.code.name, refused.reason) == ("FAILED_PRECONDITION", "SESSION_OWNER_MISMATCH")


def test_an_expired_artifact_is_not_listed(here: KnowledgeClient) -> None:
    for name in ("a", "b"):
        here.put(name, "x", expire_time=LATER)
    assert here.ids() == ["b", "a"]
    expires_us = time.time_ns() // 1_000 + 700_000
    soon = Timestamp()
    soon.FromMicroseconds(expires_us)
    # It was created long ago, so it is accepted however late it is put.
    here.put("a", "y", create_time=timestamp("2024-05-01T12:00:00Z"), expire_time=soon)
    listed = here.ids()
    assert "a" in listed or time.time() * 1e6 > expires_us, "it expired too early"
    time.sleep(max(0.0, expires_us / 1e6 - time.time()) + 0.1)
    assert here.ids() == ["b"]
    here.delete_artifact("a")


def test_a_list_is_read_page_by_page_the_newest_first(here: KnowledgeClient) -> None:
    for number in range(5):
        here.put(f"a{number}", "x")
    first = here.artifact_page(page_size=2)
    here.put("late", "x")
    second = here.artifact_page(page_size=2, page_token=first.next_page_token)
    third = here.artifact_page(page_size=2, page_token=second.next_page_token)
    found = [artifact.id for page in (first, second, third) for artifact in page.artifacts]
    assert found == ["a4", "a3", "a2", "a1", "a0"] and not third.next_page_token
    refused = refusal(lambda: here.of("", "s1").artifact_page(page_token=first.next_page_token))
    assert refused.field == "page_token"


def test_large_artifacts_are_listed_in_pages_below_the_grpc_limit(here: KnowledgeClient) -> None:
    for number in range(5):
        here.put(f"a{number}", "x" * (1 << 20))
    found, token = [], ""
    while True:
        page = here.artifact_page(page_token=token)
        assert page.ByteSize() < 4 << 20
        found += [artifact.id for artifact in page.artifacts]
        token = page.next_page_token
        if not token:
            break
    assert found == ["a4", "a3", "a2", "a1", "a0"]


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("artifact.id", Artifact(id="\n", content="x")),
        ("artifact.source", Artifact(source="x" * 1_025, content="x")),
        ("artifact.content", Artifact()),
        ("artifact.create_time", Artifact(content="x", create_time=Timestamp(nanos=-1))),
        ("artifact.expire_time", Artifact(content="x", expire_time=Timestamp(nanos=-1))),
        ("artifact.expire_time", Artifact(content="x", expire_time=timestamp("2020-01-01T00:00:00Z"))),
        ("artifact.expire_time", Artifact(content="x", create_time=LATER, expire_time=LATER)),
        ("artifact.metadata", Artifact(content="x", metadata=tagged({"a": "x" * 20_000}))),
    ],
)
def test_the_invalid_field_of_an_artifact_is_named(here: KnowledgeClient, field: str, wrong: Artifact) -> None:
    refused = refusal(lambda: here.put_request(pb.PutArtifactRequest(**here.scope_ids, artifact=wrong)))
    assert (refused.code.name, refused.reason, refused.field) == ("INVALID_ARGUMENT", "INVALID_FIELD", field)


def test_an_artifact_larger_than_a_message_is_too_large(here: KnowledgeClient) -> None:
    refused = refusal(lambda: here.put("a", "x" * ((1 << 20) + 1)))
    assert (refused.code.name, refused.reason) == ("RESOURCE_EXHAUSTED", "TOO_LARGE")


def test_a_deleted_artifact_is_in_no_response_and_in_no_file(sidecar: SidecarProcess, here: KnowledgeClient) -> None:
    secret = f"secret{uuid4().hex}"
    here.put("a", secret, metadata=tagged({"tag": secret}))
    assert files_with(sidecar.data_dir, secret)
    here.delete_artifact("a")
    assert here.ids() == [] and files_with(sidecar.data_dir, secret) == []
    refused = refusal(lambda: here.delete_artifact("a"))
    assert (refused.code.name, refused.reason) == ("NOT_FOUND", "NOT_FOUND")


# -- offloading


def test_an_offloaded_result_is_a_preview_in_the_window_and_complete_elsewhere(here: KnowledgeClient) -> None:
    with_result(here)
    before = here.conversation.count().tokens
    stored = here.offload("big")
    assert (stored.id, stored.message_id, stored.content, stored.source) == ("message/big", "big", report(), "search")
    assert here.artifacts() == [stored]
    preview = here.client.recent("s1", 1, namespace=here.namespace)[0]
    assert preview.synthetic and (preview.id, preview.tool_call_id) == ("big", "c-big")
    assert preview.content.startswith("line 0: hay") and preview.content.endswith("[the whole is artifact message/big]")
    assert NEEDLE not in preview.content and preview.tokens < 150
    assert sum(message.tokens for message in here.conversation.messages()) == here.conversation.count().tokens < before
    assert here.conversation.find(NEEDLE) == [report()]
    assert here.conversation.add_tool_result("c-big", report(), id="big", name="search").duplicate


def test_offloading_again_changes_nothing(here: KnowledgeClient) -> None:
    with_result(here)
    first, messages = here.offload("big"), here.conversation.messages()
    assert here.offload("big") == first
    assert (here.conversation.messages(), here.ids()) == (messages, ["message/big"])


@pytest.mark.parametrize("tokens", [50, 100, 600])
def test_a_preview_has_at_most_the_requested_tokens(here: KnowledgeClient, tokens: int) -> None:
    with_result(here)
    here.offload("big", tokens, id="whole")
    preview = here.conversation.messages()[-1].content
    counted = here.put("count", preview).tokens
    assert tokens * 0.7 <= counted <= tokens and preview.endswith("[the whole is artifact whole]")


def test_a_small_result_stays_in_the_window(here: KnowledgeClient) -> None:
    with_result(here, "three small words")
    assert here.offload("big").content == "three small words"
    assert not here.conversation.messages()[-1].synthetic


def test_a_pruned_result_is_kept_as_an_artifact(here: KnowledgeClient) -> None:
    with_result(here)
    here.conversation.add_turns(3)
    here.conversation.prune(100)
    assert "big" not in here.conversation.ids()
    assert here.offload("big").content == report()
    assert "big" not in here.conversation.ids()


def test_only_a_tools_message_of_the_session_can_be_offloaded(here: KnowledgeClient) -> None:
    refused = refusal(lambda: here.offload("big"))
    assert (refused.code.name, refused.reason) == ("NOT_FOUND", "NOT_FOUND")
    with_result(here)
    assert refusal(lambda: here.offload("other")).code.name == "NOT_FOUND"
    for wrong in ("ask-big", "call-big"):
        refused = refusal(lambda wrong=wrong: here.offload(wrong))  # type: ignore[misc]
        assert (refused.code.name, refused.field) == ("INVALID_ARGUMENT", "offload_message_id")
    assert refusal(lambda: here.offload("big", content="x")).field == "artifact.content"
    assert refusal(lambda: here.offload("big", -1)).field == "preview_tokens"
    assert here.ids() == [] and not here.conversation.messages()[-1].synthetic


def test_a_clear_erases_offloaded_artifacts_and_a_deleted_session_all(
    sidecar: SidecarProcess, here: KnowledgeClient
) -> None:
    secret = f"secret{uuid4().hex}"
    with_result(here, f"{secret}\n{report()}")
    here.offload("big")
    here.put("own", f"own {secret}")
    here.conversation.clear()
    assert here.ids() == ["own"]
    here.put("own", "something else")
    assert files_with(sidecar.data_dir, secret) == []
    here.put("own", secret)
    here.delete_session()
    assert here.ids() == [] and files_with(sidecar.data_dir, secret) == []


def test_artifacts_outlive_a_kill(data_dir: Path) -> None:
    with SidecarProcess(data_dir) as sidecar:
        with sidecar.client() as client:
            here = with_result(KnowledgeClient(client, session_id="s1"))
            here.put("a", "It rains.", metadata=tagged({"lang": "en"}), expire_time=LATER)
            here.offload("big")
            artifacts, messages = here.artifacts(), here.conversation.messages()
        sidecar.kill()
        sidecar.start()
        with sidecar.client() as client:
            here = KnowledgeClient(client, session_id="s1")
            assert (here.artifacts(), here.conversation.messages()) == (artifacts, messages)
            assert here.offload("big") in artifacts
            assert here.conversation.messages() == messages
