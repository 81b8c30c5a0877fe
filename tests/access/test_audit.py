"""The audit log: caller, method, scope and status of calls, and never content."""

import asyncio
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from memsidecar.access.policy import AccessRole, Caller
from memsidecar.api.admission.audit import AUDIT_LOGGER, MAX_NAME_CHARACTERS, AuditLog, CallRecord
from memsidecar.api.status import CallAborted
from memsidecar.assembly.security import open_security_files
from memsidecar.domain import errors
from memsidecar.logs import JsonFormatter, TextFormatter
from memsidecar.settings import Settings
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.access.access_files import Grant
from tests.access.calls import call, minimal
from tests.access.restricted_sidecar import RestrictedSidecar, restricted_sidecar
from tests.bad_input.rpcs import METHODS
from tests.support.canaries import CANARY
from tests.support.waiting import until

WRITER = Caller("agent", AccessRole.WRITE, frozenset({"n"}))
Line = dict[str, Any]


def call_record(method: str = "Add", **request: str) -> CallRecord:
    made = CallRecord(method, lambda: "ipv4:127.0.0.1:5", WRITER)
    place: dict[str, Any] = {"namespace": "n", "user_id": "u", "session_id": "s", **request}
    made.set_request(memory.AddRequest(**place))
    return made


LogCapture = pytest.LogCaptureFixture


@pytest.fixture
def audited(caplog: LogCapture) -> LogCapture:
    caplog.set_level(logging.INFO, AUDIT_LOGGER)
    return caplog


def codes(audited: LogCapture) -> list[str]:
    return [vars(record)["fields"]["code"] for record in audited.records]


def audit(which: str, called: CallRecord, error: BaseException | None = None) -> None:
    try:
        with AuditLog(which).recording(called):
            if error is not None:
                raise error
    except BaseException as raised:
        if raised is not error:
            raise


ALL, CHANGES, OFF = "all", "changes", "off"


@pytest.mark.parametrize(
    ("which", "method", "error", "expected"),
    [
        (OFF, "Add", None, []),
        (OFF, "Add", errors.Unauthenticated(), []),
        (CHANGES, "Add", None, ["OK"]),
        (CHANGES, "Clear", None, ["OK"]),
        (CHANGES, "GetAll", None, []),
        (CHANGES, "GetAll", errors.NotFound("x"), []),
        (CHANGES, "GetAll", errors.Unauthenticated(), ["UNAUTHENTICATED"]),
        (CHANGES, "GetAll", errors.PermissionDenied("x"), ["PERMISSION_DENIED"]),
        (CHANGES, "Add", errors.IdConflict("x"), ["ALREADY_EXISTS"]),
        (CHANGES, "Add", RuntimeError("x"), ["INTERNAL"]),
        (CHANGES, "Add", asyncio.CancelledError(), ["CANCELLED"]),
        (CHANGES, "AddStream", GeneratorExit(), ["CANCELLED"]),
        (ALL, "GetAll", None, ["OK"]),
        (ALL, "GetAll", errors.NotFound("x"), ["NOT_FOUND"]),
    ],
)
def test_the_audit_level_selects_the_calls(
    audited: LogCapture, which: str, method: str, error: BaseException | None, expected: list[str]
) -> None:
    audit(which, call_record(method), error)
    assert codes(audited) == expected


@pytest.mark.parametrize(
    ("error", "code", "reason"),
    [
        (errors.QuotaExceeded("messages", 8), "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED"),
        (errors.RateLimited("x"), "RESOURCE_EXHAUSTED", "RATE_LIMITED"),
        (errors.Unauthenticated(), "UNAUTHENTICATED", "UNAUTHENTICATED"),
        (errors.DeadlineExceeded(), "DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED"),
        (RuntimeError("x"), "INTERNAL", "INTERNAL"),
        (asyncio.CancelledError(), "CANCELLED", "CANCELLED"),
        (CallAborted.with_code(grpc.StatusCode.UNIMPLEMENTED, "x"), "UNIMPLEMENTED", "UNIMPLEMENTED"),
    ],
)
def test_a_failed_call_has_its_reason(audited: LogCapture, error: BaseException, code: str, reason: str) -> None:
    audit(ALL, call_record(), error)
    (record,) = audited.records
    assert [vars(record)["fields"][name] for name in ("code", "reason")] == [code, reason]


def test_every_rpc_can_be_audited(audited: LogCapture) -> None:
    for method in METHODS:
        audit(ALL, call_record(method))
    assert len(audited.records) == len(METHODS)


def test_a_line_has_caller_method_scope_and_status(audited: LogCapture) -> None:
    audit(ALL, call_record())
    (record,) = audited.records
    assert vars(record)["fields"] == {
        "who": "agent",
        "peer": "ipv4:127.0.0.1:5",
        "method": "Add",
        "namespace": "n",
        "user": "u",
        "session": "s",
        "code": "OK",
    }


