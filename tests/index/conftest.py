"""Both index stores: each promise of the contract is tested on both."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memsidecar.stores.contract.index import Index, Table
from memsidecar.stores.lance.index import LanceIndex
from memsidecar.stores.volatile.index import VolatileIndex
from tests.index.episodes import FIRST

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
    """Open the index on disk as a new process would; old versions are deleted at once."""
    opened: list[LanceIndex] = []

    def close() -> None:
        while opened:
            opened.pop().close()

    def reopen_index() -> LanceIndex:
        close()
        opened.append(LanceIndex(folder, memory_bytes=CACHE_BYTES, retention_seconds=0.0, vector_index_rows=600))
        return opened[-1]

    yield reopen_index
    close()
