"""The lease of the sidecar: it is renewed whatever an attempt at renewing it met."""

from collections.abc import Iterator
from contextlib import closing
from itertools import chain, repeat

import pytest
from psycopg import Connection

from memsidecar.domain.errors import JournalUnavailable
from memsidecar.stores.postgres import leases
from memsidecar.stores.postgres.connection import connect
from memsidecar.stores.postgres.leases import SidecarLease
from tests.support.waiting import until


def test_it_is_renewed_after_its_url_could_not_be_read(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is being replaced may be missing for a moment."""
    monkeypatch.setattr(leases, "RENEW_SECONDS", 0.01)
    reads: Iterator[str | None] = chain([url], repeat(None, 3), repeat(url))

    def connection_string() -> str:
        address = next(reads)
        if address is None:
            raise JournalUnavailable("the file with the URL cannot be read")
        return address

    with closing(SidecarLease(connection_string)), closing(connect(lambda: url)) as connection:
        first = _end_of(connection)
        until(lambda: _end_of(connection) > first)


def _end_of(connection: Connection) -> str:
    ((end,),) = connection.execute("SELECT until::text FROM leases WHERE task = 'sidecar'").fetchall()
    return str(end)
