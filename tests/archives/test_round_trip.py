"""An archive that is imported elsewhere: every read RPC answers the same."""

import threading
from contextlib import closing

import pytest

from memsidecar.layers.archive.export import ExportCursor, Exporter, MessageItem
from memsidecar.layers.learned_until import LARGE_MESSAGE_BYTES, LearnedUntil
from memsidecar.stores.contract import Scope
from memsidecar.stores.volatile.journal import VolatileJournal
from memsidecar.v1 import knowledge_pb2 as knowledge
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1 import session_pb2 as sessions
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.archives.filled_memory import differences, export_records, import_records, settle
from tests.background.recording_task import append
from tests.support.process import CALL_SECONDS, Client, refusal

KINDS = {"message", "session", "fact", "summary", "artifact", "document", "policy", "calibration"}


def test_every_read_answers_the_same_after_a_round_trip(filled: Client, empty: Client) -> None:
    records = export_records(filled)
    assert {record.WhichOneof("record") for record in records} == KINDS
    assert any(record.HasField("displayed") for record in records) and any(record.pruned for record in records)
    assert import_records(empty, records) == sessions.ImportResponse(durable_count=len(records))
    settle(empty)
    assert differences(filled, empty) == []
    assert export_records(empty) == records


def test_an_import_twice_changes_nothing(filled: Client, empty: Client) -> None:
    records = export_records(filled)
    import_records(empty, records)
    settle(empty)
    answer = import_records(empty, records)
    assert answer == sessions.ImportResponse(durable_count=len(records), duplicate_count=len(records))
    settle(empty)
    assert differences(filled, empty) == []


def test_a_second_namespace_can_be_imported_into(filled: Client, empty: Client) -> None:
    records = export_records(filled)
    import_records(empty, records, "copy")
    settle(empty, "copy")
    assert differences(filled, empty, ("", "copy")) == []
    assert export_records(empty) == []


def test_differences_are_found(filled: Client, empty: Client) -> None:
    import_records(empty, export_records(filled))
    settle(empty)
    empty.memory.Annotate(memory.AnnotateRequest(session_id="work", message_id="work-1-2", evaluation_score=1))
    found = differences(filled, empty)
    assert any("GetAll(work)" in line and "evaluationScore" in line for line in found), found


@pytest.mark.parametrize(
    ("scope", "user_ids", "session_ids"),
    [
        ({"user_id": "ann"}, {"ann", ""}, {"talk", "work", "cleared", "emptied", ""}),
        ({"session_id": "talk"}, {"ann", ""}, {"talk"}),
        ({"user_id": "bob"}, {"bob"}, {"bobs"}),
        ({"session_id": "unknown"}, set(), set()),
    ],
)
def test_an_archive_is_narrowed_to_a_user_or_a_session(
    filled: Client, scope: dict[str, str], user_ids: set[str], session_ids: set[str]
) -> None:
    records = export_records(filled, **scope)
    assert {record.user_id for record in records} == user_ids
    assert {record.session_id for record in records} == session_ids
    assert not any(record.WhichOneof("record") == "calibration" for record in records)


def test_the_session_of_another_user_is_not_exported(filled: Client) -> None:
    refused = refusal(lambda: export_records(filled, user_id="bob", session_id="talk"))
    assert refused.reason == "SESSION_OWNER_MISMATCH"


def test_an_export_resumes_after_every_cursor(filled: Client) -> None:
    whole = list(filled.sessions.Export(sessions.ExportRequest(), timeout=CALL_SECONDS))
    for at in range(0, len(whole), 7):
        request = sessions.ExportRequest(cursor=whole[at].cursor)
        rest = [response.record for response in filled.sessions.Export(request, timeout=CALL_SECONDS)]
        assert rest == [response.record for response in whole[at + 1 :]], at


def test_a_cursor_belongs_to_its_request(filled: Client) -> None:
    cursor = next(iter(filled.sessions.Export(sessions.ExportRequest()))).cursor
    for request in (
        sessions.ExportRequest(cursor=cursor, user_id="ann"),
        sessions.ExportRequest(cursor=cursor[:-2]),
        sessions.ExportRequest(cursor="no cursor"),
    ):
        refused = refusal(lambda request=request: list(filled.sessions.Export(request)))  # type: ignore[misc]
        assert (refused.reason, refused.field) == ("INVALID_FIELD", "cursor")


def test_what_is_added_during_an_export_is_not_in_it(empty: Client) -> None:
    for at in range(1_000):
        empty.add(f"s{at % 5}", f"message {at}")
    stream = empty.sessions.Export(sessions.ExportRequest(), timeout=CALL_SECONDS)
    first = next(iter(stream)).record
    stop = threading.Event()
    added = 0

    def write() -> None:
        nonlocal added
        while not stop.is_set():
            empty.add(f"s{added % 7}", f"later {added}")
            added += 1

    writer = threading.Thread(target=write)
    writer.start()
    while not added:
        pass
    records = [first, *(response.record for response in stream)]
    stop.set()
    writer.join()
    assert [record.message.content for record in records if record.HasField("message")] == [
        f"message {at}" for at in range(1_000)
    ]
    assert sorted({record.session_id for record in records}) == [f"s{at}" for at in range(5)]


def test_the_task_of_large_messages_may_be_behind_that_of_all_others() -> None:
    """It is after a kill: it commits its progress later. No other message counts as not learned for that."""
    with closing(VolatileJournal()) as journal:
        small, large = append(journal, "a", "small", "m" * 2 * LARGE_MESSAGE_BYTES)
        behind = LearnedUntil(large, small)
        exporter, scope = Exporter(journal, lambda _: behind), Scope("a")
        cursor: ExportCursor | None = exporter.begin(scope)
        learned: dict[int, bool] = {}
        while cursor is not None:
            items, cursor = exporter.page(scope, cursor)
            learned |= {item.message.lsn: item.learned for item, _ in items if isinstance(item, MessageItem)}
    assert learned == {small: True, large: False}


def test_learned_messages_are_not_learned_again(filled: Client, empty: Client) -> None:
    """A deleted fact would come back, and a foreign message must be learned from."""
    records = export_records(filled, user_id="ann")
    assert all(record.learned for record in records if record.HasField("message"))
    import_records(empty, records)
    foreign = Message(id="f", role=ROLE_USER, content="I like gardening.")
    import_records(empty, [sessions.ArchiveRecord(user_id="ann", session_id="new", message=foreign)])
    settle(empty)
    facts = empty.knowledge.ListFacts(knowledge.ListFactsRequest(user_id="ann", include_history=True)).facts
    values = " ".join(fact.value.lower() for fact in facts)
    assert "gardening" in values and "sailing" not in values
