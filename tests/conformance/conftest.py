"""Each promise of `stores.contract` is tested once, on every journal.

To put another journal under the suite, write a function that opens an empty one in a given folder, with given quotas,
and add it to `JOURNALS`. No test needs to change, and none may ask which journal it runs on.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memsidecar.domain.quota import NO_QUOTA, Quota, QuotaLookup, no_quotas
from memsidecar.stores.contract import Journal
from memsidecar.stores.sqlite.journal import SqliteJournal
from memsidecar.stores.volatile.journal import VolatileJournal


def open_sqlite(folder: Path, quotas: QuotaLookup = no_quotas) -> Journal:
    return SqliteJournal(folder, quotas=quotas)


def open_volatile(_: Path, quotas: QuotaLookup = no_quotas) -> Journal:
    return VolatileJournal(quotas=quotas)


JOURNALS: dict[str, Callable[..., Journal]] = {"sqlite": open_sqlite, "volatile": open_volatile}


@pytest.fixture
def quotas() -> dict[str, Quota]:
    """Quotas of the journal by namespace; a test may change them at any time."""
    return {}


@pytest.fixture(params=list(JOURNALS.values()), ids=list(JOURNALS))
def journal(request: pytest.FixtureRequest, tmp_path: Path, quotas: dict[str, Quota]) -> Iterator[Journal]:
    with closing(request.param(tmp_path / "journal", lambda namespace: quotas.get(namespace, NO_QUOTA))) as opened:
        yield opened
