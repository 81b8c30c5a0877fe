"""`memsidecar doctor` on a database: sums that must agree, read from one snapshot while sidecars run.

Pages are not examined: PostgreSQL has checksums of its own.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing

from psycopg import Connection

from memsidecar.domain.message import Flag
from memsidecar.stores.postgres.connection import UNLIMITED, ConnectionString, connect, translated
from memsidecar.stores.postgres.migrations import check_version

_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_PRUNED = int(Flag.PRUNED)
_WRONG_SUMS = f"""SELECT n.name, s.session_id FROM sessions s JOIN namespaces n ON n.number = s.namespace
  LEFT JOIN (
    SELECT session, count(*) FILTER (WHERE flags & {_PRUNED} <> 0) AS pruned,
      count(*) FILTER (WHERE flags & {_PRUNED} = 0) AS displayed,
      sum(displayed_tokens) FILTER (WHERE flags & {_PRUNED} = 0) AS tokens,
      max(sequence) AS last, max(lsn) AS lsn,
      sum(octet_length(body) + coalesce(octet_length(vector), 0)) AS bytes
    FROM messages GROUP BY session
  ) AS m ON m.session = s.row_id
  WHERE s.pruned_count <> coalesce(m.pruned, 0)
     OR s.count_1 + s.count_2 + s.count_3 + s.count_4 <> coalesce(m.displayed, 0)
     OR s.tokens_1 + s.tokens_2 + s.tokens_3 + s.tokens_4 <> coalesce(m.tokens, 0)
     OR s.last_sequence < coalesce(m.last, 0) OR s.version < coalesce(m.lsn, 0)
     OR s.bytes <> coalesce(m.bytes, 0)"""
_WRONG_USAGE = """SELECT n.name FROM namespaces n LEFT JOIN (
    SELECT namespace, sum(sessions) AS sessions, sum(messages) AS messages, sum(bytes) AS bytes FROM (
      SELECT namespace, 1 AS sessions, count_1 + count_2 + count_3 + count_4 + pruned_count AS messages, bytes
        FROM sessions
      UNION ALL SELECT namespace, 0, 0, bytes FROM documents
      UNION ALL SELECT namespace, 0, 0, octet_length(body) FROM records
    ) AS stored GROUP BY namespace
  ) AS u ON u.namespace = n.number
  WHERE (n.sessions, n.messages, n.bytes)
    <> (coalesce(u.sessions, 0), coalesce(u.messages, 0), coalesce(u.bytes, 0))"""
_WRONG_LSNS = """SELECT n.name FROM namespaces n
  WHERE n.lsn < greatest((SELECT max(lsn) FROM messages WHERE namespace = n.number),
                         (SELECT max(lsn) FROM events WHERE namespace = n.number), 0)"""
_SHARED_LSNS = """SELECT n.name, count(*) FROM messages m JOIN events e USING(namespace, lsn)
  JOIN namespaces n ON n.number = m.namespace GROUP BY n.name"""
_DOCUMENTS_WITHOUT_TEXT = """SELECT n.name, d.id FROM documents d JOIN namespaces n ON n.number = d.namespace
  WHERE d.chunk_count <> (SELECT count(*) FROM chunks c WHERE c.document = d.row_id)"""


def examine(connection_string: ConnectionString) -> Sequence[str]:
    """Return one line for each fault found; empty if there is none."""
    with translated(), closing(connect(connection_string)) as connection:
        check_version(connection)
        connection.answer_seconds = None
        connection.execute(_SNAPSHOT)
        connection.execute(UNLIMITED)
        return list(_findings(connection))


def _findings(connection: Connection) -> Iterator[str]:
    for namespace, session_id in connection.execute(_WRONG_SUMS):
        yield f"the sums of session {session_id!r} in namespace {namespace!r} do not match its messages"
    for (namespace,) in connection.execute(_WRONG_USAGE):
        yield f"the usage of namespace {namespace!r} does not match what it stores"
    for (namespace,) in connection.execute(_WRONG_LSNS):
        yield f"namespace {namespace!r} has entries after its last lsn"
    for namespace, count in connection.execute(_SHARED_LSNS):
        yield f"{count} lsns of namespace {namespace!r} have two entries"
    for namespace, document_id in connection.execute(_DOCUMENTS_WITHOUT_TEXT):
        yield f"document {document_id!r} in namespace {namespace!r} has lost text"
