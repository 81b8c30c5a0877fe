"""Every promise of `stores.contract` is tested once, on every journal.

To put another journal under the suite, write a function that opens an empty one in a given folder and add it to
`JOURNALS`. No test needs to change, and none may ask which journal it runs on.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memsidecar.stores.contract import Journal
from memsidecar.stores.journal import SqliteJournal
from memsidecar.stores.volatile import VolatileJournal

JOURNALS: dict[str, Callable[[Path], Journal]] = {
    "sqlite": SqliteJournal,
    "volatile": lambda _: VolatileJournal(),
}


@pytest.fixture(params=list(JOURNALS.values()), ids=list(JOURNALS))
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Journal]:
    with closing(request.param(tmp_path / "journal")) as opened:
        yield opened
