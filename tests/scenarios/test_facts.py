"""Facts: put, superseded, listed, deleted, and deleted with their session."""

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from memsidecar.v1 import knowledge_pb2 as pb
from memsidecar.v1.knowledge_pb2 import Fact
from tests.scenarios.conversation import timestamp
from tests.scenarios.knowledge_client import INTEREST, PROFILE, KnowledgeClient, fact
from tests.scenarios.test_erasure import files_with
from tests.support.process import Client, SidecarProcess, refusal
from tests.support.waiting import until


@pytest.fixture
def ann(client: Client, namespace: str) -> KnowledgeClient:
    return KnowledgeClient(client, namespace, "ann")


def test_a_fact_is_read_as_it_was_put(ann: KnowledgeClient) -> None:
    given = fact(
        "Paris",
        confidence=0.75,
        valid_from=timestamp("2024-05-01T12:00:00Z"),
        extracted_at=timestamp("2024-05-02T12:00:00Z"),
        last_updated=timestamp("2024-05-03T12:00:00Z"),
        session_id="s1",
        source_message_ids=["m1", "m2"],
        pinned=True,
    )
    (stored,) = ann.put_facts(given)
    assert ann.facts() == [stored]
    assert stored.id and stored.origin == "client" and not stored.HasField("valid_until")
    for name in ("id", "origin"):
        stored.ClearField(name)
    assert stored == given


def test_the_server_sets_missing_fields(ann: KnowledgeClient) -> None:
    before, after = Timestamp(), Timestamp()
    before.GetCurrentTime()
    (stored,) = ann.of("ann", "s1").put_facts(fact("Paris"))
    after.GetCurrentTime()
    assert (stored.confidence, stored.session_id) == (1.0, "s1")
    for stamp in (stored.valid_from, stored.extracted_at, stored.last_updated):
        assert before.ToMicroseconds() <= stamp.ToMicroseconds() <= after.ToMicroseconds()


def test_output_only_fields_of_a_request_are_ignored(ann: KnowledgeClient) -> None:
    (stored,) = ann.put_facts(fact("Paris", id="mine", origin="me", valid_until=timestamp("2024-05-01T12:00:00Z")))
    assert stored.id != "mine" and stored.origin == "client" and not stored.HasField("valid_until")


def test_another_value_supersedes_and_the_response_has_the_current_facts(ann: KnowledgeClient) -> None:
    (paris,) = ann.put_facts(fact("Paris"))
    rome, oslo, tea, coffee = ann.put_facts(
        fact("Rome"), fact("Oslo"), fact("tea", INTEREST, "likes"), fact("coffee", INTEREST, "likes")
    )
    assert rome.valid_until == oslo.valid_from and not oslo.HasField("valid_until")
    assert {stored.value for stored in ann.facts()} == {"Oslo", "tea", "coffee"}
    history = {stored.id: stored for stored in ann.facts(include_history=True)}
    assert history.keys() == {paris.id, rome.id, oslo.id, tea.id, coffee.id}
    assert history[paris.id].valid_until == rome.valid_from


def test_the_same_value_again_updates_only_the_time(ann: KnowledgeClient) -> None:
    (first,) = ann.put_facts(fact("Paris", confidence=0.5))
    (again,) = ann.put_facts(fact("paris.", confidence=0.9, pinned=True))
    assert again.last_updated.ToMicroseconds() > first.last_updated.ToMicroseconds()
    again.last_updated.CopyFrom(first.last_updated)
    assert again == first


def test_an_older_fact_is_added_to_the_history(ann: KnowledgeClient) -> None:
    ann.put_facts(
        fact("Rome", valid_from=timestamp("2024-05-01T12:00:00Z"), last_updated=timestamp("2024-06-01T12:00:00Z"))
    )
    (older,) = ann.put_facts(
        fact("Paris", valid_from=timestamp("2020-05-01T12:00:00Z"), last_updated=timestamp("2024-06-01T12:00:00Z"))
    )
    assert older.valid_until == timestamp("2024-05-01T12:00:00Z")
    assert (ann.values(), ann.values(include_history=True)) == (["Rome"], ["Rome", "Paris"])


