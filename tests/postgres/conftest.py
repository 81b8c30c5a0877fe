"""A durable server, a migrated database for each test, and a journal on it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import count
from typing import Any

import pytest

from memsidecar.stores.postgres.journal import PostgresJournal
from memsidecar.stores.postgres.migrations import migrate
from tests.postgres.cutting_proxy import CuttingProxy
from tests.support.postgres_server import VERSIONS, PostgresServer, create_database, postgres_server

NEWEST = VERSIONS[-1]
NUMBERS = count()

OpenJournal = Callable[..., PostgresJournal]


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    with postgres_server(NEWEST, durable=True) as running:
        yield running


@pytest.fixture
def new_database(server: PostgresServer) -> str:
    """Return the name of a database without tables."""
    name = f"memsidecar_{next(NUMBERS)}"
    create_database(server, name)
    return name


@pytest.fixture
def database(server: PostgresServer, new_database: str) -> str:
    """Return the name of a migrated database."""
    migrate(lambda: server.url(new_database))
    return new_database


@pytest.fixture
def url(server: PostgresServer, database: str) -> str:
    return server.url(database)


@pytest.fixture
def open_journal(url: str) -> Iterator[OpenJournal]:
    """Open journals, on the server or through a proxy, and close them after the test."""
    with ExitStack() as opened:

        def open_at(address: str = url, **options: Any) -> PostgresJournal:
            return opened.enter_context(closing(PostgresJournal(lambda: address, connections=6, **options)))

        yield open_at


@pytest.fixture
def journal(open_journal: OpenJournal) -> PostgresJournal:
    return open_journal()


@pytest.fixture
def proxy(server: PostgresServer) -> Iterator[CuttingProxy]:
    with CuttingProxy(server.port) as opened:
        yield opened
