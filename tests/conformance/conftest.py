"""Each promise of `stores.contract` is tested once, on every journal.

To put another journal under the suite, write a function that opens an empty one in a given folder, with given quotas,
and add it to `JOURNALS`. No test needs to change, and none may ask which journal it runs on. Journals on PostgreSQL
share a database, which is emptied for each test.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from memsidecar.domain.quota import NO_QUOTA, Quota, QuotaLookup, no_quotas
from memsidecar.stores.contract import Journal
from memsidecar.stores.postgres.journal import PostgresJournal
from memsidecar.stores.sqlite.journal import SqliteJournal
from memsidecar.stores.volatile.journal import VolatileJournal
from tests.support.postgres_server import VERSIONS, PostgresDatabases, empty


def open_sqlite(folder: Path, quotas: QuotaLookup = no_quotas) -> Journal:
    return SqliteJournal(folder, quotas=quotas)


def open_volatile(_: Path, quotas: QuotaLookup = no_quotas) -> Journal:
    return VolatileJournal(quotas=quotas)


def open_postgres(url: str, quotas: QuotaLookup) -> Journal:
    empty(url)
    return PostgresJournal(lambda: url, connections=8, quotas=quotas)


JOURNALS: dict[str, Callable[..., Journal]] = {"sqlite": open_sqlite, "volatile": open_volatile}
POSTGRES = [pytest.param(version, id=f"postgres-{version}", marks=pytest.mark.postgres) for version in VERSIONS]


@pytest.fixture(scope="session")
def postgres_databases() -> Iterator[PostgresDatabases]:
    """A migrated database on a server of each version, which starts when a test first asks for it."""
    with ExitStack() as servers:
        yield PostgresDatabases(servers)


@pytest.fixture
def quotas() -> dict[str, Quota]:
    """Quotas of the journal by namespace; a test may change them at any time."""
    return {}


@pytest.fixture(params=[*JOURNALS, *POSTGRES])
def journal(request: pytest.FixtureRequest, tmp_path: Path, quotas: dict[str, Quota]) -> Iterator[Journal]:
    def lookup(namespace: str) -> Quota:
        return quotas.get(namespace, NO_QUOTA)

    if request.param in JOURNALS:
        opened = JOURNALS[request.param](tmp_path / "journal", lookup)
    else:
        opened = open_postgres(request.getfixturevalue("postgres_databases").url(request.param), lookup)
    with closing(opened):
        yield opened
