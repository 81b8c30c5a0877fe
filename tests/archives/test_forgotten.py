"""An import of an older archive does not bring back what was erased since, unless it is told to."""

import time

import pytest

from memsidecar.v1 import knowledge_pb2 as knowledge
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1 import session_pb2 as sessions
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.archives.conftest import FLAGS
from tests.archives.filled_memory import export_records, fill, import_records, settle
from tests.archives.test_formats import SAMPLE_FORMATS, read
from tests.support.process import Client, SidecarProcess

NAMESPACE = "erasures"


@pytest.fixture
def archive(empty: Client) -> list[sessions.ArchiveRecord]:
    """Return the archive of a filled namespace of the sidecar."""
    fill(empty, NAMESPACE)
    return export_records(empty, NAMESPACE)


def of_user(records: list[sessions.ArchiveRecord], user_id: str) -> list[sessions.ArchiveRecord]:
    session_ids = {record.session_id for record in records if record.user_id == user_id and record.session_id}
    return [record for record in records if record.user_id == user_id or record.session_id in session_ids]


def test_a_forgotten_user_does_not_come_back(empty: Client, archive: list[sessions.ArchiveRecord]) -> None:
    empty.sessions.ForgetUser(sessions.ForgetUserRequest(namespace=NAMESPACE, user_id="ann"))
    without = export_records(empty, NAMESPACE)
    answer = import_records(empty, archive, NAMESPACE)
    gone = of_user(archive, "ann")
    assert (answer.durable_count, answer.forgotten_count) == (len(archive), len(gone))
    assert answer.duplicate_count == len(archive) - len(gone)
    settle(empty, NAMESPACE)
    assert export_records(empty, NAMESPACE) == without
    assert import_records(empty, archive, NAMESPACE, override=True).forgotten_count == 0
    settle(empty, NAMESPACE)
    restored = {record.SerializeToString(deterministic=True) for record in export_records(empty, NAMESPACE)}
    assert {record.SerializeToString(deterministic=True) for record in archive} <= restored


def test_a_deleted_session_does_not_come_back(empty: Client, archive: list[sessions.ArchiveRecord]) -> None:
    empty.sessions.DeleteSession(sessions.DeleteSessionRequest(namespace=NAMESPACE, session_id="talk"))
    without = export_records(empty, NAMESPACE)
    answer = import_records(empty, archive, NAMESPACE)
    gone = [record for record in archive if record.session_id == "talk"]
    assert answer.forgotten_count == len(gone)
    assert export_records(empty, NAMESPACE) == without


def test_a_cleared_session_and_a_dry_run_can_be_restored(empty: Client, archive: list[sessions.ArchiveRecord]) -> None:
    empty.memory.Clear(memory.ClearRequest(namespace=NAMESPACE, session_id="bobs"))
    empty.sessions.ForgetUser(sessions.ForgetUserRequest(namespace=NAMESPACE, user_id="ann", dry_run=True))
    answer = import_records(empty, archive, NAMESPACE)
    assert answer.forgotten_count == 0
    assert len(empty.all("bobs", namespace=NAMESPACE, include_pruned=True)) == 28


def test_a_forgotten_user_can_write_again(empty: Client) -> None:
    empty.add("s", "before", user_id="ann", id="m1")
    old = export_records(empty)
    empty.sessions.ForgetUser(sessions.ForgetUserRequest(user_id="ann"))
    empty.add("s", "after", user_id="ann", id="m2")
    new = export_records(empty)
    assert import_records(empty, old).forgotten_count == len(old)
    assert [message.content for message in empty.all("s")] == ["after"]
    empty.sessions.DeleteSession(sessions.DeleteSessionRequest(session_id="s"))
    late = Message(id="m3", role=ROLE_USER, content="later")
    late.create_time.FromSeconds(4_000_000_000)
    later = [*new, sessions.ArchiveRecord(user_id="ann", session_id="s", message=late)]
    answer = import_records(empty, later)
    assert answer.forgotten_count == len(new)
    assert [message.content for message in empty.all("s")] == ["later"]


@pytest.mark.parametrize("name", SAMPLE_FORMATS)
def test_a_chat_of_a_forgotten_user_does_not_come_back(empty: Client, name: str) -> None:
    """Most of these messages have no time."""
    chat = read(name, user_id="ann")
    assert import_records(empty, chat).forgotten_count == 0
    empty.sessions.ForgetUser(sessions.ForgetUserRequest(user_id="ann"))
    assert import_records(empty, chat).forgotten_count == len(chat)
    assert export_records(empty) == []
    assert import_records(empty, chat, override=True).forgotten_count == 0


@pytest.mark.parametrize("name", SAMPLE_FORMATS)
def test_a_forgotten_message_of_a_chat_does_not_come_back(empty: Client, name: str) -> None:
    chat = read(name, user_id="ann")
    import_records(empty, chat)
    for record in chat:
        forgotten = sessions.ForgetMessageRequest(session_id=record.session_id, message_id=record.message.id)
        empty.sessions.ForgetMessage(forgotten)
    assert import_records(empty, chat).forgotten_count == len(chat)
    assert [record for record in export_records(empty) if record.HasField("message")] == []


UNDATED = {
    "message": Message(id="m", role=ROLE_USER, content="hello"),
    "artifact": knowledge.Artifact(id="a", content="a log"),
    "document": knowledge.Document(id="d", text="a text"),
    "fact": knowledge.Fact(id="f", type=knowledge.FACT_TYPE_PREFERENCE, key="drink", value="tea"),
    "summary": knowledge.Summary(id="s", text="a summary", first_sequence=1, last_sequence=2),
    "session": sessions.ArchivedSession(),
}


@pytest.mark.parametrize("kind", UNDATED)
def test_a_record_without_a_time_is_forgotten_by_any_erasure(empty: Client, kind: str) -> None:
    record = sessions.ArchiveRecord(user_id="ann", session_id="s", **{kind: UNDATED[kind]})  # type: ignore[arg-type]
    assert import_records(empty, [record]).forgotten_count == 0
    empty.sessions.ForgetUser(sessions.ForgetUserRequest(user_id="ann"))
    assert import_records(empty, [record]).forgotten_count == 1
    assert export_records(empty) == []


def test_a_record_without_a_time_is_stored_with_the_time_of_its_import(empty: Client) -> None:
    kinds = ("message", "artifact", "document")
    records = [sessions.ArchiveRecord(user_id="ann", session_id="s", **{kind: UNDATED[kind]}) for kind in kinds]  # type: ignore[arg-type]
    before = time.time_ns() // 1_000_000_000
    import_records(empty, records)
    stored = {record.WhichOneof("record"): record for record in export_records(empty)}
    assert all(getattr(stored[kind], kind).create_time.seconds >= before for kind in kinds)


def test_tombstones_survive_a_restart_and_name_no_one(tmp_path_factory: pytest.TempPathFactory) -> None:

    folder = tmp_path_factory.mktemp("tombstones") / "data"
    with SidecarProcess(folder, *FLAGS) as sidecar:
        with sidecar.client() as client:
            client.add("session-of-zelda", "a message", user_id="zelda-the-user", id="message-of-zelda")
            records = export_records(client)
            client.sessions.ForgetUser(sessions.ForgetUserRequest(user_id="zelda-the-user"))
        for path in folder.rglob("*"):
            if path.is_file():
                assert b"zelda" not in path.read_bytes(), path
        sidecar.kill()
        sidecar.start()
        with sidecar.client() as client:
            assert import_records(client, records).forgotten_count == len(records)
            assert export_records(client) == []