def test_one_invalid_fact_refuses_all(ann: KnowledgeClient) -> None:
    refused = refusal(lambda: ann.put_facts(fact("Paris"), fact("", INTEREST)))
    assert (refused.code.name, refused.field) == ("INVALID_ARGUMENT", "facts[1].value")
    assert ann.facts() == []


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("facts[1].type", fact("x", kind=99)),  # type: ignore[arg-type]
        ("facts[1].type", fact("x", kind=0)),  # type: ignore[arg-type]
        ("facts[1].key", fact("x", key="")),
        ("facts[1].key", fact("x", key="a\nb")),
        ("facts[1].key", fact("x", key="x" * 257)),
        ("facts[1].value", fact(" ")),
        ("facts[1].value", fact("x" * 16_385)),
        ("facts[1].confidence", fact("x", confidence=1.01)),
        ("facts[1].confidence", fact("x", confidence=float("nan"))),
        ("facts[1].valid_from", fact("x", valid_from=Timestamp(nanos=-1))),
        ("facts[1].extracted_at", fact("x", extracted_at=Timestamp(nanos=-1))),
        ("facts[1].last_updated", fact("x", last_updated=Timestamp(nanos=-1))),
        ("facts[1].source_message_ids[1]", fact("x", session_id="s", source_message_ids=["m", "\0"])),
        ("facts[1].session_id", fact("x", source_message_ids=["m"])),
    ],
)
def test_the_invalid_field_of_a_fact_is_named(ann: KnowledgeClient, field: str, wrong: Fact) -> None:
    refused = refusal(lambda: ann.put_facts(fact("good"), wrong))
    assert (refused.code.name, refused.reason, refused.field) == ("INVALID_ARGUMENT", "INVALID_FIELD", field)


def test_facts_need_a_user_or_a_session(ann: KnowledgeClient) -> None:
    unscoped = ann.of()
    for call in (lambda: unscoped.put_facts(fact("x")), unscoped.facts, lambda: unscoped.delete_fact("id")):
        assert refusal(call).field == "user_id"


@pytest.mark.parametrize(
    "claim", [lambda ann: ann.conversation.add("hello"), lambda ann: ann.put_facts(fact("Ann", key="name"))]
)
def test_facts_of_a_session_belong_to_its_user_once_it_is_claimed(
    ann: KnowledgeClient, claim: Callable[[KnowledgeClient], object]
) -> None:
    anonymous = ann.of("", "later hers")
    anonymous.put_facts(fact("Paris"))
    assert anonymous.values() == ["Paris"]
    claim(ann.of("ann", "later hers"))
    until(lambda: "Paris" in ann.values())
    assert "Paris" in anonymous.values()


def test_a_session_id_selects_the_facts_of_its_user_and_another_user_is_refused(ann: KnowledgeClient) -> None:
    here, theirs = ann.of("ann", "s1"), ann.of("bob", "s1")
    here.conversation.add("hello")
    ann.of("", "s1").put_facts(fact("Paris"))
    assert ann.values() == here.values() == ["Paris"] and ann.of("bob").values() == []
    for call in (lambda: theirs.put_facts(fact("x")), theirs.facts, lambda: theirs.delete_fact("id")):
        refused = refusal(call)
        assert (refused.code.name, refused.reason) == ("FAILED_PRECONDITION", "SESSION_OWNER_MISMATCH")


def test_a_session_without_a_user_has_facts_of_its_own(ann: KnowledgeClient) -> None:
    alone = ann.of("", "alone")
    (stored,) = alone.put_facts(fact("Paris"))
    assert alone.values() == ["Paris"] and ann.values() == ann.of("", "other").values() == []
    alone.delete_fact(stored.id)
    assert alone.values() == []