HOSTILE = [
    "a\nb",
    "\r\n2026-01-31T12:00:00.000Z info memsidecar.audit audit who=root code=OK",
    '" code=OK who="root',
    "x code=OK",
    "\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e",
    "\x1b[2J\x1b[1;1H",
    "\u202eolleh",
    '"}\n{"who": "root", "message": "audit"}',
    "\\",
    "\0",
    "%s %(who)s {0}",
    "z" * 10_000,
    "é🦊" * 5_000,
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_name_forges_a_line_or_a_field(audited: LogCapture, hostile: str) -> None:
    audit(ALL, call_record(namespace=hostile, user_id=hostile, session_id=hostile), errors.PermissionDenied("x"))
    (record,) = audited.records
    (as_json,) = JsonFormatter().format(record).splitlines()
    line = json.loads(as_json)
    assert (line["who"], line["reason"], line["user"]) == ("agent", "PERMISSION_DENIED", hostile[:MAX_NAME_CHARACTERS])
    (as_text,) = TextFormatter().format(record).splitlines()
    head, _, last = as_text.rpartition(" ")
    assert last == "reason=PERMISSION_DENIED" and " audit who=agent peer=" in head and as_text.isprintable()
    assert max(len(as_json), len(as_text)) < 3 * 12 * MAX_NAME_CHARACTERS + 500


# -- of running sidecars

HOME = "home"
AGENT = Grant("agent", (HOME,), AccessRole.ADMIN)
READER = Grant("reader \u202e\"'=", (HOME,), AccessRole.READ)


def add_request(content: str, namespace: str = HOME, session_id: str = "s") -> bytes:
    message = Message(role=ROLE_USER, content=content, name=content)
    return memory.AddRequest(namespace=namespace, session_id=session_id, message=message).SerializeToString()


def use(restricted: RestrictedSidecar) -> None:
    """Make a change, a read, and denied calls of both kinds, with a canary in all content."""
    call(restricted.channel, "Add", [add_request(CANARY)], AGENT.text)
    call(
        restricted.channel,
        "Search",
        [memory.SearchRequest(namespace=HOME, query=CANARY).SerializeToString()],
        READER.text,
    )
    call(restricted.channel, "Add", [add_request(CANARY)], READER.text)
    call(restricted.channel, "Add", [add_request(CANARY)], AGENT.rotated().text)
    call(restricted.channel, "GetAll", [minimal("GetAll", "away").SerializeToString()], AGENT.text)
    for hostile in HOSTILE:
        call(restricted.channel, "Add", [add_request(CANARY, hostile, hostile)], AGENT.text)


USED = [
    ("agent", "Add", "OK"),
    (READER.name, "Search", "INVALID_FIELD"),
    (READER.name, "Add", "PERMISSION_DENIED"),
    ("", "Add", "UNAUTHENTICATED"),
    ("agent", "GetAll", "PERMISSION_DENIED"),
    *[("agent", "Add", "PERMISSION_DENIED")] * len(HOSTILE),
]


def summary(line: Line) -> tuple[str, str, str]:
    """Return caller, method, and the reason or OK."""
    return line["who"], line["method"], line["reason"] if "reason" in line else line["code"]


@pytest.fixture(scope="module")
def audit_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RestrictedSidecar, Path]]:
    folder = tmp_path_factory.mktemp("audited")
    file = folder / "audit.log"
    with restricted_sidecar(
        folder, [AGENT, READER], "--audit", "all", "--audit-file", str(file), "--log-level", "debug"
    ) as restricted:
        yield restricted, file


def lines_of(file: Path) -> list[Line]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_all_calls_are_written_to_the_file_and_none_to_the_log(audit_file: tuple[RestrictedSidecar, Path]) -> None:
    restricted, file = audit_file
    file.write_text("")
    use(restricted)
    assert [summary(line) for line in lines_of(file)] == USED
    assert CANARY not in file.read_text()
    assert all(grant.token.secret not in file.read_text() for grant in (AGENT, READER))
    assert AUDIT_LOGGER not in restricted.sidecar.log()


def test_a_moved_file_is_created_again(audit_file: tuple[RestrictedSidecar, Path]) -> None:
    restricted, file = audit_file
    restricted.ask("Count", HOME, AGENT)
    before = file.read_text()
    moved = file.rename(file.with_name("audit.log.1"))
    restricted.ask("GetAll", HOME, READER)
    assert moved.read_text() == before
    assert [summary(line) for line in lines_of(file)] == [(READER.name, "GetAll", "OK")]


def test_a_removed_file_is_created_again(audit_file: tuple[RestrictedSidecar, Path]) -> None:
    restricted, file = audit_file
    restricted.ask("Count", HOME, AGENT)
    file.unlink()
    restricted.ask("Count", HOME, AGENT)
    assert [summary(line) for line in lines_of(file)] == [("agent", "Count", "OK")]


def test_a_stream_is_audited_for_each_scope_and_at_its_end(audit_file: tuple[RestrictedSidecar, Path]) -> None:
    restricted, file = audit_file
    file.write_text("")
    sessions = ("a", "a", "b", "b")
    spoken = [minimal("AddStream", HOME, session_id).SerializeToString() for session_id in sessions]
    astray = minimal("AddStream", "away", "c").SerializeToString()
    answer = call(restricted.channel, "AddStream", [*spoken, astray], AGENT.text)
    assert answer.code is grpc.StatusCode.PERMISSION_DENIED
    until(lambda: len(lines_of(file)) == 3)
    assert [(line["namespace"], line["session"], line["code"]) for line in lines_of(file)] == [
        (HOME, "a", "STREAMING"),
        (HOME, "b", "STREAMING"),
        ("away", "c", "PERMISSION_DENIED"),
    ]


def test_changes_and_denied_calls_are_audited_to_the_log(tmp_path: Path) -> None:
    flags = ("--audit", "changes", "--log-format", "json", "--log-calls", "all", "--log-level", "debug")
    with restricted_sidecar(tmp_path, [AGENT, READER], *flags) as restricted:
        use(restricted)
        lines: list[Line] = [json.loads(line) for line in restricted.sidecar.log().splitlines()]
    audited = [summary(line) for line in lines if line["logger"] == AUDIT_LOGGER]
    assert audited == [one for one in USED if one[1] != "Search"]


def test_an_audit_file_that_cannot_be_written_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(errors.StartRefused, match=r"audit_file .* cannot be written: No such file"):
        open_security_files(Settings(audit_file=tmp_path / "none" / "audit"))
