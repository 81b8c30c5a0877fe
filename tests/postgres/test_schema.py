"""Migrations, the check of the schema at start, and the doctor."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from memsidecar.domain.errors import JournalUnavailable, StartRefused
from memsidecar.stores.postgres.integrity import examine
from memsidecar.stores.postgres.journal import PostgresJournal
from memsidecar.stores.postgres.migrations import NEWEST, migrate
from tests.conformance.builders import append, draft, put, update_window
from tests.support.postgres_server import PostgresServer, free_port

DAMAGES = {
    "UPDATE sessions SET tokens_2 = tokens_2 + 1": "the sums of session 's1' in namespace 'default'",
    "UPDATE namespaces SET messages = messages - 1": "the usage of namespace 'default'",
    "UPDATE namespaces SET lsn = 1": "namespace 'default' has entries after its last lsn",
    "DELETE FROM chunks": "document 'd1' in namespace 'default' has lost text",
    "UPDATE messages SET body = body || '\\x00'": "the sums of session 's1'",
}


def test_a_sidecar_does_not_start_on_a_database_that_was_not_migrated(
    server: PostgresServer, new_database: str
) -> None:
    url = server.url(new_database)
    with pytest.raises(StartRefused, match="run `memsidecar migrate`"):
        PostgresJournal(lambda: url)
    migrate(lambda: url)
    PostgresJournal(lambda: url).close()


def test_a_sidecar_does_not_start_on_a_schema_that_it_cannot_read(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("INSERT INTO schema_versions VALUES (%s, %s)", (NEWEST + 1, NEWEST + 1))
    with pytest.raises(StartRefused, match="which a newer memsidecar made"):
        PostgresJournal(lambda: url)


def test_a_sidecar_starts_on_a_newer_schema_that_it_can_read(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("INSERT INTO schema_versions VALUES (%s, %s)", (NEWEST + 1, NEWEST))
    PostgresJournal(lambda: url).close()


def test_a_migration_is_applied_once_by_all_that_migrate_at_once(server: PostgresServer, new_database: str) -> None:
    url = server.url(new_database)
    with ThreadPoolExecutor(4) as pool:
        versions = list(pool.map(lambda _: migrate(lambda: url).version, range(4)))
    assert versions == [NEWEST] * 4
    assert migrate(lambda: url).version == NEWEST


def test_a_migration_limits_the_role_and_goes_on_where_it_cannot(
    server: PostgresServer, new_database: str, caplog: pytest.LogCaptureFixture
) -> None:
    url = server.url(new_database)
    with psycopg.connect(url) as other:
        other.execute("LOCK TABLE pg_db_role_setting IN SHARE MODE")
        assert migrate(lambda: f"{url}?options=-clock_timeout%3D100ms").version == NEWEST
    assert "the role has no limits" in caplog.text
    migrate(lambda: url)
    with psycopg.connect(url) as connection:
        found = [connection.execute(f"SHOW {name}").fetchone() for name in ("lock_timeout", "statement_timeout")]
    assert found == [("2s",), ("5s",)]


def test_a_database_that_does_not_answer_is_unavailable() -> None:
    url = f"postgresql://memsidecar@127.0.0.1:{free_port()}/none"
    with pytest.raises(JournalUnavailable):
        PostgresJournal(lambda: url)


@pytest.mark.parametrize("url", ["postgresq://memsidecar:secret@host/name", "secret", "postgresql://h:secret/n"])
def test_an_invalid_url_is_not_quoted(url: str, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(JournalUnavailable) as error:
        PostgresJournal(lambda: url)
    assert "secret" not in f"{error.value}{caplog.text}"


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_doctor_finds_what_does_not_add_up(damage: str, journal: PostgresJournal, url: str) -> None:
    append(journal, draft("a"), draft("b"))
    update_window(journal, 1)
    put(journal, "text", "more")
    assert examine(lambda: url) == []
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(damage)
    assert any(DAMAGES[damage] in finding for finding in examine(lambda: url))
