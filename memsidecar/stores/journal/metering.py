"""What each namespace keeps: added up once at the start, and in RAM from then on.

Its parts are columns of rows that a command writes anyway. A table of sums would be one more page to write and sync
with every lone Add, and a second account that could come to differ from the first.
"""

import sqlite3
from collections.abc import Mapping

from memsidecar.domain.quota import Quotas, Usage

# In the order of the file: by way of the index on namespaces it takes twice as long.
_ADD_UP = """SELECT namespace, sum(sessions), sum(messages), sum(bytes) FROM (
    SELECT namespace, count(*) AS sessions, sum(count_1 + count_2 + count_3 + count_4 + pruned_count) AS messages,
           sum(bytes) AS bytes FROM sessions NOT INDEXED GROUP BY namespace
    UNION ALL SELECT namespace, 0, 0, sum(bytes) FROM documents NOT INDEXED GROUP BY namespace
    UNION ALL SELECT namespace, 0, 0, sum(bytes) FROM notes NOT INDEXED GROUP BY namespace
  ) GROUP BY namespace"""


class Meter:
    """Changed on the committer's thread only; read on any."""

    def __init__(self, connection: sqlite3.Connection, quotas: Quotas) -> None:
        self.quotas = quotas
        self._used = {namespace: Usage(*figures) for namespace, *figures in connection.execute(_ADD_UP)}

    def usage(self, namespace: str) -> Usage:
        return self._used.get(namespace) or Usage()

    def publish(self, used: Mapping[str, Usage]) -> None:
        self._used.update(used)
