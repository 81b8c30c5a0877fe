"""Events: reads of the log without the content of messages."""

from collections.abc import Mapping

from psycopg import Connection

from memsidecar.stores.contract import Event, EventKind, EventPage, RecordKind, Scope
from memsidecar.stores.log_kinds import LogKind
from memsidecar.stores.postgres.namespaces import find_row

_ADDED, _ANNOTATED, _CLEAR, _FACT, _SUMMARY = (
    int(kind) for kind in (LogKind.MESSAGE, LogKind.ANNOTATION, LogKind.CLEAR, LogKind.FACT, LogKind.SUMMARY)
)
_OF_MESSAGES = f"{_ANNOTATED}, {int(LogKind.PRUNE)}, {int(LogKind.MESSAGE_ERASURE)}"
_IN_SCOPE = "%(user_id)s IN ('', {user_id}) AND %(session_id)s IN ('', {session_id})"
# What a session owns has no user of its own.
_USER = "coalesce(nullif(o.user_id, ''), os.user_id, s.user_id, '')"
_SESSION = "coalesce(o.session_id, s.session_id, '')"
_NEWEST_SUMMARY = f"""SELECT r.id FROM records r
  WHERE r.namespace = e.namespace AND r.session_id = o.session_id AND r.user_id = o.user_id
    AND r.kind = {int(RecordKind.SUMMARY)} AND r.first_lsn <= e.lsn ORDER BY r.first_lsn DESC LIMIT 1"""
# An erasure without names is in every scope. A message that was erased alone has lost its id.
_EVENTS = f"""(
    SELECT m.lsn, {_ADDED} AS kind, s.user_id, s.session_id, m.sequence, m.id, m.commit_us
    FROM messages m JOIN sessions s ON s.row_id = m.session
    WHERE m.namespace = %(namespace)s AND m.lsn > %(after)s
      AND {_IN_SCOPE.format(user_id="s.user_id", session_id="s.session_id")} ORDER BY m.lsn LIMIT %(limit)s
  ) UNION ALL (
    SELECT e.lsn, e.kind, {_USER}, {_SESSION},
      CASE WHEN e.kind IN ({_OF_MESSAGES}, {_SUMMARY}) THEN e.sequence ELSE 0 END,
      CASE e.kind WHEN {_ANNOTATED} THEN m.id WHEN {_FACT} THEN f.id WHEN {_SUMMARY} THEN ({_NEWEST_SUMMARY}) END,
      e.time_us
    FROM events e
    LEFT JOIN sessions s
      ON s.row_id = CASE WHEN e.kind IN ({_OF_MESSAGES}) THEN e.session WHEN e.kind = {_CLEAR} THEN e.sequence END
    LEFT JOIN messages m ON e.kind = {_ANNOTATED} AND m.session = e.session AND m.sequence = e.sequence
    LEFT JOIN owners o ON e.kind IN ({_FACT}, {_SUMMARY}) AND o.row_id = e.session
    LEFT JOIN sessions os ON o.session_id <> '' AND os.namespace = o.namespace AND os.session_id = o.session_id
    LEFT JOIN records f ON e.kind = {_FACT} AND f.row_id = e.sequence
    WHERE e.namespace = %(namespace)s AND e.lsn > %(after)s AND CASE
        WHEN e.kind = {_ANNOTATED} THEN m.id IS NOT NULL
        WHEN e.kind IN ({_OF_MESSAGES}) THEN s.row_id IS NOT NULL
        WHEN e.kind IN ({_FACT}, {_SUMMARY}) THEN o.row_id IS NOT NULL
        ELSE e.kind IN ({_CLEAR}, {int(LogKind.DELETE)}) END
      AND ({_IN_SCOPE.format(user_id=_USER, session_id=_SESSION)}
        OR e.kind IN ({_CLEAR}, {int(LogKind.DELETE)}) AND {_SESSION} = '')
    ORDER BY e.lsn LIMIT %(limit)s
  ) ORDER BY lsn LIMIT %(limit)s"""

_EVENT_KINDS: Mapping[int, EventKind] = {
    LogKind.MESSAGE: EventKind.ADDED,
    LogKind.ANNOTATION: EventKind.ANNOTATED,
    LogKind.PRUNE: EventKind.PRUNED,
    LogKind.CLEAR: EventKind.CLEARED,
    LogKind.DELETE: EventKind.FORGOTTEN,
    LogKind.MESSAGE_ERASURE: EventKind.FORGOTTEN,
    LogKind.FACT: EventKind.FACT,
    LogKind.SUMMARY: EventKind.SUMMARY,
}


def read_event_page(connection: Connection, scope: Scope, after_lsn: int, limit: int) -> EventPage:
    namespace = find_row(connection, scope.namespace)
    if namespace is None:
        return EventPage([], after_lsn, is_last=True)
    parameters = {
        "namespace": namespace.number,
        "user_id": scope.user_id,
        "session_id": scope.session_id,
        "after": after_lsn,
        "limit": limit,
    }
    events = [
        Event(lsn, _EVENT_KINDS[kind], user_id, session_id, sequence or 0, name or "", time_us)
        for lsn, kind, user_id, session_id, sequence, name, time_us in connection.execute(_EVENTS, parameters)
    ]
    lsn = events[-1].lsn if len(events) == limit else max(after_lsn, namespace.lsn)
    return EventPage(events, lsn, is_last=lsn >= namespace.lsn)
