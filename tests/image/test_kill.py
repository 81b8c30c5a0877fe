"""A container that is killed under load: nothing acknowledged is lost, and its log has no error."""

import shutil
import time
from pathlib import Path

import pytest

from tests.image.container import STOP_SECONDS, Container, Image, require_namespaces

BEGUN, FILLED, WRITTEN_BEFORE_KILL = 400, 4_000, 300
# Maintenance then builds an index of vectors, in temporary files. The default is more than a test can add. An index of
# fewer than 2,000 has one cluster: of two, LanceDB sometimes finds one empty, and warns.
VECTOR_INDEX = {"MEMSIDECAR_VECTOR_INDEX_MESSAGES": "300"}
PATIENCE_SECONDS = 120


@pytest.fixture
def data(image: Image, tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    shutil.chown(folder, *image.config.user)
    return folder


def test_a_killed_container_loses_nothing_and_logs_no_error(image: Image, data: Path, tmp_path: Path) -> None:
    require_namespaces()
    with Container(tmp_path, image, data, VECTOR_INDEX) as container:
        assert container.agent("fill", "begun") == {"added": BEGUN}
        _await_vector_index(container, data, segments=1)
        assert container.agent("fill", "filled") == {"added": FILLED}
        _await_vector_index(container, data, segments=2)
        written = _kill_while_an_agent_writes(container)
    with Container(tmp_path, image, data, VECTOR_INDEX) as restarted:
        stored = restarted.agent("read")
        assert restarted.stop() == 0
    assert stored["begun"] == list(range(1, BEGUN + 1))
    assert stored["filled"] == list(range(1, FILLED + 1))
    # One more may be stored: committed, and not acknowledged any more.
    assert stored["written"] in (written, [*written, len(written) + 1])
    assert (stored["first_is_found"], stored["degraded"]) == (True, [])
    assert not restarted.complaints(), restarted.log()


def _await_vector_index(container: Container, data: Path, segments: int) -> None:
    """Wait until maintenance has built the segments of the index of vectors, or fail with the log."""
    last = time.monotonic() + PATIENCE_SECONDS
    while len(list(data.glob("index/*/_indices/*/auxiliary.idx"))) < segments:
        assert not container.complaints(), container.log()
        assert time.monotonic() < last, f"no index of vectors was built:\n{container.log()}"
        time.sleep(0.1)


def _kill_while_an_agent_writes(container: Container) -> list[int]:
    """Return the sequences that were acknowledged."""
    with container.start_agent("write") as agent:
        assert agent.stdout is not None
        written = [int(agent.stdout.readline()) for _ in range(WRITTEN_BEFORE_KILL)]
        container.kill()
        written += [int(line) for line in agent.stdout]
        assert agent.wait(STOP_SECONDS) == 0
    assert container.process.returncode != 0
    return written
