"""What the writer keeps in RAM: seen message ids, quota usage."""

import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from memsidecar.domain.quota import QuotaLookup, Usage

_PAIRS_PER_QUERY = 64

# In the order of the file: by way of the index on namespaces it takes twice as long.
_ADD_UP = """SELECT namespace, sum(sessions), sum(messages), sum(bytes) FROM (
    SELECT namespace, count(*) AS sessions, sum(count_1 + count_2 + count_3 + count_4 + pruned_count) AS messages,
           sum(bytes) AS bytes FROM sessions NOT INDEXED GROUP BY namespace
    UNION ALL SELECT namespace, 0, 0, sum(bytes) FROM documents NOT INDEXED GROUP BY namespace
    UNION ALL SELECT namespace, 0, 0, sum(bytes) FROM notes NOT INDEXED GROUP BY namespace
  ) GROUP BY namespace"""


class ExistingMessage(NamedTuple):
    """A message that is stored or staged, as far as a repeated id needs it: its first answer and its fingerprint."""

    sequence: int
    tokens: int
    fingerprint: bytes


class SeenIds:
    """Hashes of the ids in sessions whose whole history passed through here: an id that is not among them is new.

    A lookup in SQLite costs a lone Add a fifth of its time, and nearly every id is new. A session that is too long,
    or that was there before this process, is looked up. Hits are always: the hash only narrows.
    """

    def __init__(self, most_ids: int) -> None:
        self._most_ids = most_ids
        self._count = 0
        self._by_session: dict[int, set[int]] = {}

    def is_new(self, session: int, hashed: int) -> bool:
        seen = self._by_session.get(session)
        return seen is not None and hashed not in seen

    def begin(self, session: int) -> None:
        """A session is new: from now on all its ids are told."""
        self._by_session[session] = set()

    def add(self, session: int, hashed: int) -> None:
        seen = self._by_session.get(session)
        if seen is not None and hashed not in seen:
            seen.add(hashed)
            self._count += 1
            while self._count > self._most_ids:
                self.forget(next(iter(self._by_session)))

    def forget(self, session: int) -> None:
        self._count -= len(self._by_session.pop(session, ()))


def id_hash(message_id: str) -> int:
    """Narrows a lookup by id; the id itself decides."""
    return zlib.crc32(message_id.encode())


def find_known(
    connection: sqlite3.Connection, asked: Sequence[int]
) -> Iterator[tuple[tuple[int, str], ExistingMessage]]:
    """The messages whose session and hash are among those asked for: number, hash, number, hash, ..."""
    for start in range(0, len(asked), 2 * _PAIRS_PER_QUERY):
        pairs = asked[start : start + 2 * _PAIRS_PER_QUERY]
        for session, message_id, *known in connection.execute(_query(len(pairs) // 2), pairs):
            yield (session, message_id), ExistingMessage(*known)


def _query(pairs: int) -> str:
    return f"""WITH asked(session, hash) AS (VALUES {", ".join(["(?, ?)"] * pairs)})
      SELECT m.session, l.id, m.sequence, m.tokens, m.fingerprint FROM asked
      CROSS JOIN messages m ON m.session = asked.session AND m.id_hash = asked.hash
      JOIN log l ON l.lsn = m.lsn"""


class QuotaUsage:
    """Changed on the committer's thread only; read on any."""

    def __init__(self, connection: sqlite3.Connection, quotas: QuotaLookup) -> None:
        self.quotas = quotas
        self._used = {namespace: Usage(*figures) for namespace, *figures in connection.execute(_ADD_UP)}

    def usage(self, namespace: str) -> Usage:
        return self._used.get(namespace) or Usage()

    def publish(self, used: Mapping[str, Usage]) -> None:
        self._used.update(used)
