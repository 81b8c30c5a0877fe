"""What a connection to the database may use."""

import pytest

from tests.conformance.builders import append, contents, draft
from tests.postgres.conftest import OpenJournal
from tests.postgres.cutting_proxy import CuttingProxy
from tests.support.postgres_server import PostgresServer

STATEMENT_NAME = b"_pg3_"
"With this the driver's names of prepared statements begin."
APPENDS = 10


@pytest.mark.parametrize("prepare", [True, False])
def test_statements_are_prepared_unless_it_is_turned_off(
    prepare: bool, proxy: CuttingProxy, server: PostgresServer, database: str, open_journal: OpenJournal
) -> None:
    journal = open_journal(server.url(database, proxy.port), prepare=prepare)
    proxy.mark = STATEMENT_NAME
    for number in range(APPENDS):
        append(journal, draft(str(number)))
        assert len(contents(journal)) == number + 1
    assert (proxy.marked_requests > 0) == prepare
