"""Both journals, and a KnowledgeService on a real socket."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memsidecar.stores.contract import Journal
from tests.conformance.conftest import JOURNALS
from tests.documents.server import KnowledgeServer, serving


@pytest.fixture(params=list(JOURNALS.values()), ids=list(JOURNALS))
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Journal]:
    with closing(request.param(tmp_path / "journal")) as opened:
        yield opened


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeServer]:
    """One server for the tests of a module; each test has its own namespace."""
    with (
        closing(JOURNALS["sqlite"](tmp_path_factory.mktemp("served") / "data")) as journal,
        serving(journal) as running,
    ):
        yield running
