"""Migrations of the schema, and the check of its version.

`memsidecar migrate` brings the schema to the newest version; a sidecar never changes it. A migration keeps the schema
readable for the version before it (`oldest_reader`), so that both versions of the sidecar run side by side while they
are replaced.
"""

import logging
from collections.abc import Mapping
from contextlib import closing, suppress
from typing import NamedTuple

import psycopg
from psycopg import Connection, errors

from memsidecar.domain.errors import StartRefused
from memsidecar.stores.postgres.connection import UNLIMITED, ConnectionString, connect, is_lost, translated
from memsidecar.stores.postgres.schema import TABLES
from memsidecar.stores.tombstones import KEY_BYTES

log = logging.getLogger(__name__)

LOCK_TIMEOUT = "2s"
STATEMENT_TIMEOUT = "5s"
IDLE_TIMEOUT = "5s"

_CREATE_VERSIONS = """CREATE TABLE IF NOT EXISTS schema_versions(
  version int PRIMARY KEY, oldest_reader int NOT NULL, applied timestamptz NOT NULL DEFAULT now())"""
_LOCK_VERSIONS = "LOCK TABLE schema_versions IN SHARE ROW EXCLUSIVE MODE"
_HAS_VERSIONS = "SELECT to_regclass('schema_versions') IS NOT NULL"
_NEWEST_VERSION = "SELECT version, oldest_reader FROM schema_versions ORDER BY version DESC LIMIT 1"
_ADD_VERSION = "INSERT INTO schema_versions(version, oldest_reader) VALUES (%s, %s)"
# A sidecar that is frozen gives its locks back, and no statement holds up all others. The limits belong to the role,
# because a pooler shares connections.
_LIMIT_ROLE = "SELECT format('ALTER ROLE CURRENT_USER IN DATABASE %I SET {} = {}', current_database())"
_LIMITS = {
    "lock_timeout": LOCK_TIMEOUT,
    "statement_timeout": STATEMENT_TIMEOUT,
    "idle_in_transaction_session_timeout": IDLE_TIMEOUT,
}


class Migration(NamedTuple):
    """Statements that make a version of the one before it, and the oldest version of a sidecar that can still run."""

    statements: str
    oldest_reader: int


_SECRETS = f"""
INSERT INTO secrets SELECT 'tombstones', decode(string_agg(replace(gen_random_uuid()::text, '-', ''), ''), 'hex')
  FROM generate_series(1, {KEY_BYTES // 16});
"""
MIGRATIONS: Mapping[int, Migration] = {1: Migration(TABLES + _SECRETS, 1)}
NEWEST = max(MIGRATIONS)


class SchemaVersion(NamedTuple):
    """The version of the schema, 0 for none, and the oldest version of a sidecar that can run on it."""

    version: int
    oldest_reader: int


def migrate(connection_string: ConnectionString) -> SchemaVersion:
    """Bring the schema to the newest version. Each step is one transaction; two callers take turns."""
    with translated(), closing(connect(connection_string)) as connection:
        with suppress(errors.UniqueViolation, errors.DuplicateTable, errors.DuplicateObject):  # by another caller
            connection.execute(_CREATE_VERSIONS)
        connection.answer_seconds = None
        _try_to_limit_role(connection)
        while _migrate_once(connection):
            pass
        return read_version(connection)


def _try_to_limit_role(connection: Connection) -> None:
    """Set the limits of the role; go on without if the provider does not allow it."""
    try:
        _limit_role(connection)
    except psycopg.Error as error:
        if is_lost(error):
            raise
        limits = ", ".join(f"{setting} = {value}" for setting, value in _LIMITS.items())
        log.warning("the role has no limits, a frozen sidecar would keep its locks; set %s: %s", limits, error)


def _limit_role(connection: Connection) -> None:
    with connection.transaction():
        connection.execute(_LOCK_VERSIONS)
        for setting, value in _LIMITS.items():
            ((statement,),) = connection.execute(_LIMIT_ROLE.format(setting, f"''{value}''")).fetchall()
            connection.execute(statement)


def _migrate_once(connection: Connection) -> bool:
    """Apply the next migration; return False if there is none."""
    with connection.transaction():
        connection.execute(UNLIMITED)
        connection.execute(_LOCK_VERSIONS)
        version = read_version(connection).version + 1
        migration = MIGRATIONS.get(version)
        if migration is None:
            return False
        connection.execute(migration.statements)
        connection.execute(_ADD_VERSION, (version, migration.oldest_reader))
    return True


def read_version(connection: Connection) -> SchemaVersion:
    has_versions = connection.execute(_HAS_VERSIONS).fetchone()
    row = connection.execute(_NEWEST_VERSION).fetchone() if has_versions == (True,) else None
    return SchemaVersion(*row) if row else SchemaVersion(0, 0)


def check_version(connection: Connection) -> None:
    """Refuse a schema that this version of the sidecar does not know."""
    version, oldest_reader = read_version(connection)
    if version < NEWEST:
        raise StartRefused(
            f"the database has schema version {version}, and this sidecar needs {NEWEST}: run `memsidecar migrate`"
        )
    if oldest_reader > NEWEST:
        raise StartRefused(
            f"the database has schema version {version}, which a newer memsidecar made; this one knows {NEWEST}"
        )
