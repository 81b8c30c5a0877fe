"""Rows of `namespaces`: numbers of names, and the statements that take lsns and count usage under the rows' locks."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cachetools import LRUCache
from psycopg import Connection

from memsidecar.domain.quota import NO_QUOTA, Quota, QuotaLookup, Usage
from memsidecar.domain.session import Policy
from memsidecar.stores.postgres.rows import DEFAULT_POLICY, JOIN_DEFAULT_POLICY
from memsidecar.stores.session_rows import policy_of

MAX_CACHED_NUMBERS = 65_536

NUMBER = "(SELECT number FROM namespaces WHERE name = %s)"
_FIND = "SELECT name, number FROM namespaces WHERE name = ANY(%s)"
_CREATE = """INSERT INTO namespaces(name) SELECT name FROM unnest(%s::text[]) AS name ORDER BY name
  ON CONFLICT(name) DO NOTHING"""
READ_NAMESPACES = f"""SELECT n.name, n.number, n.lsn, n.sessions, n.messages, n.bytes, {DEFAULT_POLICY}
  FROM namespaces n {JOIN_DEFAULT_POLICY} WHERE n.number = ANY(%s)"""
LOCK_NAMESPACES = "SELECT FROM namespaces WHERE number = ANY(%s) ORDER BY number FOR NO KEY UPDATE"
# A namespace whose usage would grow past its quota gets no lsn, which violates NOT NULL. The handlers have refused what
# is past the quota by the usage that they read; this refuses what other transactions have added since.
UPDATE_NAMESPACE = """UPDATE namespaces SET
    lsn = CASE WHEN %(guarded_sessions)s > 0 AND sessions + %(guarded_sessions)s > %(max_sessions)s
                 OR %(guarded_messages)s > 0 AND messages + %(guarded_messages)s > %(max_messages)s
                 OR %(guarded_bytes)s > 0 AND bytes + %(guarded_bytes)s > %(max_bytes)s THEN NULL
               ELSE lsn + %(entries)s END,
    sessions = sessions + %(sessions)s, messages = messages + %(messages)s, bytes = bytes + %(bytes)s
  WHERE number = %(number)s RETURNING lsn"""
_READ_USAGE = "SELECT sessions, messages, bytes FROM namespaces WHERE name = %s"
_FIND_ROW = "SELECT number, lsn FROM namespaces WHERE name = %s"
_READ_LSNS = "SELECT name, lsn FROM namespaces WHERE lsn > 0"
_NO_LIMIT = (1 << 63) - 1
NOTHING = Usage()


class NamespaceNumbers:
    """Cache of the numbers of namespaces: a number is never changed or given up. Used by one thread."""

    def __init__(self) -> None:
        self._numbers: LRUCache[str, int] = LRUCache(MAX_CACHED_NUMBERS)

    def resolve(self, connection: Connection, names: Collection[str]) -> Mapping[str, int]:
        """Return the number of each name; a new namespace gets its row by a transaction of its own."""
        missing = [name for name in names if name not in self._numbers]
        if missing:
            found: dict[str, int] = dict(connection.execute(_FIND, (missing,)).fetchall())
            if len(found) < len(missing):
                connection.execute(_CREATE, (missing,))
                found = dict(connection.execute(_FIND, (missing,)).fetchall())
            self._numbers.update(found)
            return found | {name: self._numbers[name] for name in names if name not in found}
        return {name: self._numbers[name] for name in names}


@dataclass(slots=True)
class NamespaceChanges:
    """What a transaction changes of a namespace.

    Until the commit takes the lsns they are those that follow `read_lsn`. `usage` is what was read, with the changes.
    `guarded` has the changes that a quota may refuse, and all that make room for them.
    """

    name: str
    number: int
    read_lsn: int
    lsn: int
    usage: Usage
    added: Usage = NOTHING
    guarded: Usage = NOTHING
    quota: Quota = NO_QUOTA
    default_policy: Policy | None = None
    lsn_shift: int = 0

    @classmethod
    def of_row(cls, row: Sequence[Any]) -> "NamespaceChanges":
        name, number, lsn, sessions, messages, size, *policy = row
        usage = Usage(sessions, messages, size)
        return cls(name, number, lsn, lsn, usage, default_policy=policy_of(*policy))

    def next_lsn(self) -> int:
        self.lsn += 1
        return self.lsn

    def reserve(self, change: Usage, quotas: QuotaLookup, *, refusable: bool) -> None:
        """Add a change to the usage; QuotaExceeded, and nothing is added, if it grows beyond the quota."""
        after = self.usage.plus(change)
        if refusable:
            self.quota = quotas(self.name)
            self.quota.check(after, change)
        self.usage, self.added = after, self.added.plus(change)
        self.guarded = self.guarded.plus(change if refusable else Usage(*(min(0, amount) for amount in change)))

    def parameters(self) -> dict[str, int]:
        parameters = {"number": self.number, "entries": self.lsn - self.read_lsn, **self.added._asdict()}
        for resource, amount in self.guarded._asdict().items():
            parameters[f"guarded_{resource}"] = amount
            parameters[f"max_{resource}"] = getattr(self.quota, resource) or _NO_LIMIT
        return parameters

    @property
    def is_changed(self) -> bool:
        return self.lsn > self.read_lsn or self.added != NOTHING

    def back(self, lsn: int) -> int | None:
        """Return how far before the last lsn of the transaction one of its lsns is; None for an lsn that was read."""
        return self.lsn - lsn if lsn > self.read_lsn else None

    def unchanged(self) -> "NamespaceChanges":
        """Return the row as the commit has left it, for the next transaction."""
        lsn = self.lsn + self.lsn_shift
        return NamespaceChanges(self.name, self.number, lsn, lsn, self.usage)

    def stored_lsn(self, lsn: int) -> int:
        """Return the lsn that an entry has after the commit."""
        return lsn + self.lsn_shift if lsn > self.read_lsn else lsn


def read_usage(connection: Connection, namespace: str) -> Usage:
    row = connection.execute(_READ_USAGE, (namespace,)).fetchone()
    return Usage(*row) if row else Usage()


class NamespaceRow(NamedTuple):
    number: int
    lsn: int


def find_row(connection: Connection, namespace: str) -> NamespaceRow | None:
    row = connection.execute(_FIND_ROW, (namespace,)).fetchone()
    return NamespaceRow(*row) if row else None


def read_lsns(connection: Connection) -> Mapping[str, int]:
    return dict(connection.execute(_READ_LSNS).fetchall())
