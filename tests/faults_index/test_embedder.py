"""The embeddings endpoint is down, slow or wrong: adds are unaffected, and keyword search works."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest

from memsidecar.v1 import memory_pb2 as pb
from tests.embedding.endpoint import DIMENSIONS, Endpoint, well, with_first
from tests.endpoint.server import Behaviour, Handler, Listener, Request, hung_up, silent_until, status
from tests.faults_index.acknowledged import FLAGS, AcknowledgedMessages, degradations
from tests.faults_index.index_files import IndexFiles, until
from tests.support.attempts import Attempts
from tests.support.process import CALL_SECONDS, Client, SidecarProcess

TIMEOUT_SECONDS = 0.5
ATTEMPTS = 10


class FixedPortEndpoint(Endpoint):
    """An endpoint with a port that is chosen before it is started."""

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


def check_adds(acknowledged: AcknowledgedMessages, client: Client, session: str) -> None:
    for _ in range(5):
        acknowledged.add(client, session)


def check_degraded(acknowledged: AcknowledgedMessages, client: Client) -> None:
    """Check that keyword search finds messages, and that the response has the degradation."""
    for place in acknowledged.sample():
        assert degradations("EMBEDDER_UNAVAILABLE") <= acknowledged.check_found(client, [place])


def has_vectors(acknowledged: AcknowledgedMessages, client: Client) -> bool:
    """Return whether each message is the nearest to its own text, and so has its vector."""
    for text in acknowledged.contents.values():
        answer = acknowledged.search(client, text, mode=pb.SEARCH_MODE_SEMANTIC)
        if answer.degraded or [hit.message.content for hit in answer.hits][:1] != [text]:
            return False
    return True


def check_recovered(acknowledged: AcknowledgedMessages, client: Client, data_dir: Path) -> None:
    IndexFiles(data_dir).wait_until_complete(acknowledged.contents)
    until(lambda: has_vectors(acknowledged, client), "all have vectors")


WRONG: dict[str, Behaviour] = {
    "wrong dimensions": with_first(embedding=[1.0, 2.0]),
    "key refused": status(401),
}


@pytest.mark.parametrize("wrong", list(WRONG))
def test_invalid_answers_disable_semantic_search_only_while_they_last(data_dir: Path, wrong: str) -> None:
    acknowledged = AcknowledgedMessages()
    with Endpoint() as endpoint, SidecarProcess(data_dir, *flags(endpoint)) as sidecar, sidecar.client() as client:
        acknowledged.add(client, "before")
        check_recovered(acknowledged, client, data_dir)
        endpoint.always = WRONG[wrong]
        check_adds(acknowledged, client, "s")
        check_degraded(acknowledged, client)
        endpoint.always = well
        check_recovered(acknowledged, client, data_dir)
        assert sidecar.stop() == 0
    IndexFiles(data_dir).check_final(acknowledged.contents)


@pytest.fixture
def silent() -> Iterator[Behaviour]:
    release = threading.Event()
    yield silent_until(release)
    release.set()


class SidecarWithEndpoint:
    """A sidecar with its own endpoint, which is unavailable and comes back."""

    def __init__(self, data_dir: Path, *, up: bool) -> None:
        self.acknowledged = AcknowledgedMessages()
        self.endpoint = FixedPortEndpoint()
        if up:
            self.endpoint.__enter__()
        self.sidecar = SidecarProcess(data_dir, *flags(self.endpoint))
        self.client = self.sidecar.client()

    def check_unavailable(self) -> None:
        check_adds(self.acknowledged, self.client, "away")
        check_degraded(self.acknowledged, self.client)
        check_adds(self.acknowledged, self.client, "away")
        self.acknowledged.check_readable(self.client)

    def close(self) -> None:
        self.client.close()
        assert self.sidecar.stop() == 0
        self.endpoint.__exit__()


def test_reads_and_adds_do_not_wait_for_an_embedder_that_hangs(tmp_path: Path, silent: Behaviour) -> None:
    """All search threads wait for the embedder while reads and adds are answered.

    The timeout of a search is two seconds. A machine that needs longer for the reads gets more attempts. Reads
    that waited for searches would be answered after them in each attempt.
    """
    with Endpoint(always=silent) as endpoint:
        assert any(reads_and_adds_overtake(tmp_path / f"data-{at}", endpoint) for at in range(ATTEMPTS))


def reads_and_adds_overtake(data_dir: Path, endpoint: Endpoint) -> bool:
    acknowledged, before = AcknowledgedMessages(), len(endpoint.requests)
    patient = (*flags(endpoint)[:-1], "600")
    with SidecarProcess(data_dir, *patient, "--read-threads", "2") as sidecar, sidecar.client() as client:
        acknowledged.add(client, "s")
        request = pb.SearchRequest(query="cat", user_id=acknowledged.user_id)
        searches = [client.memory.Search.future(request, timeout=CALL_SECONDS) for _ in range(2)]
        until(lambda: len(endpoint.requests) >= before + 2, "both wait", pause_seconds=0.001)
        acknowledged.add(client, "s")
        acknowledged.check_readable(client)
        overtook = not any(search.done() for search in searches)
        for search in searches:
            search.cancel()
        sidecar.kill()
    return overtook


def sidecars_with_unavailable_endpoints(folder: Path, silent: Behaviour) -> list[SidecarWithEndpoint]:
    lines = {
        "down at start": SidecarWithEndpoint(folder / "down-at-start", up=False),
        "down later": SidecarWithEndpoint(folder / "down-later", up=True),
        "hanging": SidecarWithEndpoint(folder / "hanging", up=True),
    }
    for name in ("down later", "hanging"):
        line = lines[name]
        line.acknowledged.add(line.client, "before")
        check_recovered(line.acknowledged, line.client, line.sidecar.data_dir)
    lines["down later"].endpoint.always = hung_up  # also for open connections
    lines["down later"].endpoint.__exit__()
    lines["hanging"].endpoint.always = silent
    for line in lines.values():
        line.check_unavailable()
    for name in ("down at start", "down later"):
        lines[name].endpoint.always = well
        lines[name].endpoint.__enter__()
    lines["hanging"].endpoint.always = well
    return list(lines.values())


def test_an_unavailable_endpoint_disables_semantic_search_only(tmp_path: Path, silent: Behaviour) -> None:
    for line in sidecars_with_unavailable_endpoints(tmp_path, silent):
        line.acknowledged.check_readable(line.client)
        line.close()


@pytest.mark.adversary
def test_when_the_endpoint_is_back_all_messages_get_vectors(
    tmp_path: Path, silent: Behaviour, attempts: Attempts
) -> None:
    """Three sidecars run at once, because an open circuit stays open for half a minute."""
    attack = attempts.of(
        "an embedder that is down at the start, goes down later, or never responds",
        "all messages are found by their words meanwhile; all have vectors when it is back",
    )
    with attack.attempt(3):
        for line in sidecars_with_unavailable_endpoints(tmp_path, silent):
            check_recovered(line.acknowledged, line.client, line.sidecar.data_dir)
            line.close()
            IndexFiles(line.sidecar.data_dir).check_final(line.acknowledged.contents)


def test_a_rejected_text_does_not_prevent_indexing_of_others(data_dir: Path) -> None:
    def picky(handler: Handler, request: Request) -> None:
        (status(400) if any("poison" in text for text in request.texts) else well)(handler, request)

    acknowledged = AcknowledgedMessages()
    with (
        Endpoint(always=picky) as endpoint,
        SidecarProcess(data_dir, *flags(endpoint)) as sidecar,
        sidecar.client() as client,
    ):
        acknowledged.add(client, "s")
        acknowledged.add(client, "s", "poison")
        acknowledged.add(client, "s")
        IndexFiles(data_dir).wait_until_complete(acknowledged.contents)
