"""Without a dependency, a context is built in time from the rest, and reports its degradations."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import grpc
import pytest

from memsidecar.v1.context_pb2 import BuildContextResponse
from tests.context_wire.agent import Agent, degradations, new_agent, section_of, stored_messages
from tests.context_wire.summary_model import add_turns_about_huts
from tests.embedding.endpoint import Endpoint
from tests.endpoint.server import Server, silent_until
from tests.faults_index.damage import all_manifests_garbage, data_file_zeroed, metadata_garbage
from tests.faults_index.index_files import IndexFiles
from tests.scenarios.index_readiness import until_index_is_ready
from tests.scenarios.knowledge_client import PROFILE, fact
from tests.support.process import SidecarProcess
from tests.support.waiting import until

NOWHERE = "http://127.0.0.1:1/v1"
DEADLINES = (2.0, 0.3)
LONGEST_DEADLINE = 60.0
OUT_OF_TIME = {"DEADLINE", "EMBEDDER_UNAVAILABLE", "INDEX_UNAVAILABLE"}
"Degradations that are also reported when a source runs out of time."
QUERY = "Where is the spare key?"
KEY = "The spare key is under the blue pot."
VOLATILE = ("--index", "volatile")

BLOCKING_LANCEDB = """
import importlib, pathlib, sys, time
here = pathlib.Path(__file__).parent
while (here / "wait").exists():
    time.sleep(0.01)