def test_a_list_is_read_page_by_page_by_confidence(ann: KnowledgeClient) -> None:
    confidences = [0.25, 0.5, 1.0, 0.75, 0.5]
    ann.put_facts(
        *(fact(f"v{number}", INTEREST, "likes", confidence=confidence) for number, confidence in enumerate(confidences))
    )
    first = ann.page(page_size=2)
    ann.put_facts(fact("late", INTEREST, "likes"))
    second = ann.page(page_size=2, page_token=first.next_page_token)
    third = ann.page(page_size=2, page_token=second.next_page_token)
    found = [stored.value for page in (first, second, third) for stored in page.facts]
    assert found == ["v2", "v3", "v4", "v1", "v0"]
    assert not third.next_page_token
    refused = refusal(lambda: ann.page(types=[INTEREST], page_token=first.next_page_token))
    assert refused.field == "page_token"


def test_a_list_has_the_requested_types(ann: KnowledgeClient) -> None:
    ann.put_facts(fact("Paris"), fact("tea", INTEREST, "likes"))
    assert ann.values(types=[PROFILE]) == ["Paris"] and ann.values(types=[INTEREST]) == ["tea"]
    assert len(ann.values(types=[PROFILE, INTEREST])) == 2
    refused = refusal(lambda: ann.facts(types=[PROFILE, pb.FACT_TYPE_UNSPECIFIED]))
    assert refused.field == "types[1]"


def test_large_facts_are_listed_in_pages_below_the_grpc_limit(ann: KnowledgeClient) -> None:
    for part in range(2):
        ann.put_facts(*(fact(f"{part} {number} {'x' * 16_000}", INTEREST, "likes") for number in range(150)))
    found, token = 0, ""
    while True:
        page = ann.page(page_size=1_000, page_token=token)
        assert page.ByteSize() < 4 << 20
        found, token = found + len(page.facts), page.next_page_token
        if not token:
            break
    assert found == 300


def test_a_deleted_fact_is_in_no_response_and_in_no_file(sidecar: SidecarProcess, ann: KnowledgeClient) -> None:
    secret = f"secret{uuid4().hex}"
    old, new = ann.put_facts(fact(f"old {secret}"), fact(f"new {secret}"))
    assert files_with(sidecar.data_dir, secret)
    ann.delete_fact(new.id)
    assert ann.facts() == []
    ann.delete_fact(old.id)
    assert ann.facts(include_history=True) == []
    assert files_with(sidecar.data_dir, secret) == []
    refused = refusal(lambda: ann.delete_fact(new.id))
    assert (refused.code.name, refused.reason) == ("NOT_FOUND", "NOT_FOUND")


def test_a_clear_keeps_facts_and_a_deleted_session_removes_those_from_it_alone(
    sidecar: SidecarProcess, ann: KnowledgeClient
) -> None:
    secret = f"secret{uuid4().hex}"
    for name in ("s1", "s2"):
        ann.of("ann", name).conversation.add("hello", id="m")
    first, second = ann.of("ann", "s1"), ann.of("ann", "s2")
    first.put_facts(
        fact(secret, source_message_ids=["m"]),
        fact("both", key="team", source_message_ids=["m"]),
        fact("direct", key="name"),
    )
    second.put_facts(fact("both", key="team", source_message_ids=["m"]))
    first.conversation.clear()
    assert sorted(ann.values()) == sorted([secret, "both", "direct"])
    first.delete_session()
    assert sorted(ann.values()) == ["both", "direct"]
    assert files_with(sidecar.data_dir, secret) == []
    second.delete_session()
    assert ann.values() == ["direct"]


def test_facts_outlive_a_kill(data_dir: Path) -> None:
    with SidecarProcess(data_dir) as sidecar:
        with sidecar.client() as client:
            ann = KnowledgeClient(client, user_id="ann")
            ann.put_facts(fact("Paris"), fact("Rome"), fact("tea", INTEREST, "likes", pinned=True))
            before = ann.facts(include_history=True)
            (gone,) = ann.put_facts(fact("milk", INTEREST, "likes"))
            ann.delete_fact(gone.id)
        sidecar.kill()
        sidecar.start()
        with sidecar.client() as client:
            ann = KnowledgeClient(client, user_id="ann")
            assert ann.facts(include_history=True) == before
            assert ann.put_facts(fact("rome"))[0].id == next(stored.id for stored in before if stored.value == "Rome")
