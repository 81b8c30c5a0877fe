"""The commands of README.md and docs/http.md run as they are written, against a fresh sidecar."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.http.connect_client import envelopes
from tests.http.http_client import HTTP
from tests.scenarios.index_readiness import until_index_is_ready
from tests.support.process import SidecarProcess
from tests.support.waiting import HANG_SECONDS

ROOT = Path(__file__).parents[2]
ADDRESS = "localhost:7680"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with SidecarProcess(tmp_path_factory.mktemp("docs") / "data", *HTTP, "--index", "volatile") as running:
        until_index_is_ready(running)
        yield running.ready["http_listen"]


def commands(page: str) -> list[str]:
    """Return the commands with curl of the page."""
    blocks = re.findall(r"^```sh\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line for line in lines if re.search(r"\bcurl ", line)]


def output(command: str, address: str) -> bytes:
    assert ADDRESS in command
    done = subprocess.run(
        ["bash", "-c", command.replace(ADDRESS, address)], capture_output=True, timeout=HANG_SECONDS, check=False
    )
    return done.stdout


@pytest.mark.skipif(shutil.which("curl") is None, reason="NOT TESTED: the commands of the pages need curl")
def test_the_commands_of_the_readme_build_a_context_with_the_memory(address: str) -> None:
    added, built = (json.loads(output(command, address)) for command in commands("README.md"))
    assert added["sequence"] == "1"
    assert "I moved to Lisbon." in built["messages"][0]["content"]


@pytest.mark.skipif(shutil.which("curl") is None, reason="NOT TESTED: the commands of the pages need curl")
def test_the_commands_of_the_page_add_a_message_and_watch(address: str) -> None:
    add, watch = commands("docs/http.md")
    assert json.loads(output(add, address))["messageId"]
    (flags, heartbeat), *_ = envelopes(output(watch.replace("--max-time 10", "--max-time 1"), address))
    assert (flags, heartbeat["kind"]) == (0, "EVENT_KIND_HEARTBEAT")
