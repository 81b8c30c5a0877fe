"""Facts on both journals."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memsidecar.layers.semantic.facts import Facts
from memsidecar.stores.contract import Journal
from tests.conformance.conftest import JOURNALS


@pytest.fixture(params=list(JOURNALS.values()), ids=list(JOURNALS))
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Journal]:
    with closing(request.param(tmp_path / "journal")) as opened:
        yield opened


@pytest.fixture
def facts(journal: Journal) -> Facts:
    return Facts(journal, cached_owners=3)
