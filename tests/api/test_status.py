"""The error table is complete, matches errors.proto, and is the same over the wire."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message as Proto
from google.rpc import error_details_pb2, status_pb2

import memsidecar
from memsidecar.api.status import DOMAIN, INTERNAL_ERROR, TABLE, reason_name, rich_status, row_of
from memsidecar.domain import errors
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1.context_pb2 import BuildContextRequest
from memsidecar.v1.errors_pb2 import ErrorReason
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.api.raising_server import RaisingServer
from tests.support.process import Client, refusal

DETAILS_KEY = "grpc-status-details-bin"
ERRORS_PROTO = Path(__file__).parents[2] / "protos/memsidecar/v1/errors.proto"
NEVER_ON_THE_WIRE = {
    "StartRefused",
    "InvalidAccessFile",
    "InvalidCertificates",
    "CallFailed",
    "CheckFailed",
    "ComparisonFailed",
    "FileProblem",
    "SdkMissing",
    "TransferFailed",
    "UnusableFile",
    "UsageError",
    "VersionConflict",
    "WrongFormat",
}
# Where one of these comes up, the layers go on without: a search is degraded, a summary stays as it was, a background
# task tries again.
NEVER_ON_THE_WIRE |= {"EmbedderUnavailable", "EmbedderMismatch", "ModelUnavailable", "MalformedAnswer", "TextRejected"}
NEVER_ON_THE_WIRE |= {"IndexUnavailable", "Unreadable", "RetryLater"}
EXAMPLES: dict[type[errors.SidecarError], errors.SidecarError] = {
    errors.InvalidField: errors.InvalidField("message.role", "is wrong"),
    errors.NotFound: errors.NotFound("there is none"),
    errors.IdConflict: errors.IdConflict("m"),
    errors.SequenceMismatch: errors.SequenceMismatch(3, 7),
    errors.SessionOwnerMismatch: errors.SessionOwnerMismatch(),
    errors.BudgetTooSmall: errors.BudgetTooSmall(100, 250, {"system_prompt": 200, "newest user message": 40}),
    errors.TooLarge: errors.TooLarge("too large"),
    errors.RateLimited: errors.RateLimited("too fast", 0.25),
    errors.SlowReader: errors.SlowReader("a cursor"),
    errors.QuotaExceeded: errors.QuotaExceeded("messages", 7),
    errors.Unauthenticated: errors.Unauthenticated(),
    errors.PermissionDenied: errors.PermissionDenied("not here"),
    errors.DiskFull: errors.DiskFull(),
    errors.Unavailable: errors.Unavailable("not yet"),
    errors.Overloaded: errors.Overloaded("busy"),
    errors.ShuttingDown: errors.ShuttingDown(),
    errors.JournalUnavailable: errors.JournalUnavailable(),
    errors.DataCorrupted: errors.DataCorrupted("damaged", file="/data/journal.db"),
    errors.DeadlineExceeded: errors.DeadlineExceeded(),
    errors.FatalStoreError: errors.FatalStoreError("fsync of /secret/path failed"),
    errors.SidecarError: errors.SidecarError("secret"),
}
# What the sidecar says as a matter of course; what takes a fault to hear; and what no part of this version says.
BY_CALLS = {"INVALID_FIELD", "NOT_FOUND", "ID_CONFLICT", "SEQUENCE_MISMATCH", "SESSION_OWNER_MISMATCH", "TOO_LARGE"}
BY_CALLS |= {"BUDGET_TOO_SMALL", "OVERLOADED"}
# What takes a quota or an access file: see tests/access.
BY_ACCESS = {"RATE_LIMITED", "QUOTA_EXCEEDED", "UNAUTHENTICATED", "PERMISSION_DENIED"}
BY_FAULTS = {
    "JOURNAL_UNAVAILABLE",
    "SLOW_READER",
    "DISK_FULL",
    "STARTING",
    "SHUTTING_DOWN",
    "DATA_CORRUPTED",
    "INTERNAL",
}
LATER = {"INDEX_UNAVAILABLE", "NOT_IMPLEMENTED"}


def tree(root: type[errors.SidecarError]) -> Iterator[type[errors.SidecarError]]:
    yield root
    for kind in root.__subclasses__():
        yield from tree(kind)


def every_error() -> set[type[errors.SidecarError]]:
    for module in pkgutil.walk_packages(memsidecar.__path__, "memsidecar."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return {kind for kind in tree(errors.SidecarError) if kind.__module__.startswith("memsidecar.")}


def details(status: status_pb2.Status, kind: type[Any]) -> list[Any]:
    found = []
    for detail in status.details:
        one = kind()
        if detail.Unpack(one):
            found.append(one)
    return found


def documented_codes() -> dict[str, str]:
    """The first word of each reason's comment."""
    text = ERRORS_PROTO.read_text()
    entries = re.findall(r"((?:  // .*\n)+)  ERROR_REASON_(\w+) = \d+;", text)
    return {name: re.split(r"[\s:;,]", comment.strip().removeprefix("// "))[0] for comment, name in entries}


