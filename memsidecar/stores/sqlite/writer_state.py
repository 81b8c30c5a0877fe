"""State that the writer keeps in RAM: ids of recent messages, and quota usage."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence

from memsidecar.domain.quota import QuotaLookup, Usage
from memsidecar.stores.append_batch import ExistingMessage

_PAIRS_PER_QUERY = 64

# In the order of the file: by the index on namespaces it takes twice as long.
_SUM_USAGE = """SELECT namespace, sum(sessions), sum(messages), sum(bytes) FROM (
    SELECT namespace, count(*) AS sessions, sum(count_1 + count_2 + count_3 + count_4 + pruned_count) AS messages,
           sum(bytes) AS bytes FROM sessions NOT INDEXED GROUP BY namespace
    UNION ALL SELECT namespace, 0, 0, sum(bytes) FROM documents NOT INDEXED GROUP BY namespace
    UNION ALL SELECT namespace, 0, 0, sum(bytes) FROM records NOT INDEXED GROUP BY namespace
  ) GROUP BY namespace"""


class SeenIds:
    """Hashes of the message ids of sessions that were created by this process: an id that is absent is new.

    A lookup in SQLite costs a lone Add a fifth of its time, and nearly every id is new. Ids of evicted sessions, and of
    those that are older than the process, are looked up. So are hits: the hash only narrows the lookup.
    """

    def __init__(self, max_ids: int) -> None:
        self._max_ids = max_ids
        self._count = 0
        self._by_session: dict[int, set[int]] = {}

    def is_new(self, session: int, hashed: int) -> bool:
        seen = self._by_session.get(session)
        return seen is not None and hashed not in seen

    def start_session(self, session: int) -> None:
        """Record all ids of a new session from now on."""
        self._by_session[session] = set()

    def add(self, session: int, hashed: int) -> None:
        seen = self._by_session.get(session)
        if seen is not None and hashed not in seen:
            seen.add(hashed)
            self._count += 1
            while self._count > self._max_ids:
                self._evict(next(iter(self._by_session)))

    def _evict(self, session: int) -> None:
        self._count -= len(self._by_session.pop(session, ()))


def find_existing(
    connection: sqlite3.Connection, pairs: Sequence[int]
) -> Iterator[tuple[tuple[int, str], ExistingMessage]]:
    """Yield the messages whose session and id hash are among `pairs`: session, hash, session, hash, ..."""
    for start in range(0, len(pairs), 2 * _PAIRS_PER_QUERY):
        some = pairs[start : start + 2 * _PAIRS_PER_QUERY]
        for session, message_id, sequence, tokens, fingerprint in connection.execute(_query(len(some) // 2), some):
            yield (session, message_id), ExistingMessage(sequence, tokens, fingerprint)


def _query(pair_count: int) -> str:
    # Without statistics SQLite chooses the primary key for a single pair, and reads the whole session.
    return f"""WITH wanted(session, hash) AS (VALUES {", ".join(["(?, ?)"] * pair_count)})
      SELECT m.session, l.id, m.sequence, m.tokens, m.fingerprint FROM wanted
      CROSS JOIN messages m INDEXED BY message_ids ON m.session = wanted.session AND m.id_hash = wanted.hash
      JOIN log l ON l.lsn = m.lsn"""


class QuotaUsage:
    """Usage by namespace. Only the committer's thread changes it; any thread may read it."""

    def __init__(self, connection: sqlite3.Connection, quotas: QuotaLookup) -> None:
        self.quotas = quotas
        self._usage = {
            namespace: Usage(sessions, messages, size)
            for namespace, sessions, messages, size in connection.execute(_SUM_USAGE)
        }

    def usage(self, namespace: str) -> Usage:
        return self._usage.get(namespace) or Usage()

    def publish(self, usage: Mapping[str, Usage]) -> None:
        self._usage.update(usage)