sys.path.remove(str(here))
del sys.modules["lancedb"]
importlib.import_module("lancedb")
"""


def embedder_at(url: str) -> tuple[str, ...]:
    return ("--embedder", "openai", "--embedder-model", "some", "--embedder-dimensions", "4", "--embedder-url", url)


def model_at(url: str) -> tuple[str, ...]:
    return ("--model-url", url, "--model-name", "some/model", "--model-timeout-seconds", "1")


@dataclass(frozen=True)
class Scene:
    agent: Agent

    def build(self, seconds: float) -> BuildContextResponse:
        """Build a context with all that needs neither index nor embedder nor model; fails when it is late.

        A deadline that this machine cannot meet at the moment is doubled: what waits for all of a deadline, however
        long, is late with every one.
        """
        while True:
            try:
                return self._build(seconds)
            except grpc.RpcError as error:
                if error.code() is not grpc.StatusCode.DEADLINE_EXCEEDED or seconds > LONGEST_DEADLINE:
                    raise
                seconds *= 2

    def _build(self, seconds: float) -> BuildContextResponse:
        built = self.agent.build(seconds=seconds, query=QUERY, system_prompt="Be kind.", documents=["A leaflet."])
        assert "Be kind." in built.messages[0].content and "name: Priya Nair" in built.memory_text
        assert "A leaflet." in built.memory_text
        assert stored_messages(built.messages)[-1].content == "Hut 2 has 9 beds."
        return built

    def found(self, built: BuildContextResponse) -> bool:
        return any(KEY in item.preview for item in section_of(built, "EPISODIC").items)


@contextmanager
def scene(data_dir: Path, *flags: str) -> Iterator[Scene]:
    with SidecarProcess(data_dir, *flags) as sidecar, sidecar.client() as client:
        if "--index" in flags:
            until_index_is_ready(sidecar)
        agent = new_agent(client, user=True)
        fill(agent)
        yield Scene(agent)
        assert "Traceback" not in sidecar.log()


def fill(agent: Agent) -> None:
    agent.knowledge_client.put_facts(fact("Priya Nair", PROFILE, "name"))
    Agent(agent.client, f"{agent.session_id}-before", user_id=agent.user_id).conversation.add(KEY)
    add_turns_about_huts(agent, 3)


def check(here: Scene, expected: set[str], tolerated: Sequence[str] = ()) -> None:
    """Check several times at each deadline: a hanging dependency must not use up the threads."""
    for seconds in DEADLINES:
        for _ in range(6):
            check_once(here, seconds, expected, expected | set(tolerated))


def check_once(here: Scene, seconds: float, least: set[str], most: set[str]) -> None:
    """Check the degradations; if time is short, with a longer deadline."""
    while not least <= (missing := degradations(here.build(seconds))) <= most:
        assert missing - most <= OUT_OF_TIME and seconds < LONGEST_DEADLINE, (seconds, missing)
        seconds *= 2


def test_with_all_dependencies_there_are_no_degradations(data_dir: Path) -> None:
    with Endpoint() as embedder, scene(data_dir, *VOLATILE, *embedder_at(embedder.url)) as here:
        check(here, set())
        assert here.found(here.build(2))


def test_without_an_index_recent_messages_are_ranked(data_dir: Path) -> None:
    with scene(data_dir) as here:
        check(here, {"INDEX_UNAVAILABLE"})
        assert here.found(here.build(2))


def test_without_an_embedder_keywords_find(data_dir: Path) -> None:
    with scene(data_dir, *VOLATILE, *embedder_at(NOWHERE)) as here:
        check(here, {"EMBEDDER_UNAVAILABLE"})
        assert here.found(here.build(2))


def test_an_embedder_that_hangs_does_not_delay_contexts(data_dir: Path) -> None:
    release = Event()
    with Server(always=silent_until(release)) as embedder:
        with scene(data_dir, *VOLATILE, *embedder_at(embedder.url)) as here:
            for seconds in DEADLINES * 2:
                missing = degradations(here.build(seconds))
                assert missing and missing <= {"EMBEDDER_UNAVAILABLE", "DEADLINE"}, (seconds, missing)
        release.set()


def test_without_the_model_derived_knowledge_may_be_stale(data_dir: Path) -> None:
    with scene(data_dir, *VOLATILE, *model_at(NOWHERE)) as here:
        here.build(0.3)
        until(lambda: "STALE" in degradations(here.build(2)))
        check(here, {"STALE"})


def test_without_any_dependency_there_is_still_a_context(data_dir: Path) -> None:
    release = Event()
    with Server(always=silent_until(release)) as hangs:
        with scene(data_dir, *embedder_at(hangs.url), *model_at(hangs.url)) as here:
            until(lambda: "STALE" in degradations(here.build(2)))
            for seconds in DEADLINES * 2:
                missing = degradations(here.build(seconds))
                assert "STALE" in missing and missing & {"INDEX_UNAVAILABLE", "EMBEDDER_UNAVAILABLE", "DEADLINE"}
        release.set()


def block_lancedb(folder: Path) -> Path:
    """Block the import of LanceDB in processes with the folder in their path until the returned file is deleted."""
    folder.mkdir()
    (folder / "lancedb.py").write_text(BLOCKING_LANCEDB)
    held = folder / "wait"
    held.touch()
    return held


@pytest.mark.slow  # LanceDB is loaded twice
def test_a_damaged_index_is_unavailable_until_it_is_rebuilt(data_dir: Path) -> None:
    flags = ("--index", "lancedb", "--index-linger-ms", "0")
    with scene(data_dir, *flags) as here:
        until(lambda: not degradations(here.build(2)) and here.found(here.build(2)))
        IndexFiles(data_dir).wait_until_complete(places(here.agent))
    for damage in (data_file_zeroed, metadata_garbage, all_manifests_garbage):
        damage(IndexFiles(data_dir))
    with ExitStack() as opened:
        held = block_lancedb(data_dir.with_name("held"))
        sidecar = opened.enter_context(SidecarProcess(data_dir, *flags, environ={"PYTHONPATH": str(held.parent)}))
        client = opened.enter_context(sidecar.client())
        again = Scene(Agent(client, here.agent.session_id, user_id=here.agent.user_id))
        for seconds in (LONGEST_DEADLINE, *DEADLINES):  # the first call of a process loads the vocabulary
            assert degradations(again.build(seconds)) == {"INDEX_UNAVAILABLE"}, seconds
        held.unlink()
        until(lambda: not degradations(again.build(2)))
        assert again.found(again.build(2))


def places(agent: Agent) -> list[tuple[str, int]]:
    before = [(f"{agent.session_id}-before", 1)]
    return before + [(agent.session_id, sequence) for sequence in range(1, 7)]
