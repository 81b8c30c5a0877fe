"""Run the commands of docs/grpcurl.md, and compare their output with the page."""

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from memsidecar.v1.context_pb2 import Section
from tests.scenarios.index_readiness import until_index_is_ready
from tests.support.process import CALL_SECONDS, SidecarProcess

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "grpcurl.md"
DOCUMENTED_ADDRESS = "localhost:7600"
KNOWN = (
    "PutDocument",
    "SearchDocuments",
    "PutFacts",
    "ListFacts",
    "PutArtifact",
    "Summarize",
    "GetSummary",
    "GetPatterns",
)

_MASKS = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"), "<id>"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "<time>"),
    (re.compile(r'"(score|relevance|keyword|semantic|neighbours|session|recency)": [\d.]+'), r'"\1": <share>'),
    (re.compile(r"\b0\.\d{6,}"), "<share>"),
    (re.compile(r'"bytes": "\d+"'), '"bytes": "<with the times that are stored>"'),
    (re.compile(r'"cursor": "[^"]+"'), '"cursor": "<cursor>"'),
    (re.compile(r"Message: (context deadline exceeded|Deadline Exceeded)"), "Message: <of the side that was first>"),
    (re.compile(r"[ \t]+"), " "),  # grpcurl sets error details apart with a tab
)


class Step(NamedTuple):
    command: list[str]
    shown: str


def transcript() -> list[Step]:
    """Return the commands of the page's console blocks, each with its output."""
    blocks = re.findall(r"^```console\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    steps = (part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:])
    return [_step(part) for part in steps]


def _step(part: str) -> Step:
    """Parse a step; a command continues after a backslash and within an open quotation."""
    command, _, shown = part.replace("\\\n", " ").partition("\n")
    while command.count("'") % 2:
        more, _, shown = shown.partition("\n")
        command = f"{command}\n{more}"
    return Step(shlex.split(command), shown)


def masked(text: str) -> list[str]:
    """Return the lines without values that differ between runs, and without differences in white space."""
    for pattern, mask in _MASKS:
        text = pattern.sub(mask, text)
    return [line.strip() for line in text.splitlines() if line.strip()]


@pytest.fixture(scope="module")
def grpcurl() -> str:
    candidates = (os.environ.get("GRPCURL"), "grpcurl", str(ROOT / ".tools" / "bin" / "grpcurl"))
    found = next(filter(None, (shutil.which(candidate) for candidate in candidates if candidate)), None)
    if found is None and os.environ.get("REQUIRE_GRPCURL") == "1":
        pytest.fail("REQUIRE_GRPCURL is set, and there is no grpcurl: `make tools` installs it")
    if found is None:
        pytest.skip("there is no grpcurl: `make tools` installs it")
    return found


@pytest.fixture
def fresh(data_dir: Path) -> Iterator[SidecarProcess]:
    """Start a sidecar as the page does, with the default index."""
    with SidecarProcess(data_dir, "--index", "lancedb") as running:
        until_index_is_ready(running)
        yield running


def run(grpcurl: str, sidecar: SidecarProcess, command: list[str]) -> str:
    arguments = [sidecar.address if word == DOCUMENTED_ADDRESS else word for word in command[1:]]
    done = subprocess.run(
        [grpcurl, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=CALL_SECONDS,
        check=False,
    )
    return done.stdout


def test_the_output_of_each_command_is_that_of_the_page(grpcurl: str, fresh: SidecarProcess) -> None:
    for step in transcript():
        assert masked(run(grpcurl, fresh, step.command)) == masked(step.shown), shlex.join(step.command)


def test_the_transcript_lists_describes_adds_reads_finds_and_shows_an_error() -> None:
    steps = transcript()
    assert all(step.command[0] == "grpcurl" and DOCUMENTED_ADDRESS in step.command for step in steps)
    words = {word for step in steps for word in step.command}
    service = "memsidecar.v1.MemoryService"
    assert {"list", "describe", f"{service}/Add", f"{service}/GetRecent", f"{service}/Search"} <= words
    assert {f"{service}/{name}" for name in ("BuildContext", "Prune")} <= words
    assert {f"memsidecar.v1.KnowledgeService/{name}" for name in KNOWN} <= words
    assert {
        f"memsidecar.v1.SessionService/{name}" for name in ("ListUsers", "GetUsage", "Export", "Import", "Watch")
    } <= words
    assert any(step.shown.startswith("ERROR:") and "Details:" in step.shown for step in steps)


def test_the_transcript_shows_a_receipt_whose_sections_add_up() -> None:
    (built,) = [json.loads(step.shown) for step in transcript() if '"receipt"' in step.shown]
    used = [section.get("used_tokens", 0) for section in built["receipt"]["sections"]]
    assert sum(used) == built["total_tokens"] <= built["max_tokens"]
    assert len(used) == len(Section.values()) - 1


def test_the_page_shows_ids_and_times_where_the_server_makes_them() -> None:
    shown = "\n".join(line for step in transcript() for line in masked(step.shown))
    assert '"message_id": "<id>"' in shown and '"create_time": "<time>"' in shown
