"""`memsidecar reindex`: rebuild the index from the journal, while no sidecar uses the directory."""

import shutil
import subprocess
from pathlib import Path

import pytest

from memsidecar.v1 import memory_pb2 as pb
from tests.scenarios.conversation import Conversation
from tests.scenarios.document_client import DocumentClient
from tests.scenarios.index_readiness import until_index_is_ready
from tests.support.forked import run
from tests.support.process import START_SECONDS, Client, SidecarProcess
from tests.support.waiting import until

PEANUTS = "My daughter Emma is allergic to peanuts, so we never keep them at home."


def reindex(data_dir: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    return run("reindex", "--data-dir", str(data_dir), *flags, timeout=START_SECONDS)


def fill(client: Client) -> None:
    conversation = Conversation(client, "s", "home", "alice")
    conversation.add(PEANUTS)
    conversation.add_turns(20)
    Conversation(client, "erased", "home", "alice").add("I am allergic to regret.")
    Conversation(client, "erased", "home", "alice").clear()
    DocumentClient(client, "home").put("returns", "Goods can be sent back within thirty days.")


def assert_found(client: Client) -> None:
    conversation = Conversation(client, "s", "home", "alice")
    for mode, query in (
        (pb.SEARCH_MODE_SEMANTIC, "what is her child allergic to"),
        (pb.SEARCH_MODE_KEYWORD, "peanuts"),
        (pb.SEARCH_MODE_HYBRID, "what is her child allergic to"),
    ):
        answer = conversation.search(query, mode=mode)
        assert answer.hits[0].message.content == PEANUTS
        assert not answer.degraded
        assert {hit.session_id for hit in answer.hits} == {"s"}
    assert DocumentClient(client, "home").find("can I return it") == ["returns"]


def test_a_deleted_index_is_rebuilt(data_dir: Path) -> None:
    with SidecarProcess(data_dir, "--index", "lancedb") as sidecar:
        until_index_is_ready(sidecar)
        with sidecar.client() as client:
            fill(client)
            assert_found(client)
        assert sidecar.stop() == 0
        shutil.rmtree(data_dir / "index")
        done = reindex(data_dir)
        assert (done.returncode, done.stdout) == (0, "")
        assert "indexing" in done.stderr and "100%" in done.stderr and "Traceback" not in done.stderr
        sidecar.start()
        until_index_is_ready(sidecar)
        with sidecar.client() as client:
            assert_found(client)


@pytest.mark.parametrize("instead", ["off", "volatile"])
def test_an_unused_index_is_removed_and_rebuilt_when_it_is_enabled(data_dir: Path, instead: str) -> None:
    with SidecarProcess(data_dir, "--index", "lancedb") as sidecar, sidecar.client() as client:
        until_index_is_ready(sidecar)
        fill(client)
        until(lambda: any((data_dir / "index").iterdir()))
        assert sidecar.stop() == 0
    with SidecarProcess(data_dir, "--index", instead) as sidecar:
        assert not (data_dir / "index").exists()
        assert f"removed {data_dir / 'index'}: with index = {instead}" in sidecar.log()
        assert sidecar.stop() == 0
    with SidecarProcess(data_dir, "--index", "lancedb") as sidecar, sidecar.client() as client:
        until_index_is_ready(sidecar)
        assert_found(client)


def test_an_index_is_rebuilt_for_another_embedder(data_dir: Path) -> None:
    with SidecarProcess(data_dir) as sidecar:
        with sidecar.client() as client:
            fill(client)
        assert sidecar.stop() == 0
    smaller = ("--embedder-dimensions", "64")
    done = reindex(data_dir, *smaller)
    assert done.returncode == 0 and "100%" in done.stderr
    with SidecarProcess(data_dir, "--index", "lancedb", *smaller) as sidecar:
        until_index_is_ready(sidecar)
        with sidecar.client() as client:
            assert_found(client)


def test_a_directory_in_use_is_refused(data_dir: Path) -> None:
    with SidecarProcess(data_dir) as sidecar, sidecar.client() as client:
        done = reindex(data_dir)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"{data_dir} is in use by another memsidecar" in done.stderr
        assert str(sidecar.process.pid) in done.stderr and "Traceback" not in done.stderr
        assert Conversation(client, "undisturbed").add("hello").sequence == 1


def test_an_unavailable_embedder_is_reported_without_a_traceback(data_dir: Path) -> None:
    with SidecarProcess(data_dir) as sidecar:
        with sidecar.client() as client:
            fill(client)
        assert sidecar.stop() == 0
    nowhere = ("--embedder", "openai", "--embedder-url", "http://127.0.0.1:1/v1", "--embedder-model", "m")
    done = reindex(data_dir, *nowhere)
    assert (done.returncode, done.stdout) == (1, "")
    assert "127.0.0.1:1" in done.stderr and "Traceback" not in done.stderr
