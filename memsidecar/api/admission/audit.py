"""Audit log; CallRecord."""

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
from memsidecar.api.status import row_of
from memsidecar.domain.errors import PermissionDenied, SidecarError, Unauthenticated
from memsidecar.domain.session import DEFAULT_NAMESPACE

AUDIT_LOGGER = "memsidecar.audit"
log = logging.getLogger(AUDIT_LOGGER)

MAX_NAME_CHARACTERS = 256
"Names are noted before they are checked, because a refusal is noted, too; whoever sends a longer one gets no log."

_NOT_FOLLOWED = nullcontext()


@dataclass(slots=True)
class CallRecord:
    """As far as it is known yet; what a request says of itself is not checked here."""

    method: str
    peer: Callable[[], str]
    caller: Caller | None = None
    needed: AccessRole | None = None
    namespace: str = ""
    user_id: str = ""
    session_id: str = ""

    def set_request(self, request: Any) -> None:
        """Every request names a namespace; not every one a user and a session."""
        self.namespace = request.namespace or DEFAULT_NAMESPACE
        self.user_id = getattr(request, "user_id", "")
        self.session_id = getattr(request, "session_id", "")

    @property
    def scope(self) -> tuple[str, str, str]:
        return self.namespace, self.user_id, self.session_id


@dataclass(frozen=True)
class AuditLog:
    which: str
    unauthenticated: logs.RateLimitedLog = field(default_factory=logs.RateLimitedLog)

    def recording(self, visit: CallRecord) -> AbstractContextManager[None]:
        return _NOT_FOLLOWED if self.which == "off" else self._following(visit)

    @contextmanager
    def _following(self, visit: CallRecord) -> Iterator[None]:
        try:
            yield
        except SidecarError as error:
            self.note(visit, row_of(error).code.name, refused=isinstance(error, Unauthenticated | PermissionDenied))
            raise
        except (asyncio.CancelledError, GeneratorExit):
            self.note(visit, "CANCELLED")
            raise
        except Exception:
            self.note(visit, "INTERNAL")
            raise
        self.note(visit, "OK")

    def note(self, visit: CallRecord, code: str, refused: bool = False) -> None:
        if not self._is_noted(visit, refused):
            return
        missed = self.unauthenticated.suppressed(time.perf_counter()) if visit.caller is None else 0
        if missed is not None:
            logs.event(
                log,
                logging.INFO,
                "audit",
                who=visit.caller.name if visit.caller else "",
                peer=visit.peer(),
                method=visit.method,
                namespace=visit.namespace[:MAX_NAME_CHARACTERS],
                user=visit.user_id[:MAX_NAME_CHARACTERS],
                session=visit.session_id[:MAX_NAME_CHARACTERS],
                code=code,
                **logs.suppressed_field(missed),
            )

    def _is_noted(self, visit: CallRecord, refused: bool) -> bool:
        if self.which == "changes":
            return refused or (visit.needed or ROLES[visit.method]) > AccessRole.READ
        return self.which == "all"
