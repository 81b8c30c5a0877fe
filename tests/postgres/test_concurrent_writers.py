"""Several writers on one database: no deadlock, no lost update, whatever the commands."""

import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import psycopg
import pytest

from memsidecar.domain.errors import IdConflict, NotFound, Overloaded, SessionOwnerMismatch
from memsidecar.domain.quota import no_quotas
from memsidecar.domain.session import SessionKey
from memsidecar.domain.statistics import OperationStatistics
from memsidecar.stores.contract import (
    Append,
    Claim,
    DeleteDocument,
    DeleteRecord,
    Erase,
    EraseUser,
    ForgetMessages,
    ImportDocument,
    ImportMessages,
    ImportRecords,
    ImportSession,
    MessageImport,
    Origin,
    Owner,
    PendingCommand,
    PutDocument,
    Record,
    RecordChanges,
    RecordImport,
    RecordKind,
    SessionImport,
    UpdateMessage,
)
from memsidecar.stores.postgres.integrity import examine
from memsidecar.stores.postgres.leases import SidecarLease
from memsidecar.stores.postgres.writer import PostgresWriter
from tests.conformance.builders import DERIVATIONS, document, draft, new_record, scored, upsert_command
from tests.support.waiting import until

WRITERS = 3
GROUPS = 60
COMMANDS = 4
KEYS = [SessionKey(namespace, f"s{number}") for namespace in ("default", "other") for number in range(3)]
USERS = ("", "ann", "bob")
REFUSALS = (NotFound, IdConflict, SessionOwnerMismatch)
_ROW_IDS = "SELECT row_id FROM sessions"
_DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
_OTHERS = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'memsidecar'"

Choose = random.Random


def _messages(choose: Choose) -> list[str]:
    return [f"m{choose.randrange(40)}" for _ in range(3)]


def _owner(choose: Choose, key: SessionKey) -> Owner:
    return choose.choice([Owner(key.namespace, "", key.session_id), Owner(key.namespace, "ann"), Owner(key.namespace)])


def _add_new(_: Sequence[Record], new: Sequence[Record]) -> RecordChanges:
    return RecordChanges(new)


def _import_records(choose: Choose, key: SessionKey) -> ImportRecords:
    records = [RecordImport(new_record(name=f"r{choose.randrange(9)}", source=key.session_id), Origin(key.namespace))]
    return ImportRecords(_owner(choose, key), "", RecordKind.FACT, records, _add_new, override_erasures=True)


def _upsert(choose: Choose, key: SessionKey, row_ids: Sequence[int]) -> Any:
    record = new_record(name=f"r{choose.randrange(9)}", source=key.session_id, conflict_key=choose.randrange(4))
    kind = choose.choice(list(RecordKind))
    source = choose.choice([None, *row_ids])
    return upsert_command(record, owner=_owner(choose, key), kind=kind, derived_from=source, conflict_keys=[1, 2])


def command(choose: Choose, row_ids: Sequence[int]) -> Any:
    key, user_id = choose.choice(KEYS), choose.choice(USERS)
    owner, name = _owner(choose, key), f"d{choose.randrange(3)}"
    makers: list[Callable[[], Any]] = [
        lambda: Append(key, user_id, [draft(text) for text in dict.fromkeys(_messages(choose))]),
        lambda: Claim(key, user_id),
        lambda: UpdateMessage(key, "", choose.choice(_messages(choose)), scored(1.0)),
        lambda: _upsert(choose, key, row_ids),
        lambda: DeleteRecord(owner, RecordKind.FACT, f"r{choose.randrange(9)}"),
        lambda: PutDocument(document(*_messages(choose), owner=owner, name=name)),
        lambda: DeleteDocument(owner, name),
        lambda: Erase(key, "", delete_session=choose.random() < 0.5),
        lambda: ForgetMessages(key, "", [choose.choice(_messages(choose))], DERIVATIONS),
        lambda: EraseUser(key.namespace, choose.choice(USERS)),
        lambda: ImportSession(SessionImport(key, "", 1, 1, choose.randrange(50)), override_erasures=True),
        lambda: ImportMessages([MessageImport(key, "", draft(text)) for text in _messages(choose)], True),
        lambda: _import_records(choose, key),
        lambda: ImportDocument(document("text", owner=owner, name=name), "", override_erasures=True),
    ]
    return choose.choices(makers, weights=[6, *[1] * (len(makers) - 1)])[0]()


def _append(choose: Choose, _: Sequence[int]) -> Append:
    return Append(choose.choice(KEYS), "", [draft(f"{choose.random()}")])


def write_at_random(
    writer: PostgresWriter, url: str, seed: int, command: Callable[[Choose, Sequence[int]], Any]
) -> list[BaseException]:
    """Write groups of commands; return the errors that no order of the commands explains."""
    choose = Choose(seed)
    errors: list[BaseException] = []
    with psycopg.connect(url, autocommit=True) as connection:
        for _ in range(GROUPS):
            row_ids = [row_id for (row_id,) in connection.execute(_ROW_IDS).fetchall()]
            group = [PendingCommand(command(choose, row_ids)) for _ in range(COMMANDS)]
            writer.write(group)
            while not all(pending.done for pending in group):
                writer.deletions.step()
            errors += [pending.error for pending in group if pending.error and not isinstance(pending.error, REFUSALS)]
    return errors


@pytest.mark.parametrize("commands", [[command] * WRITERS, [_append, _append, command]], ids=["all", "appends"])
def test_writers_never_wait_for_each_other_in_a_circle(url: str, commands: Sequence[Callable[..., Any]]) -> None:
    """A writer that only appends commits by one statement where it has written last."""
    with closing(SidecarLease(lambda: url)) as lease, ThreadPoolExecutor(WRITERS) as threads:
        writers = [
            PostgresWriter(lambda: url, lease, quotas=no_quotas, commits=OperationStatistics()) for _ in range(WRITERS)
        ]
        runs = [
            threads.submit(write_at_random, writer, url, seed, command)
            for seed, (writer, command) in enumerate(zip(writers, commands, strict=True))
        ]
        errors = [error for run in runs for error in run.result()]
        for writer in writers:
            writer.close()
            writer.deletions.close()
    assert {type(error) for error in errors} <= {Overloaded}
    assert examine(lambda: url) == []
    with psycopg.connect(url, autocommit=True) as connection:
        until(lambda: connection.execute(_OTHERS).fetchone() is None)
        assert connection.execute(_DEADLOCKS).fetchone() == (0,)
