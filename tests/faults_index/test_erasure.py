"""Erased messages are not found after the acknowledgement, and are soon in no file of the index."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import SCOPE_NAMESPACE
from tests.faults_index.acknowledged import FLAGS, AcknowledgedMessages, new_word
from tests.faults_index.index_files import IndexFiles, files_with, until
from tests.scenarios.document_client import DocumentClient
from tests.support.process import Client, SidecarProcess

MODES = (pb.SEARCH_MODE_KEYWORD, pb.SEARCH_MODE_SEMANTIC, pb.SEARCH_MODE_HYBRID, pb.SEARCH_MODE_SUBSTRING)


@pytest.fixture(scope="module")
def erasing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    with SidecarProcess(tmp_path_factory.mktemp("erasing") / "data", *FLAGS) as running:
        yield running


def fill(sidecar: SidecarProcess, client: Client, namespace: str) -> AcknowledgedMessages:
    """Add two sessions of one user to RAM and to the files, and check that they are found."""
    acknowledged = AcknowledgedMessages(namespace)
    for session in ("erased", "stays"):
        acknowledged.add_many(client, session, 20)
        acknowledged.add(client, session, id=f"id-{new_word()}", name=f"name{new_word()}")
    files = IndexFiles(sidecar.data_dir, namespace)
    files.wait_until_complete(acknowledged.contents)
    acknowledged.check_found(client)
    acknowledged.check_found(client, scope=SCOPE_NAMESPACE)
    assert files_with(files.directory, *acknowledged.words.values()), "the words can be seen in the files"
    return acknowledged


def check_not_found(acknowledged: AcknowledgedMessages, client: Client, words: list[str], contents: set[str]) -> None:
    """Check that no search finds them, neither in RAM nor in the table."""
    for mode in MODES:
        for scope in ({}, {"scope": SCOPE_NAMESPACE}):
            for query in (words[0], words[-1], "cat violin invoice"):
                answer = acknowledged.search(client, query, mode=mode, limit=1000, **scope)
                assert not contents & {hit.message.content for hit in answer.hits}, (mode, scope)


@pytest.mark.parametrize(
    "erase", [AcknowledgedMessages.clear, AcknowledgedMessages.delete], ids=["Clear", "DeleteSession"]
)
def test_an_erased_session_is_not_found_and_in_no_file(
    erasing: SidecarProcess, erase: Callable[[AcknowledgedMessages, Client, str], list[str]]
) -> None:
    with erasing.client() as client:
        acknowledged = fill(erasing, client, erase.__name__)
        contents = {text for (session, _), text in acknowledged.contents.items() if session == "erased"}
        ids = [
            message.id
            for message in client.all("erased", namespace=acknowledged.namespace, user_id=acknowledged.user_id)
        ]
        names = [
            message.name
            for message in client.all("erased", namespace=acknowledged.namespace, user_id=acknowledged.user_id)
            if message.name
        ]
        words = erase(acknowledged, client, "erased")
        check_not_found(acknowledged, client, words, contents)
        wait_until_gone(erasing, *words, *ids, *names)
        check_not_found(acknowledged, client, words, contents)
        assert acknowledged.has_no_degradation(client)
        IndexFiles(erasing.data_dir, acknowledged.namespace).wait_until_complete(acknowledged.contents)


def wait_until_gone(sidecar: SidecarProcess, *texts: str) -> None:
    directory = sidecar.data_dir / "index"
    until(lambda: not files_with(directory, *texts), "the words are in no file")


def test_an_erased_document_is_not_found_and_in_no_file(erasing: SidecarProcess) -> None:
    with erasing.client() as client:
        documents = DocumentClient(client, "documents", "alice")
        words = [new_word() for _ in range(50)]
        documents.put("stays", "Goods can be sent back within thirty days.")
        documents.put("erased", " ".join(f"The word {word} is one of the secrets of this text." for word in words))
        directory = erasing.data_dir / "index"
        until(lambda: files_with(directory, words[0]), "the words can be seen in the files")
        assert documents.find(words[0])[:1] == ["erased"]
        documents.delete("erased")
        assert "erased" not in documents.find(words[0])
        wait_until_gone(erasing, *words)
        assert documents.find("can I send goods back") == ["stays"]


def test_an_emptied_namespace_leaves_no_files(erasing: SidecarProcess) -> None:
    with erasing.client() as client:
        acknowledged = fill(erasing, client, "emptied")
        words = acknowledged.delete(client, "erased") + acknowledged.delete(client, "stays")
        wait_until_gone(erasing, *words)
        until(lambda: not IndexFiles(erasing.data_dir, "emptied").entries(), "no file of the namespace is left")
        acknowledged.add(client, "again")
        IndexFiles(erasing.data_dir, "emptied").wait_until_complete(acknowledged.contents)


LINGERING = (*FLAGS[:-1], "400")
"With a linger of 400 ms, an erasure and a later message are indexed together."


def erase_and_kill(data_dir: Path, number: int, acknowledged: AcknowledgedMessages) -> None:
    """Kill the process when the watermark is beyond the erasure and the files are not purged yet."""
    files = IndexFiles(data_dir)
    with SidecarProcess(data_dir, *LINGERING) as sidecar, sidecar.client() as client:
        acknowledged.add_many(client, f"stays-{number}", 100)
        acknowledged.add_many(client, f"erased-{number}", 3)
        files.wait_until_complete(acknowledged.contents)
        before = files.version
        words = acknowledged.clear(client, f"erased-{number}")
        acknowledged.add(client, f"stays-{number}")
        # Versions only increase, so this ends even if the purge was faster.
        until(lambda: files.version >= before + 2, "the deletion, and the later message", pause_seconds=0.001)
        sidecar.kill()
        assert files_with(files.directory, *words), "it was killed in time"
        sidecar.start()
        with sidecar.client() as again:
            acknowledged.check_readable(again)
        wait_until_gone(sidecar, *words)
        files.wait_until_complete(acknowledged.contents)
        assert sidecar.stop() == 0
    files.check_final(acknowledged.contents)


def test_an_erasure_is_completed_after_a_kill_before_the_purge(data_dir: Path) -> None:
    acknowledged = AcknowledgedMessages()
    for number in range(2):
        erase_and_kill(data_dir, number, acknowledged)
