"""Errors of tools: reason, message, and advice for the model; made from gRPC statuses and invalid arguments."""

from __future__ import annotations

import grpc
from pydantic import ValidationError

from memsidecar.cli.check import connection_hint, error_details

INVALID_FIELD = "INVALID_FIELD"
STARTING = "STARTING"
NOT_STARTED = "NOT_STARTED"
UNREACHABLE = "UNREACHABLE"
TIMED_OUT = "TIMED_OUT"
INTERNAL = "INTERNAL"

_RETRY_LATER = "Wait some seconds, then call again."
_TELL_USER = "Calling again does not help. Tell the user."
# Advice by reason: the reasons of docs/errors.md, and those above, which this program adds.
ADVICE = {
    INVALID_FIELD: "Correct this argument and call again.",
    "NOT_FOUND": "Check the id; what it named may have been erased already.",
    "ID_CONFLICT": "Call again.",
    "SEQUENCE_MISMATCH": "Call again.",
    "SESSION_OWNER_MISMATCH": "Leave session_id out, or use another one: this one is another user's.",
    "BUDGET_TOO_SMALL": "Call again with a larger max_tokens.",
    "TOO_LARGE": "Send less at once, or split it.",
    "DISK_FULL": "Tell the user that the disk is full. Reading still works.",
    "RATE_LIMITED": _RETRY_LATER,
    "QUOTA_EXCEEDED": "Tell the user: something has to be erased, or the quota raised.",
    "UNAUTHENTICATED": "Tell the user: `memsidecar mcp` needs a valid token (--token-file or MEMSIDECAR_TOKEN).",
    "PERMISSION_DENIED": "Tell the user: the token of `memsidecar mcp` does not allow this.",
    "SLOW_READER": "Call again.",
    "OVERLOADED": _RETRY_LATER,
    "JOURNAL_UNAVAILABLE": _RETRY_LATER,
    STARTING: _RETRY_LATER,
    "SHUTTING_DOWN": _RETRY_LATER,
    "INDEX_UNAVAILABLE": _RETRY_LATER,
    "DATA_CORRUPTED": "Tell the user: a person must look, with `memsidecar doctor`.",
    "NOT_IMPLEMENTED": "Do without it: this sidecar does not have it.",
    INTERNAL: "Call again once; if it happens again, tell the user to look at the log.",
    NOT_STARTED: "Tell the user. Where another sidecar uses the directory, `memsidecar mcp --address` talks to it.",
    UNREACHABLE: "Call again in a moment. If it stays so, tell the user that the sidecar has to be started.",
    TIMED_OUT: "Call again. What was to be added may have been: search for it first.",
}


class ToolError(Exception):
    """The error of a tool: a reason for programs, a message for people, and the invalid argument, if there is one."""

    def __init__(self, reason: str, message: str, field: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.message = message
        self.field = field

    @property
    def text(self) -> str:
        field = f"Argument: {self.field}\n" if self.field else ""
        return f"{self.reason}: {self.message}\n{field}What to do: {ADVICE.get(self.reason, _TELL_USER)}"


def invalid_arguments(error: ValidationError) -> ToolError:
    """Return the error for invalid arguments. It names them without their values, which may be long."""
    problems = [(_path(each["loc"]), each["msg"]) for each in error.errors(include_url=False, include_input=False)]
    message = "; ".join(f"{path}: {problem}" for path, problem in problems[:5])
    return ToolError(INVALID_FIELD, message, problems[0][0])


def error_for_call(error: grpc.aio.AioRpcError, target: str, *, secure: bool) -> ToolError:
    details = error_details(error)
    message = error.details() or ""
    if details.reason:
        # The tool's arguments are the fields of its document.
        return ToolError(details.reason, message, details.field.removeprefix("document."))
    if error.code() is grpc.StatusCode.UNAVAILABLE:
        return ToolError(UNREACHABLE, f"no sidecar answers at {target}: {connection_hint(message, secure=secure)}")
    if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
        return ToolError(TIMED_OUT, "the sidecar did not answer in time")
    return ToolError(error.code().name, message)


def _path(location: tuple[int | str, ...]) -> str:
    """Return a path in the sidecar's notation: messages[0].content."""
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return path.removeprefix(".")
