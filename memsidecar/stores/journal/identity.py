"""Which message ids a session knows."""

import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_PAIRS_PER_QUERY = 256


class Known(NamedTuple):
    """A message that is stored or staged, as far as a repeated id needs it: its first answer and its fingerprint."""

    sequence: int
    tokens: int
    fingerprint: bytes


def id_hash(message_id: str) -> int:
    """Narrows a lookup by id; the id itself decides."""
    return zlib.crc32(message_id.encode())


def find_known(connection: sqlite3.Connection, asked: Sequence[int]) -> Iterator[tuple[tuple[int, str], Known]]:
    """The messages whose session and hash are among those asked for: number, hash, number, hash, ..."""
    for start in range(0, len(asked), 2 * _PAIRS_PER_QUERY):
        pairs = asked[start : start + 2 * _PAIRS_PER_QUERY]
        for session, message_id, *known in connection.execute(_query(len(pairs) // 2), pairs):
            yield (session, message_id), Known(*known)


def _query(pairs: int) -> str:
    return f"""WITH asked(session, hash) AS (VALUES {", ".join(["(?, ?)"] * pairs)})
      SELECT m.session, l.id, m.sequence, m.tokens, m.fingerprint FROM asked
      CROSS JOIN messages m ON m.session = asked.session AND m.id_hash = asked.hash
      JOIN log l ON l.lsn = m.lsn"""
