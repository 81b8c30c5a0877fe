"""`memsidecar reindex`: the index made anew from the journal, while no sidecar runs on the directory."""

import shutil
import subprocess
from pathlib import Path

import pytest

from memsidecar.v1 import memory_pb2 as pb
from tests.scenarios.library import Library
from tests.scenarios.retrieval import until_retrieval_is_there
from tests.scenarios.talk import Talk
from tests.support.forked import run
from tests.support.process import START_SECONDS, Client, SidecarProcess
from tests.support.waiting import until

PEANUTS = "My daughter Emma is allergic to peanuts, so we never keep them at home."


def reindex(data_dir: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    return run("reindex", "--data-dir", str(data_dir), *flags, timeout=START_SECONDS)


def furnish(client: Client) -> None:
    talk = Talk(client, "s", "home", "alice")
    talk.say(PEANUTS)
    talk.turns(20)
    Talk(client, "erased", "home", "alice").say("I am allergic to regret.")
    Talk(client, "erased", "home", "alice").clear()
    Library(client, "home").put("returns", "Goods can be sent back within thirty days.")


def assert_found(client: Client) -> None:
    talk = Talk(client, "s", "home", "alice")
    for mode, query in (
        (pb.SEARCH_MODE_SEMANTIC, "what is her child allergic to"),
        (pb.SEARCH_MODE_KEYWORD, "peanuts"),
        (pb.SEARCH_MODE_HYBRID, "what is her child allergic to"),
    ):
        answer = talk.search(query, mode=mode)
        assert answer.hits[0].message.content == PEANUTS
        assert not answer.degraded
        assert {hit.session_id for hit in answer.hits} == {"s"}
    assert Library(client, "home").find("can I return it") == ["returns"]


def test_an_index_that_was_lost_is_made_anew(data_dir: Path) -> None:
    with SidecarProcess(data_dir, "--index", "lancedb") as sidecar:
        until_retrieval_is_there(sidecar)
        with sidecar.client() as client:
            furnish(client)
            assert_found(client)
        assert sidecar.stop() == 0
        shutil.rmtree(data_dir / "index")
        done = reindex(data_dir)
        assert (done.returncode, done.stdout) == (0, "")
        assert "indexing" in done.stderr and "100%" in done.stderr and "Traceback" not in done.stderr
        sidecar.start()
        until_retrieval_is_there(sidecar)
        with sidecar.client() as client:
            assert_found(client)


@pytest.mark.parametrize("instead", ["off", "volatile"])
def test_an_index_that_is_not_used_any_more_goes_and_comes_back_when_it_is(data_dir: Path, instead: str) -> None:
    with SidecarProcess(data_dir, "--index", "lancedb") as sidecar, sidecar.client() as client:
        until_retrieval_is_there(sidecar)
        furnish(client)
        until(lambda: any((data_dir / "index").iterdir()))
        assert sidecar.stop() == 0
    with SidecarProcess(data_dir, "--index", instead) as sidecar:
        assert not (data_dir / "index").exists()
        assert f"removed {data_dir / 'index'}: with index = {instead}" in sidecar.log()
        assert sidecar.stop() == 0
    with SidecarProcess(data_dir, "--index", "lancedb") as sidecar, sidecar.client() as client:
        until_retrieval_is_there(sidecar)
        assert_found(client)


def test_an_index_is_made_anew_for_another_embedder(data_dir: Path) -> None:
    with SidecarProcess(data_dir) as sidecar:
        with sidecar.client() as client:
            furnish(client)
        assert sidecar.stop() == 0
    smaller = ("--embedder-dimensions", "64")
    done = reindex(data_dir, *smaller)
    assert done.returncode == 0 and "100%" in done.stderr
    with SidecarProcess(data_dir, "--index", "lancedb", *smaller) as sidecar:
        until_retrieval_is_there(sidecar)
        with sidecar.client() as client:
            assert_found(client)


def test_a_directory_with_a_sidecar_on_it_is_refused(data_dir: Path) -> None:
    with SidecarProcess(data_dir) as sidecar, sidecar.client() as client:
        done = reindex(data_dir)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"{data_dir} is in use by another memsidecar" in done.stderr
        assert str(sidecar.process.pid) in done.stderr and "Traceback" not in done.stderr
        assert Talk(client, "undisturbed").say("hello").sequence == 1


def test_an_embedder_that_is_away_is_told_and_no_crash(data_dir: Path) -> None:
    with SidecarProcess(data_dir) as sidecar:
        with sidecar.client() as client:
            furnish(client)
        assert sidecar.stop() == 0
    nowhere = ("--embedder", "openai", "--embedder-url", "http://127.0.0.1:1/v1", "--embedder-model", "m")
    done = reindex(data_dir, *nowhere)
    assert (done.returncode, done.stdout) == (1, "")
    assert "127.0.0.1:1" in done.stderr and "Traceback" not in done.stderr
