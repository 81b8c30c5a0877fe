"""One call on its way through the gate."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from memsidecar.access.policy import Caller, Role
from memsidecar.domain.session import DEFAULT_NAMESPACE


@dataclass(slots=True)
class Visit:
    """As far as it is known yet; what a request says of itself is not checked here."""

    method: str
    peer: Callable[[], str]
    caller: Caller | None = None
    needed: Role | None = None
    namespace: str = ""
    user_id: str = ""
    session_id: str = ""

    def asks(self, request: Any) -> None:
        """Every request names a namespace; not every one a user and a session."""
        self.namespace = request.namespace or DEFAULT_NAMESPACE
        self.user_id = getattr(request, "user_id", "")
        self.session_id = getattr(request, "session_id", "")

    @property
    def place(self) -> tuple[str, str, str]:
        return self.namespace, self.user_id, self.session_id