def test_every_error_has_a_row_of_its_own() -> None:
    root = errors.SidecarError
    without = {kind.__name__ for kind in every_error() if next(one for one in kind.__mro__ if one in TABLE) is root}
    assert without == {"SidecarError"} | NEVER_ON_THE_WIRE


def test_every_row_has_an_example_here() -> None:
    assert set(EXAMPLES) == set(TABLE)


def test_every_reason_has_a_row() -> None:
    names = {name.removeprefix("ERROR_REASON_") for name in list(ErrorReason.keys())} - {"UNSPECIFIED"}
    assert names == BY_CALLS | BY_ACCESS | BY_FAULTS | LATER
    assert {reason_name(row.reason) for row in TABLE.values()} - {"UNSPECIFIED"} == names - LATER


@pytest.mark.parametrize("kind", TABLE, ids=lambda kind: kind.__name__)
def test_the_code_is_the_one_that_errors_proto_names(kind: type[errors.SidecarError]) -> None:
    row = TABLE[kind]
    if kind is not errors.DeadlineExceeded:
        assert documented_codes()[reason_name(row.reason)] == row.code.name


@pytest.mark.parametrize("kind", TABLE, ids=lambda kind: kind.__name__)
def test_the_unspecified_reason_is_never_sent(kind: type[errors.SidecarError]) -> None:
    infos = details(rich_status(EXAMPLES[kind]), error_details_pb2.ErrorInfo)
    assert "UNSPECIFIED" not in [info.reason for info in infos]


@pytest.mark.parametrize("kind", TABLE, ids=lambda kind: kind.__name__)
def test_a_retry_delay_is_sent_exactly_where_waiting_helps(kind: type[errors.SidecarError]) -> None:
    helps = row_of(EXAMPLES[kind]).code is grpc.StatusCode.UNAVAILABLE
    helps |= kind in (errors.DiskFull, errors.RateLimited, errors.QuotaExceeded)
    advised = details(rich_status(EXAMPLES[kind]), error_details_pb2.RetryInfo)
    assert [one.retry_delay.ToTimedelta().total_seconds() > 0 for one in advised] == ([True] if helps else [])


def test_a_rate_limited_call_gets_its_retry_delay() -> None:
    (advised,) = details(rich_status(EXAMPLES[errors.RateLimited]), error_details_pb2.RetryInfo)
    assert advised.retry_delay.ToMilliseconds() == 250


def test_a_quota_is_named_with_its_limit() -> None:
    (info,) = details(rich_status(EXAMPLES[errors.QuotaExceeded]), error_details_pb2.ErrorInfo)
    assert dict(info.metadata) == {"quota": "messages", "limit": "7"}


def test_an_exceeded_quota_has_a_long_retry_delay() -> None:
    (advised,) = details(rich_status(EXAMPLES[errors.QuotaExceeded]), error_details_pb2.RetryInfo)
    assert advised.retry_delay.ToSeconds() == 60


def test_a_sequence_mismatch_has_the_last_sequence() -> None:
    (info,) = details(rich_status(EXAMPLES[errors.SequenceMismatch]), error_details_pb2.ErrorInfo)
    assert dict(info.metadata) == {"last_sequence": "7"}


