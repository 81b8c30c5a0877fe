"""Both stores: every promise of the contract is tested on each. A backend only says how to open itself."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memsidecar.stores.contract.index import Index, Table
from memsidecar.stores.lance.index import LanceIndex
from memsidecar.stores.volatile.index import VolatileIndex
from tests.index.episodes import FIRST

HERE = Path(__file__).parent
FAULTS = {"test_full_disk", "test_healing", "test_kills", "test_threads", "test_upkeep"}
CACHE_BYTES = 16 << 20

Reopen = Callable[[], LanceIndex]


@pytest.fixture(params=["lance", "volatile"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    opened: Index = LanceIndex(tmp_path, memory_bytes=CACHE_BYTES) if request.param == "lance" else VolatileIndex()
    yield opened
    opened.close()


@pytest.fixture
def table(index: Index) -> Table:
    return index.create("space", FIRST)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def reopen(folder: Path) -> Iterator[Reopen]:
    """The index on disk, as a new process would open it; old versions go at once."""
    opened: list[LanceIndex] = []

    def close() -> None:
        while opened:
            opened.pop().close()

    def again() -> LanceIndex:
        close()
        opened.append(LanceIndex(folder, memory_bytes=CACHE_BYTES, retention_seconds=0.0, vector_index_rows=600))
        return opened[-1]

    yield again
    close()


@pytest.hookimpl(tryfirst=True)  # before the choice by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that damage, fill, crowd and outgrow real tables take a minute: they run with the faults of the index."""
    for item in items:
        if item.path.parent == HERE and item.path.stem in FAULTS:
            item.add_marker(pytest.mark.index_faults)
