"""The endpoint that makes vectors is away, slow or wrong: nobody who adds notices, and words are found meanwhile."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest

from memsidecar.v1 import memory_pb2 as pb
from tests.embedding.endpoint import DIMENSIONS, Endpoint, well, with_first
from tests.endpoint.server import Behaviour, Handler, Listener, Request, hung_up, silent_until, status
from tests.faults_index.acknowledged import FLAGS, Kept, lack
from tests.faults_index.index_files import IndexFiles, until
from tests.support.process import CALL_SECONDS, Client, SidecarProcess

TIMEOUT_SECONDS = 0.5
ATTEMPTS = 10


class Telephone(Endpoint):
    """An endpoint on a port that is known before it answers."""

    def __init__(self) -> None:
        super().__init__()
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))
            self.number: int = held.getsockname()[1]

    @property
    def port(self) -> int:
        return self.number

    def __enter__(self) -> Self:
        self._server = Listener(("127.0.0.1", self.number), Handler)
        self._server.endpoint = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self


def flags(endpoint: Endpoint) -> tuple[str, ...]:
    named = ("--embedder", "openai", "--embedder-url", endpoint.url, "--embedder-model", "m")
    sized = ("--embedder-dimensions", str(DIMENSIONS), "--embedder-timeout-seconds", str(TIMEOUT_SECONDS))
    return (*FLAGS, *named, *sized)


def check_adds(kept: Kept, client: Client, session: str) -> None:
    for _ in range(5):
        kept.say(client, session)


def check_degraded(kept: Kept, client: Client) -> None:
    """Check that messages are found by words, and that the answer says what was missing."""
    for place in kept.some_places():
        assert lack("EMBEDDER_UNAVAILABLE") <= kept.check_found(client, [place])


def has_meaning(kept: Kept, client: Client) -> bool:
    """Each message is the nearest to its own text: so each has its vector."""
    for text in kept.said.values():
        answer = kept.search(client, text, mode=pb.SEARCH_MODE_SEMANTIC)
        if answer.degraded or [hit.message.content for hit in answer.hits][:1] != [text]:
            return False
    return True


def check_back(kept: Kept, client: Client, data_dir: Path) -> None:
    IndexFiles(data_dir).wait_until_complete(kept.said)
    until(lambda: has_meaning(kept, client), "all have a meaning")


WRONG: dict[str, Behaviour] = {
    "wrong dimensions": with_first(embedding=[1.0, 2.0]),
    "key refused": status(401),
}


@pytest.mark.parametrize("wrong", list(WRONG))
def test_a_wrong_answer_costs_the_meaning_only_and_only_while_it_lasts(data_dir: Path, wrong: str) -> None:
    kept = Kept()
    with Endpoint() as endpoint, SidecarProcess(data_dir, *flags(endpoint)) as sidecar, sidecar.client() as client:
        kept.say(client, "before")
        check_back(kept, client, data_dir)
        endpoint.always = WRONG[wrong]
        check_adds(kept, client, "s")
        check_degraded(kept, client)
        endpoint.always = well
        check_back(kept, client, data_dir)
        assert sidecar.stop() == 0
    IndexFiles(data_dir).check_settled(kept.said)


@pytest.fixture
def silent() -> Iterator[Behaviour]:
    release = threading.Event()
    yield silent_until(release)
    release.set()


class Line:
    """One sidecar with an endpoint of its own, which is away in some way, and comes back."""

    def __init__(self, data_dir: Path, *, up: bool) -> None:
        self.kept = Kept()
        self.endpoint = Telephone()
        if up:
            self.endpoint.__enter__()
        self.sidecar = SidecarProcess(data_dir, *flags(self.endpoint))
        self.client = self.sidecar.client()

    def check_away(self) -> None:
        check_adds(self.kept, self.client, "away")
        check_degraded(self.kept, self.client)
        check_adds(self.kept, self.client, "away")
        self.kept.check_readable(self.client)

    def close(self) -> None:
        self.client.close()
        assert self.sidecar.stop() == 0
        self.endpoint.__exit__()


def test_reads_and_adds_do_not_wait_for_an_embedder_that_hangs(tmp_path: Path, silent: Behaviour) -> None:
    """As many searches wait as there are threads for them, and they still wait when reads and adds are answered.

    A search gives the embedder two seconds. A machine that needs longer for the reads is given more attempts. Reads
    that waited for searches would be answered behind them in each one.
    """
    with Endpoint(always=silent) as endpoint:
        assert any(reads_and_adds_overtake(tmp_path / f"data-{at}", endpoint) for at in range(ATTEMPTS))


def reads_and_adds_overtake(data_dir: Path, endpoint: Endpoint) -> bool:
    kept, before = Kept(), len(endpoint.requests)
    patient = (*flags(endpoint)[:-1], "600")
    with SidecarProcess(data_dir, *patient, "--read-threads", "2") as sidecar, sidecar.client() as client:
        kept.say(client, "s")
        request = pb.SearchRequest(query="cat", user_id=kept.user_id)
        under_way = [client.memory.Search.future(request, timeout=CALL_SECONDS) for _ in range(2)]
        until(lambda: len(endpoint.requests) >= before + 2, "both wait", pause_seconds=0.001)
        kept.say(client, "s")
        kept.check_readable(client)
        overtook = not any(search.done() for search in under_way)
        for search in under_way:
            search.cancel()
        sidecar.kill()
    return overtook


def lines_that_are_away(folder: Path, silent: Behaviour) -> list[Line]:
    lines = {
        "down at start": Line(folder / "down-at-start", up=False),
        "down later": Line(folder / "down-later", up=True),
        "hanging": Line(folder / "hanging", up=True),
    }
    for name in ("down later", "hanging"):
        line = lines[name]
        line.kept.say(line.client, "before")
        check_back(line.kept, line.client, line.sidecar.data_dir)
    lines["down later"].endpoint.always = hung_up  # whoever is connected already
    lines["down later"].endpoint.__exit__()
    lines["hanging"].endpoint.always = silent
    for line in lines.values():
        line.check_away()
    for name in ("down at start", "down later"):
        lines[name].endpoint.always = well
        lines[name].endpoint.__enter__()
    lines["hanging"].endpoint.always = well
    return list(lines.values())


def test_an_endpoint_that_is_away_costs_the_meaning_only(tmp_path: Path, silent: Behaviour) -> None:
    for line in lines_that_are_away(tmp_path, silent):
        line.kept.check_readable(line.client)
        line.close()


@pytest.mark.kills
def test_when_the_endpoint_is_back_everything_gets_its_vector(tmp_path: Path, silent: Behaviour) -> None:
    """Three sidecars at once, because it takes half a minute until an endpoint is asked again."""
    for line in lines_that_are_away(tmp_path, silent):
        check_back(line.kept, line.client, line.sidecar.data_dir)
        line.close()
        IndexFiles(line.sidecar.data_dir).check_settled(line.kept.said)


def test_a_text_that_the_endpoint_refuses_does_not_keep_the_rest_from_the_index(data_dir: Path) -> None:
    def picky(handler: Handler, request: Request) -> None:
        (status(400) if any("poison" in text for text in request.texts) else well)(handler, request)

    kept = Kept()
    with (
        Endpoint(always=picky) as endpoint,
        SidecarProcess(data_dir, *flags(endpoint)) as sidecar,
        sidecar.client() as client,
    ):
        kept.say(client, "s")
        kept.say(client, "s", "poison")
        kept.say(client, "s")
        IndexFiles(data_dir).wait_until_complete(kept.said)
