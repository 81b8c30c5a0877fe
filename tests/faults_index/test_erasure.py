"""What was erased: no search finds it from the acknowledgement on, and a moment later no file of the index has it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import SCOPE_NAMESPACE
from tests.faults_index.acknowledged import FLAGS, Kept, new_word
from tests.faults_index.index_files import IndexFiles, files_with, until
from tests.scenarios.library import Library
from tests.support.process import Client, SidecarProcess

MODES = (pb.SEARCH_MODE_KEYWORD, pb.SEARCH_MODE_SEMANTIC, pb.SEARCH_MODE_HYBRID, pb.SEARCH_MODE_SUBSTRING)


@pytest.fixture(scope="module")
def erasing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    with SidecarProcess(tmp_path_factory.mktemp("erasing") / "data", *FLAGS) as running:
        yield running


def furnish(sidecar: SidecarProcess, client: Client, namespace: str) -> Kept:
    """Two sessions of one user, in RAM and in the files; what is looked for later is really there before."""
    kept = Kept(namespace)
    for session in ("erased", "stays"):
        kept.say_many(client, session, 20)
        kept.say(client, session, id=f"id-{new_word()}", name=f"name{new_word()}")
    files = IndexFiles(sidecar.data_dir, namespace)
    files.wait_until_complete(kept.said)
    kept.check_found(client)
    kept.check_found(client, scope=SCOPE_NAMESPACE)
    assert files_with(files.directory, *kept.words.values()), "the words can be seen in the files"
    return kept


def check_not_found(kept: Kept, client: Client, words: list[str], contents: set[str]) -> None:
    """By nobody: neither from RAM nor from the table."""
    for mode in MODES:
        for scope in ({}, {"scope": SCOPE_NAMESPACE}):
            for query in (words[0], words[-1], "cat violin invoice"):
                answer = kept.search(client, query, mode=mode, limit=1000, **scope)
                assert not contents & {hit.message.content for hit in answer.hits}, (mode, scope)


@pytest.mark.parametrize("erase", [Kept.clear, Kept.delete], ids=["Clear", "DeleteSession"])
def test_an_erased_session_is_found_by_nobody_and_in_no_file(
    erasing: SidecarProcess, erase: Callable[[Kept, Client, str], list[str]]
) -> None:
    with erasing.client() as client:
        kept = furnish(erasing, client, erase.__name__)
        contents = {text for (session, _), text in kept.said.items() if session == "erased"}
        ids = [one.id for one in client.all("erased", namespace=kept.namespace, user_id=kept.user_id)]
        names = [one.name for one in client.all("erased", namespace=kept.namespace, user_id=kept.user_id) if one.name]
        words = erase(kept, client, "erased")
        check_not_found(kept, client, words, contents)
        wait_until_gone(erasing, *words, *ids, *names)
        check_not_found(kept, client, words, contents)
        assert kept.lacks_nothing(client)
        IndexFiles(erasing.data_dir, kept.namespace).wait_until_complete(kept.said)


def wait_until_gone(sidecar: SidecarProcess, *texts: str) -> None:
    directory = sidecar.data_dir / "index"
    until(lambda: not files_with(directory, *texts), "the words are in no file")


def test_an_erased_document_is_found_by_nobody_and_in_no_file(erasing: SidecarProcess) -> None:
    with erasing.client() as client:
        library = Library(client, "documents", "alice")
        words = [new_word() for _ in range(50)]
        library.put("stays", "Goods can be sent back within thirty days.")
        library.put("erased", " ".join(f"The word {word} is one of the secrets of this text." for word in words))
        directory = erasing.data_dir / "index"
        until(lambda: files_with(directory, words[0]), "the words can be seen in the files")
        assert library.find(words[0])[:1] == ["erased"]
        library.delete("erased")
        assert "erased" not in library.find(words[0])
        wait_until_gone(erasing, *words)
        assert library.find("can I send goods back") == ["stays"]


def test_a_namespace_of_which_all_is_erased_leaves_nothing_behind(erasing: SidecarProcess) -> None:
    with erasing.client() as client:
        kept = furnish(erasing, client, "emptied")
        words = kept.delete(client, "erased") + kept.delete(client, "stays")
        wait_until_gone(erasing, *words)
        until(lambda: not IndexFiles(erasing.data_dir, "emptied").entries(), "no file of the namespace is left")
        kept.say(client, "again")
        IndexFiles(erasing.data_dir, "emptied").wait_until_complete(kept.said)


LINGERING = (*FLAGS[:-1], "400")
"Milliseconds in which what follows an erasure gathers, so that both are indexed together."


def erase_and_kill(data_dir: Path, number: int, kept: Kept) -> None:
    """The table's watermark is beyond the erasure when the process ends, and its files are not purged yet."""
    files = IndexFiles(data_dir)
    with SidecarProcess(data_dir, *LINGERING) as sidecar, sidecar.client() as client:
        kept.say_many(client, f"stays-{number}", 100)
        kept.say_many(client, f"erased-{number}", 3)
        files.wait_until_complete(kept.said)
        before = files.version
        words = kept.clear(client, f"erased-{number}")
        kept.say(client, f"stays-{number}")
        # A version is never taken back, so this comes to its end even where the purge was faster.
        until(lambda: files.version >= before + 2, "the deletion, and what came behind it", pause_seconds=0.001)
        sidecar.kill()
        assert files_with(files.directory, *words), "it was killed in time"
        sidecar.start()
        with sidecar.client() as again:
            kept.check_readable(again)
        wait_until_gone(sidecar, *words)
        files.wait_until_complete(kept.said)
        assert sidecar.stop() == 0
    files.check_settled(kept.said)


def test_an_erasure_outlives_a_kill_before_the_files_are_purged(data_dir: Path) -> None:
    kept = Kept()
    for number in range(2):
        erase_and_kill(data_dir, number, kept)
