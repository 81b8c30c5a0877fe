"""Reads of users: a walk that skips from one id to the next in the indexes of what users own."""

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import islice

from memsidecar.stores.contract import RecordKind, UserActivity, UserQuery
from memsidecar.stores.contract.users import BEFORE_EVERY_ID

# One user for each query: a DISTINCT would read all that they own.
NEXT_USER = """SELECT min(user_id) FROM (
    SELECT min(user_id) AS user_id FROM sessions
      WHERE namespace = :namespace AND user_id <> '' AND user_id >= :first
    UNION ALL SELECT min(user_id) FROM records
      WHERE namespace = :namespace AND session_id = '' AND user_id >= :first
    UNION ALL SELECT min(user_id) FROM documents
      WHERE namespace = :namespace AND session_id = '' AND user_id >= :first)"""
ACTIVITY = """SELECT count(*), coalesce(max(last_active_us), 0) FROM sessions
  WHERE namespace = ? AND user_id = ? AND user_id <> ''"""
# The rows of NEXT_USER also have users of whom only patterns are stored. A condition for facts there would read the
# patterns of all users up to the next one with a fact.
OWNS_KNOWLEDGE = f"""SELECT EXISTS (SELECT 1 FROM records
    WHERE namespace = :namespace AND session_id = '' AND user_id = :user_id AND kind = {int(RecordKind.FACT)})
  OR EXISTS (SELECT 1 FROM documents WHERE namespace = :namespace AND session_id = '' AND user_id = :user_id)"""


def list_users(connection: sqlite3.Connection, query: UserQuery) -> Sequence[UserActivity]:
    return list(islice(_users(connection, query), query.limit))


def _users(connection: sqlite3.Connection, query: UserQuery) -> Iterator[UserActivity]:
    for user_id in _known_ids(connection, query):
        count, last_active_us = connection.execute(ACTIVITY, (query.namespace, user_id)).fetchone()
        if count or _owns_knowledge(connection, query.namespace, user_id):
            yield UserActivity(user_id, count, last_active_us)


def _known_ids(connection: sqlite3.Connection, query: UserQuery) -> Iterator[str]:
    first = query.first
    while True:
        (user_id,) = connection.execute(NEXT_USER, {"namespace": query.namespace, "first": first}).fetchone()
        if user_id is None or not user_id.startswith(query.prefix):
            return
        yield user_id
        first = user_id + BEFORE_EVERY_ID


def _owns_knowledge(connection: sqlite3.Connection, namespace: str, user_id: str) -> bool:
    (owns,) = connection.execute(OWNS_KNOWLEDGE, {"namespace": namespace, "user_id": user_id}).fetchone()
    return bool(owns)
