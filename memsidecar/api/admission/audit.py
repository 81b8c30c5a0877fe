"""The audit log: one line for a call, with caller, method, scope and outcome, and never any content."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from memsidecar import logs
from memsidecar.access.policy import AccessRole, Caller
from memsidecar.api.admission.auth import ROLES
from memsidecar.api.status import failure_of
from memsidecar.domain.errors import PermissionDenied, Unauthenticated
from memsidecar.domain.session import DEFAULT_NAMESPACE

AUDIT_LOGGER = "memsidecar.audit"
log = logging.getLogger(AUDIT_LOGGER)

MAX_NAME_CHARACTERS = 256
"Ids are logged before they are validated, because rejected calls are logged too. Longer ones are cut."

_NOT_RECORDED = nullcontext()


@dataclass(slots=True)
class CallRecord:
    """Facts about a call for the audit log, filled in by the admission chain. The ids are as sent, not validated."""

    method: str
    peer: Callable[[], str]
    caller: Caller | None = None
    required_role: AccessRole | None = None
    namespace: str = ""
    user_id: str = ""
    session_id: str = ""

    def set_request(self, request: Any) -> None:
        """Take the scope from a decoded request. Every request has a namespace; not every one a user and a session."""
        self.namespace = request.namespace or DEFAULT_NAMESPACE
        self.user_id = getattr(request, "user_id", "")
        self.session_id = getattr(request, "session_id", "")

    @property
    def scope(self) -> tuple[str, str, str]:
        return self.namespace, self.user_id, self.session_id


@dataclass(frozen=True)
class AuditLog:
    """Writes the lines that the setting `audit` asks for: `off`, `changes` or `all`."""

    level: str
    unauthenticated: logs.RateLimitedLog = field(default_factory=logs.RateLimitedLog)

    def recording(self, call: CallRecord) -> AbstractContextManager[None]:
        """Record the outcome of the call when the block ends."""
        return _NOT_RECORDED if self.level == "off" else self._recording(call)

    @contextmanager
    def _recording(self, call: CallRecord) -> Iterator[None]:
        try:
            yield
        except (Exception, asyncio.CancelledError, GeneratorExit) as error:
            failure = failure_of(error)
            denied = isinstance(error, Unauthenticated | PermissionDenied)
            self.record(call, failure.status, failure.reason, denied=denied)
            raise
        self.record(call, "OK")

    def record(self, call: CallRecord, code: str, reason: str = "", *, denied: bool = False) -> None:
        """Write a line with the status and, of a failed call, the reason."""
        if not self._is_recorded(call, denied):
            return
        suppressed = self.unauthenticated.suppressed(time.perf_counter()) if call.caller is None else 0
        if suppressed is None:
            return
        failed: dict[str, Any] = {"reason": reason} if reason else {}
        logs.event(
            log,
            logging.INFO,
            "audit",
            who=call.caller.name if call.caller else "",
            peer=call.peer(),
            method=call.method,
            namespace=call.namespace[:MAX_NAME_CHARACTERS],
            user=call.user_id[:MAX_NAME_CHARACTERS],
            session=call.session_id[:MAX_NAME_CHARACTERS],
            code=code,
            **failed,
            **logs.suppressed_field(suppressed),
        )

    def _is_recorded(self, call: CallRecord, denied: bool) -> bool:
        if self.level == "changes":
            return denied or (call.required_role or ROLES[call.method]) > AccessRole.READ
        return self.level == "all"
