"""Records of an import: versions, batches, errors, and used namespaces."""

import threading
from collections.abc import Iterator

import pytest

from memsidecar.v1 import context_pb2
from memsidecar.v1 import knowledge_pb2 as knowledge
from memsidecar.v1 import session_pb2 as sessions
from memsidecar.v1.message_pb2 import ROLE_TOOL, ROLE_USER, Message
from tests.archives.conftest import FLAGS
from tests.archives.filled_memory import import_records
from tests.support.process import CALL_SECONDS, Client, SidecarProcess, refusal


def message(message_id: str, content: str = "hello", **fields: object) -> sessions.ArchiveRecord:
    given = Message(id=message_id, role=ROLE_USER, content=content, **fields)  # type: ignore[arg-type]
    return sessions.ArchiveRecord(session_id="s", message=given)


@pytest.mark.parametrize(
    ("record", "field"),
    [
        (sessions.ArchiveRecord(session_id="s", version=2, message=Message(id="m")), "record.version"),
        (sessions.ArchiveRecord(session_id="s"), "record"),
        (sessions.ArchiveRecord(message=Message(id="m", role=ROLE_USER, content="x")), "record.session_id"),
        (sessions.ArchiveRecord(session_id="s", message=Message(role=ROLE_USER, content="x")), "record.message.id"),
        (sessions.ArchiveRecord(fact=knowledge.Fact(id="f")), "record.user_id"),
    ],
)
def test_an_invalid_record_is_refused_by_name(empty: Client, record: sessions.ArchiveRecord, field: str) -> None:
    refused = refusal(lambda: import_records(empty, [message("first"), record, message("last")]))
    assert (refused.reason, refused.field) == ("INVALID_FIELD", field)
    assert [stored.id for stored in empty.all("s")] == ["first"]


def test_a_record_is_acknowledged_before_the_next_one_is_sent(empty: Client) -> None:
    """A client may wait for each acknowledgement: a batch does not wait for more records."""
    acknowledged = threading.Semaphore(1)

    def one_by_one() -> Iterator[sessions.ImportRequest]:
        for at in range(5):
            acknowledged.acquire()
            yield sessions.ImportRequest(record=message(f"m{at}"))

    counts = []
    for response in empty.sessions.Import(one_by_one(), timeout=CALL_SECONDS):
        counts.append(response.durable_count)
        acknowledged.release()
    assert counts == [1, 2, 3, 4, 5]


def test_records_before_a_conflict_are_stored_and_acknowledged(empty: Client) -> None:
    empty.add("s", "known", id="m100")
    records = [message(f"m{at}") for at in range(200)]
    counts: list[int] = []

    def run() -> None:
        requests = (sessions.ImportRequest(record=record) for record in records)
        counts.extend(response.durable_count for response in empty.sessions.Import(requests, timeout=CALL_SECONDS))

    refused = refusal(run)
    assert refused.reason == "ID_CONFLICT"
    assert counts[-1] == 100 and len(empty.all("s")) == 101


def test_the_session_of_another_user_is_refused(empty: Client) -> None:
    empty.add("s", "mine", user_id="bob")
    record = message("m")
    record.user_id = "ann"
    assert refusal(lambda: import_records(empty, [record])).reason == "SESSION_OWNER_MISMATCH"


def test_an_import_into_a_used_session_adds_at_its_end(empty: Client) -> None:
    for at in range(3):
        empty.add("s", f"mine {at}")
    import_records(empty, [message("a", sequence=2), message("b", sequence=9), message("c")])
    assert [(stored.sequence, stored.id) for stored in empty.all("s")][3:] == [(4, "a"), (9, "b"), (10, "c")]


def test_the_newer_of_two_facts_of_a_key_holds(empty: Client) -> None:
    def fact(fact_id: str, value: str, seconds: int) -> knowledge.Fact:
        made = knowledge.Fact(id=fact_id, type=knowledge.FACT_TYPE_USER_PROFILE, key="company", value=value)
        for time in (made.valid_from, made.extracted_at, made.last_updated):
            time.FromSeconds(seconds)
        return made

    for fact_id, value, seconds in (("f2", "Initech", 2_000), ("f1", "Acme", 1_000), ("f3", "Hooli", 3_000)):
        import_records(empty, [sessions.ArchiveRecord(user_id="ann", fact=fact(fact_id, value, seconds))])
    listed = empty.knowledge.ListFacts(knowledge.ListFactsRequest(user_id="ann")).facts
    assert [(each.id, each.value) for each in listed] == [("f3", "Hooli")]
    request = knowledge.ListFactsRequest(user_id="ann", include_history=True)
    assert {each.id for each in empty.knowledge.ListFacts(request).facts} == {"f1", "f2", "f3"}


def test_what_is_cached_is_read_anew_after_an_import(empty: Client) -> None:
    empty.add("s", "hello", user_id="ann")
    empty.knowledge.ListFacts(knowledge.ListFactsRequest(user_id="ann"))
    empty.knowledge.GetSummary(knowledge.GetSummaryRequest(session_id="s"))
    context = context_pb2.BuildContextRequest(session_id="s", query="a windlass", max_tokens=2_000)
    empty.memory.BuildContext(context)
    fact = knowledge.Fact(id="f", type=knowledge.FACT_TYPE_DOMAIN, key="k", value="v")
    artifact = knowledge.Artifact(id="a", content="The windlass is broken.")
    summary = knowledge.Summary(id="sum", text="They talked.", first_sequence=1, last_sequence=1)
    import_records(
        empty,
        [
            sessions.ArchiveRecord(user_id="ann", fact=fact),
            sessions.ArchiveRecord(session_id="s", artifact=artifact),
            sessions.ArchiveRecord(session_id="s", summary=summary),
        ],
    )
    assert [each.id for each in empty.knowledge.ListFacts(knowledge.ListFactsRequest(user_id="ann")).facts] == ["f"]
    found = empty.knowledge.ListArtifacts(knowledge.ListArtifactsRequest(session_id="s")).artifacts
    assert [each.id for each in found] == ["a"]
    assert empty.knowledge.GetSummary(knowledge.GetSummaryRequest(session_id="s")).summary.id == "sum"
    assert "The windlass is broken." in empty.memory.BuildContext(context).memory_text


def test_a_displayed_version_is_shown_and_the_original_is_found(empty: Client) -> None:
    record = sessions.ArchiveRecord(
        session_id="s",
        message=Message(id="m", role=ROLE_TOOL, content="a long original"),
        displayed=Message(content="short"),
    )
    import_records(empty, [record])
    (stored,) = empty.all("s")
    assert (stored.content, stored.synthetic) == ("short", True)


def test_quotas_end_an_import(tmp_path_factory: pytest.TempPathFactory) -> None:

    folder = tmp_path_factory.mktemp("quotas") / "data"
    with SidecarProcess(folder, *FLAGS, "--quota-messages", "150") as sidecar, sidecar.client() as client:
        refused = refusal(lambda: import_records(client, [message(f"m{at}") for at in range(300)]))
        assert refused.reason == "QUOTA_EXCEEDED"
        assert len(client.all("s")) == 150
