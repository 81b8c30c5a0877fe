"""Users on disk: a page costs as much as its users, and erased ones leave no name in the index."""

import sqlite3
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest

from memsidecar.domain.session import SessionKey
from memsidecar.domain.statistics import CALL_SECONDS, Distribution
from memsidecar.stores.contract import EraseUser, Owner, RecordKind, SessionQuery, UserQuery
from memsidecar.stores.sqlite import users
from memsidecar.stores.sqlite.integrity import examine
from memsidecar.stores.sqlite.reader import Reader
from tests.conformance.builders import append, draft, execute, new_record, upsert
from tests.stores.directories import bytes_of, opened
from tests.stores.schema_downgrade import downgrade_to_version_7
from tests.stores.test_sqlite_change_feed import cost

TABLES = ("sessions", "records", "documents")


def add_users(folder: Path, count: int, sessions: int = 1, *, patterns: bool = False) -> None:
    """Insert the rows of users with sessions, and with patterns if wanted, as quickly as SQLite can."""
    with closing(sqlite3.connect(folder / "journal.db")) as connection:
        (first,) = connection.execute("SELECT count(DISTINCT user_id) FROM sessions").fetchone()
        for number in range(first, first + count):
            user_id = f"user {number:06}"
            connection.executemany(
                "INSERT INTO sessions VALUES (NULL, 'n', ?, ?, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ?, NULL, 0)",
                [(f"{user_id} {at}", user_id, at + 1) for at in range(sessions)],
            )
            if patterns:
                connection.execute(
                    "INSERT INTO records VALUES (NULL, 'n', ?, '', ?, 'p', 0, '', 0, 0, 0, 0, 0)",
                    (user_id, int(RecordKind.PATTERNS)),
                )
        connection.commit()


@pytest.mark.parametrize("after_id", ["", "user 000100"])
@pytest.mark.parametrize("patterns", [False, True], ids=["sessions", "sessions and patterns"])
def test_a_page_costs_as_much_in_a_large_namespace_as_in_a_small_one(
    folder: Path, after_id: str, patterns: bool
) -> None:
    query, costs = UserQuery("n", limit=20, after_id=after_id), []
    with opened(folder):
        pass
    for more in (200, 4_000):
        add_users(folder, more, patterns=patterns)
        costs.append(cost(folder, lambda connection: users.list_users(connection, query)))
    assert costs[1] <= costs[0] + 2


def test_a_page_reads_no_session_of_other_users(folder: Path) -> None:
    query, costs = UserQuery("n", prefix="user 000000", limit=20), []
    with opened(folder):
        pass
    for sessions in (1, 2_000):
        add_users(folder, 2, sessions)
        costs.append(cost(folder, lambda connection: users.list_users(connection, query)))
    assert costs[1] <= costs[0] + 2


def test_users_are_found_by_indexes_alone(folder: Path) -> None:
    where = {"namespace": "n", "first": "", "user_id": "u"}
    with opened(folder), closing(sqlite3.connect(folder / "journal.db")) as connection:
        plans = {
            query: [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", values)]
            for query, values in (
                (users.NEXT_USER, where),
                (users.ACTIVITY, ("n", "u")),
                (users.OWNS_KNOWLEDGE, where),
            )
        }
    steps = [step for plan in plans.values() for step in plan]
    assert not any(step.startswith(f"SCAN {table}") for step in steps for table in TABLES), steps
    assert any("session_users (namespace=? AND user_id>?)" in step for step in steps), steps
    assert sum("(namespace=? AND session_id=? AND user_id>?)" in step for step in steps) == 2, steps
    assert any("session_users (namespace=? AND user_id=?)" in step for step in steps), steps


def test_the_sessions_of_a_user_are_found_by_the_index_of_users(folder: Path) -> None:
    statements: list[str] = []
    with opened(folder), closing(Reader(folder / "journal.db", 1, Distribution(CALL_SECONDS))) as reader:
        with reader.snapshot() as connection:
            connection.set_trace_callback(statements.append)
        reader.sessions(SessionQuery("n", "ann"))
        with reader.snapshot() as connection:
            connection.set_trace_callback(None)
            (query,) = (each for each in statements if each.startswith("SELECT"))
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}")]
    assert plan[0].startswith("SEARCH s USING INDEX session_users (namespace=? AND user_id=?)"), plan


def test_an_erased_user_leaves_no_name_in_any_file(folder: Path) -> None:
    names = [f"user-{uuid4().hex}" for _ in range(40)]
    with opened(folder) as journal:
        for name in names:
            append(journal, draft("m"), key=SessionKey("n", uuid4().hex), user_id=name)
            upsert(journal, new_record(), owner=Owner("n", name), kind=RecordKind.FACT)
        for number, name in enumerate(names):
            execute(journal, EraseUser("n", name))
            assert [user.user_id for user in journal.users(UserQuery("n"))] == sorted(names[number + 1 :])
            assert name.encode() not in bytes_of(folder)
    assert not any(name.encode() in bytes_of(folder) for name in names)


def test_users_of_a_file_without_their_index_are_listed_after_the_migration(folder: Path) -> None:
    with opened(folder) as journal:
        for user_id in ("bob", "ann", ""):
            append(journal, draft("m"), key=SessionKey("n", f"of {user_id}"), user_id=user_id)
        before = journal.users(UserQuery("n"))
    downgrade_to_version_7(folder)
    with opened(folder) as journal:
        assert journal.users(UserQuery("n")) == before and len(before) == 2
    assert examine(folder) == []
