"""Reads of users: a walk that skips from one id to the next in the indexes of what users own."""

from collections.abc import Iterator, Sequence
from itertools import islice

from psycopg import Connection

from memsidecar.stores.contract import RecordKind, UserActivity, UserQuery

# One user for each query: a DISTINCT would read all that they own. The first id is at or after `prefix`, and after
# `after`.
_NEXT_USER = """SELECT min(user_id COLLATE "C") FROM (
    SELECT min(user_id) AS user_id FROM sessions
      WHERE namespace = %(namespace)s AND user_id <> '' AND user_id >= %(prefix)s AND user_id > %(after)s
    UNION ALL SELECT min(user_id) FROM owners
      WHERE namespace = %(namespace)s AND session_id = '' AND user_id >= %(prefix)s AND user_id > %(after)s
  ) AS found"""
_ACTIVITY = """SELECT count(*), coalesce(max(last_active_us), 0) FROM sessions
  WHERE namespace = %s AND user_id = %s AND user_id <> ''"""
# An owner's row stays when all that it owned was deleted, and a user may own nothing but patterns.
_OWNS_KNOWLEDGE = f"""SELECT EXISTS (SELECT FROM records
    WHERE namespace = %(namespace)s AND session_id = '' AND user_id = %(user_id)s AND kind = {int(RecordKind.FACT)})
  OR EXISTS (SELECT FROM documents WHERE namespace = %(namespace)s AND session_id = '' AND user_id = %(user_id)s)"""
_FIND_NUMBER = "SELECT number FROM namespaces WHERE name = %s"


def list_users(connection: Connection, query: UserQuery) -> Sequence[UserActivity]:
    found = connection.execute(_FIND_NUMBER, (query.namespace,)).fetchone()
    return list(islice(_users(connection, found[0], query), query.limit)) if found else []


def _users(connection: Connection, namespace: int, query: UserQuery) -> Iterator[UserActivity]:
    for user_id in _known_ids(connection, namespace, query):
        ((count, last_active_us),) = connection.execute(_ACTIVITY, (namespace, user_id)).fetchall()
        if count or _owns_knowledge(connection, namespace, user_id):
            yield UserActivity(user_id, count, last_active_us)


def _known_ids(connection: Connection, namespace: int, query: UserQuery) -> Iterator[str]:
    after = query.after_id
    while True:
        parameters = {"namespace": namespace, "prefix": query.prefix, "after": after}
        ((user_id,),) = connection.execute(_NEXT_USER, parameters).fetchall()
        if user_id is None or not user_id.startswith(query.prefix):
            return
        yield user_id
        after = user_id


def _owns_knowledge(connection: Connection, namespace: int, user_id: str) -> bool:
    ((owns,),) = connection.execute(_OWNS_KNOWLEDGE, {"namespace": namespace, "user_id": user_id}).fetchall()
    return bool(owns)