def test_a_budget_that_is_too_small_is_answered_with_the_required_tokens() -> None:
    (info,) = details(rich_status(EXAMPLES[errors.BudgetTooSmall]), error_details_pb2.ErrorInfo)
    assert dict(info.metadata) == {"required_tokens": "250", "item": "system_prompt"}


def test_corrupted_data_names_the_file() -> None:
    (info,) = details(rich_status(EXAMPLES[errors.DataCorrupted]), error_details_pb2.ErrorInfo)
    assert dict(info.metadata) == {"file": "/data/journal.db"}


def test_only_an_invalid_field_is_named() -> None:
    for kind, error in EXAMPLES.items():
        bad = details(rich_status(error), error_details_pb2.BadRequest)
        fields = [violation.field for request in bad for violation in request.field_violations]
        assert fields == (["message.role"] if kind is errors.InvalidField else [])


def test_every_error_is_the_same_over_the_wire() -> None:
    with RaisingServer({kind.__name__: error for kind, error in EXAMPLES.items()}) as server:
        for kind, error in EXAMPLES.items():
            refused = server.provoke(kind.__name__)
            encoded = [value for key, value in refused.trailing_metadata() if key == DETAILS_KEY]
            status = status_pb2.Status.FromString(*encoded)
            infos = details(status, error_details_pb2.ErrorInfo)
            assert refused.code() == row_of(error).code
            assert (status.code, status.message) == (refused.code().value[0], refused.details())
            assert [info.domain for info in infos] == [DOMAIN] or kind is errors.DeadlineExceeded


@pytest.mark.parametrize("bug", [RuntimeError("secret"), errors.SidecarError("secret"), RecursionError("secret")])
def test_an_internal_error_reveals_no_details(bug: Exception) -> None:
    with RaisingServer({"bug": bug}) as server:
        refused = server.provoke("bug")
    assert (refused.code(), refused.details()) == (grpc.StatusCode.INTERNAL, str(INTERNAL_ERROR))
    assert b"secret" not in b"".join(value for key, value in refused.trailing_metadata() if key == DETAILS_KEY)


def test_a_fatal_store_error_does_not_name_files() -> None:
    assert "secret" not in rich_status(EXAMPLES[errors.FatalStoreError]).message


def provocations(client: Client) -> dict[str, tuple[Any, Proto]]:
    """Yield a call for each reason that needs neither a fault nor load."""
    message = Message(id="m", role=ROLE_USER, content="other")
    call = client.memory
    return {
        "INVALID_FIELD": (call.Count, memory.CountRequest()),
        "NOT_FOUND": (call.Annotate, memory.AnnotateRequest(session_id="s", message_id="none", evaluation_score=1)),
        "ID_CONFLICT": (call.Add, memory.AddRequest(session_id="s", message=message)),
        "SEQUENCE_MISMATCH": (
            call.Add,
            memory.AddRequest(session_id="s", message=Message(role=ROLE_USER, content="x"), expected_sequence=9),
        ),
        "SESSION_OWNER_MISMATCH": (call.Clear, memory.ClearRequest(session_id="s", user_id="thief")),
        "TOO_LARGE": (
            call.Add,
            memory.AddRequest(session_id="s", message=Message(role=ROLE_USER, content="x" * (1 << 20))),
        ),
        "BUDGET_TOO_SMALL": (call.BuildContext, BuildContextRequest(session_id="s", max_tokens=1)),
    }


def test_every_provokable_reason_is_sent(client: Client) -> None:
    client.add("s", "hello", id="m", user_id="owner")
    provoked = provocations(client)
    assert set(provoked) == BY_CALLS - {"OVERLOADED"}  # that one takes load: see test_limits
    for reason, (call, request) in provoked.items():
        refused = refusal(partial(call, request))
        assert refused.reason == reason
        assert refused.code.name == documented_codes()[reason]


def test_a_call_with_as_many_tokens_as_were_required_succeeds(client: Client) -> None:
    client.add("tight", "hello " * 50)
    request = BuildContextRequest(session_id="tight", max_tokens=1, system_prompt="Be brief.")
    required = int(refusal(partial(client.memory.BuildContext, request)).metadata["required_tokens"])
    request.max_tokens = required
    assert client.memory.BuildContext(request).total_tokens <= required
