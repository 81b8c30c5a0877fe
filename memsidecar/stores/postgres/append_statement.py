"""The statement that commits a group of Appends in one round trip.

It is for sessions whose heads this process knows. It compares them, and writes nothing if one has changed; the group is
then committed by a transaction with two round trips. A known id violates the index of ids, a quota NOT NULL: both abort
the statement.

The locks are taken in the order of all transactions, sessions by row id and then namespaces by number: each CTE
refers to the one before it, and is materialized.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionHead
from memsidecar.stores.postgres.known_heads import KnownRows
from memsidecar.stores.postgres.leases import OWN_LEASE
from memsidecar.stores.postgres.new_messages import INSERT_MESSAGES
from memsidecar.stores.postgres.transaction import PostgresTransaction
from memsidecar.stores.session_rows import open_calls_column

# `back` is how far an lsn is before the last one of the statement in its namespace.
_STATEMENT = f"""WITH appended AS MATERIALIZED (
    SELECT v[i][1] AS row_id, v[i][2] AS known_version, v[i][3] AS known_active_us, v[i][4] AS namespace,
      v[i][5] AS back, v[i][6] AS last_sequence, v[i][7] AS count_1, v[i][8] AS count_2, v[i][9] AS count_3,
      v[i][10] AS count_4, v[i][11] AS tokens_1, v[i][12] AS tokens_2, v[i][13] AS tokens_3, v[i][14] AS tokens_4,
      v[i][15] AS last_active_us, v[i][16] AS bytes, nullif(open_calls, '') AS open_calls
    FROM (SELECT %b::bigint[]) AS numbers(v), unnest(%b::text[]) WITH ORDINALITY AS o(open_calls, i)
  ), locked AS MATERIALIZED (
    SELECT s.row_id, s.version, s.last_active_us FROM leases l, sessions s
    WHERE {OWN_LEASE} AND s.row_id = ANY(%b::bigint[])
    ORDER BY s.row_id FOR KEY SHARE OF l FOR NO KEY UPDATE OF s
  ), unchanged AS MATERIALIZED (
    SELECT count(*) FROM locked s JOIN appended a
      ON (a.row_id, a.known_version, a.known_active_us) = (s.row_id, s.version, s.last_active_us)
  ), ordered AS MATERIALIZED (
    SELECT number FROM namespaces WHERE number = ANY(%b::bigint[]) AND (SELECT count FROM unchanged) = %b
    ORDER BY number FOR NO KEY UPDATE
  ), counted AS (
    UPDATE namespaces n SET
      lsn = CASE WHEN n.messages + u.messages <= u.max_messages AND n.bytes + u.bytes <= u.max_bytes
                 THEN n.lsn + u.messages END,
      messages = n.messages + u.messages, bytes = n.bytes + u.bytes
    FROM ordered JOIN (
      SELECT v[i][1] AS number, v[i][2] AS messages, v[i][3] AS bytes, v[i][4] AS max_messages, v[i][5] AS max_bytes
      FROM (SELECT %b::bigint[]) AS numbers(v), generate_subscripts(v, 1) AS i
    ) AS u USING(number)
    WHERE n.number = ordered.number RETURNING n.number, n.name, n.lsn, n.sessions, n.messages, n.bytes
  ), saved AS (
    UPDATE sessions s SET version = n.lsn - a.back, last_sequence = a.last_sequence,
      count_1 = a.count_1, count_2 = a.count_2, count_3 = a.count_3, count_4 = a.count_4,
      tokens_1 = a.tokens_1, tokens_2 = a.tokens_2, tokens_3 = a.tokens_3, tokens_4 = a.tokens_4,
      last_active_us = a.last_active_us, open_calls = a.open_calls, bytes = s.bytes + a.bytes
    FROM appended a JOIN counted n ON n.number = a.namespace WHERE s.row_id = a.row_id
  ), inserted AS ({INSERT_MESSAGES.format("counted")})
  SELECT name, lsn, sessions, messages, bytes FROM counted"""


def commit_appends(transaction: PostgresTransaction, known: KnownRows, fence: Sequence[Any]) -> bool:
    """Commit a transaction that only appends, in autocommit mode; return False if a session is not as known."""
    heads, namespaces = transaction.saved_heads, transaction.namespaces
    parameters = (
        [_session_row(transaction, known[head.key], head) for head in heads],
        [open_calls_column(head) or "" for head in heads],
        *fence,
        [head.row_id for head in heads],
        [changes.number for changes in namespaces],
        len(heads),
        [_usage_row(changes.parameters()) for changes in namespaces],
        *transaction.message_columns(),
    )
    found = transaction.connection.execute(_STATEMENT, parameters).fetchall()
    if not found:
        return False
    transaction.correct_lsns({name: lsn for name, lsn, *_ in found})
    for name, _, *amounts in found:
        transaction.namespace(name).usage = Usage(*amounts)
    return True


def _session_row(transaction: PostgresTransaction, before: SessionHead, head: SessionHead) -> list[int | None]:
    changes = transaction.namespace(head.key.namespace)
    return [
        head.row_id,
        before.version,
        before.last_active_us,
        changes.number,
        changes.back(head.version),
        head.last_sequence,
        *head.counts,
        *head.tokens,
        head.last_active_us,
        transaction.growth(head.row_id),
    ]


def _usage_row(parameters: Mapping[str, int]) -> list[int]:
    return [parameters[name] for name in ("number", "messages", "bytes", "max_messages", "max_bytes")]
