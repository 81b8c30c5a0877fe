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
from memsidecar.stores.postgres.transaction import INSERT_MESSAGES, PostgresTransaction, columns
from memsidecar.stores.session_rows import open_calls_column

# `back` is how far an lsn is before the last one of the statement in its namespace.
_STATEMENT = f"""WITH appended AS MATERIALIZED (
    SELECT * FROM unnest(%b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[],
      %b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[],
      %b::bigint[], %b::bigint[], %b::text[])
    AS a(row_id, known_version, known_active_us, namespace, back, last_sequence, count_1, count_2, count_3, count_4,
      tokens_1, tokens_2, tokens_3, tokens_4, last_active_us, bytes, open_calls)
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
    FROM ordered JOIN unnest(%b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[])
      AS u(number, messages, bytes, max_messages, max_bytes) USING(number)
    WHERE n.number = ordered.number RETURNING n.number, n.name, n.lsn, n.sessions, n.messages, n.bytes
  ), saved AS (
    UPDATE sessions s SET version = n.lsn - a.back, last_sequence = a.last_sequence,
      count_1 = a.count_1, count_2 = a.count_2, count_3 = a.count_3, count_4 = a.count_4,
      tokens_1 = a.tokens_1, tokens_2 = a.tokens_2, tokens_3 = a.tokens_3, tokens_4 = a.tokens_4,
      last_active_us = a.last_active_us, open_calls = nullif(a.open_calls, ''), bytes = s.bytes + a.bytes
    FROM appended a JOIN counted n ON n.number = a.namespace WHERE s.row_id = a.row_id
  ), inserted AS ({INSERT_MESSAGES.format("counted")})
  SELECT name, lsn, sessions, messages, bytes FROM counted"""


def commit_appends(transaction: PostgresTransaction, known: KnownRows, fence: Sequence[Any]) -> bool:
    """Commit a transaction that only appends, in autocommit mode; return False if a session is not as known."""
    heads, namespaces = transaction.saved_heads, transaction.namespaces
    sessions = columns(_session_row(transaction, known[head.key], head) for head in heads)
    usage = columns(_usage_row(changes.parameters()) for changes in namespaces)
    parameters = (*sessions, *fence, sessions[0], usage[0], len(heads), *usage, *transaction.message_columns())
    found = transaction.connection.execute(_STATEMENT, parameters).fetchall()
    if not found:
        return False
    transaction.correct_lsns({name: lsn for name, lsn, *_ in found})
    for name, _, *amounts in found:
        transaction.namespace(name).usage = Usage(*amounts)
    return True


def _session_row(transaction: PostgresTransaction, before: SessionHead, head: SessionHead) -> Sequence[Any]:
    changes = transaction.namespace(head.key.namespace)
    return (
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
        open_calls_column(head) or "",
    )


def _usage_row(parameters: Mapping[str, int]) -> Sequence[int]:
    return [parameters[name] for name in ("number", "messages", "bytes", "max_messages", "max_bytes")]
