"""The site that `make docs` has built is complete without the network, and its charts are those of the results."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.waiting import HANG_SECONDS

pytestmark = pytest.mark.site

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "site"
PICTURES = ROOT / "docs" / "pictures"
TICKS = range(0, 2_001, 250)
"The labels of the axis of tokens."
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
"The elements that a browser loads by itself. It follows an `a` only if the reader clicks on it."


class LoadedAddresses(HTMLParser):
    """The addresses that a browser loads to show a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        address = dict(attributes).get(LOADED.get(tag, ""))
        if address:
            self.addresses.append(address)


def pages() -> list[Path]:
    found = sorted(SITE.rglob("*.html"))
    assert (SITE / "index.html") in found
    return found


def test_a_page_loads_files_of_the_site_only() -> None:
    for page in pages():
        for address in LoadedAddresses(page.read_text()).addresses:
            parts = urlsplit(address)
            assert not parts.netloc, f"{page} loads {address}"
            # The page for missing addresses has absolute paths.
            folder = SITE if parts.path.startswith("/") else page.parent
            assert (folder / parts.path.lstrip("/")).resolve().exists(), f"{page} loads {address}, which is missing"


def test_a_style_sheet_loads_files_of_the_site_only() -> None:
    sheets = list(SITE.rglob("*.css"))
    assert sheets
    for sheet in sheets:
        assert not re.search(r"url\(\s*[\"']?(https?:)?//", sheet.read_text()), sheet


def test_a_page_with_diagrams_has_their_script() -> None:
    with_diagrams = [page for page in pages() if 'class="mermaid"' in page.read_text()]
    assert SITE / "context.html" in with_diagrams
    for page in with_diagrams:
        assert re.search(r'<script src="[^"]*assets/mermaid\.min\.js">', page.read_text()), page


def test_a_linked_file_outside_docs_is_a_page() -> None:
    assert "ErrorReason" in (SITE / "repository/protos/memsidecar/v1/errors.proto.html").read_text()
    assert 'href="repository/CONTRIBUTING.html"' in (SITE / "index.html").read_text()
    assert 'href="../architecture.html"' in (SITE / "repository/CONTRIBUTING.html").read_text()


def test_the_charts_show_the_results_of_the_benchmarks(tmp_path: Path) -> None:
    draw("benchmarks", tmp_path)
    charts = sorted(tmp_path.iterdir())
    assert charts
    for chart in charts:
        assert chart.read_bytes() == (PICTURES / chart.name).read_bytes(), f"{chart.name} is old: make pictures"


def test_the_picture_of_a_context_shows_its_receipt(tmp_path: Path) -> None:
    draw("context", tmp_path)
    picture = (tmp_path / "context.svg").read_text()
    (total,) = re.findall(r">all: (\d+) of 2000<", picture)
    used = [int(number) for number in re.findall(r">(\d+)</text>", picture) if int(number) not in TICKS]
    assert sum(used) == int(total)


def draw(kind: str, folder: Path) -> None:
    command = (sys.executable, "-m", "tools.pictures", kind, str(folder))
    subprocess.run(command, cwd=ROOT, check=True, timeout=HANG_SECONDS)
