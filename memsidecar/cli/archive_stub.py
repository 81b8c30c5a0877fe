"""Calls of Export and Import with retries: a sidecar that restarts does not end a long transfer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import grpc

from memsidecar.cli.check import credentials, open_channel
from memsidecar.cli.client_options import ClientOptions
from memsidecar.domain.errors import SidecarError
from memsidecar.v1 import session_pb2_grpc

_RATE_LIMITED = b"RATE_LIMITED"
"The reason in the details of a status that a retry can change."
PAUSE_SECONDS = 0.5


class TransferFailed(SidecarError):
    """The sidecar refused the transfer, or stayed unavailable."""


@dataclass
class ArchiveStub:
    """The stub of SessionService on a channel that is opened again after each failure."""

    options: ClientOptions
    _last_progress: float = field(default_factory=time.monotonic)

    def run(self, transfer: Callable[[Any, Any], None], describe: Callable[[], str] = str) -> None:
        """Call `transfer` with the stub and the metadata until it returns.

        Raises TransferFailed for an error that a retry does not change, preceded by `describe()`.
        """
        while True:
            with open_channel(self.options) as channel:
                stub: Any = session_pb2_grpc.SessionServiceStub(channel)  # type: ignore[no-untyped-call]
                try:
                    transfer(stub, credentials(self.options.token))
                    return
                except grpc.RpcError as error:
                    self._check_retry(error, describe())
            time.sleep(PAUSE_SECONDS)

    def progressed(self) -> None:
        self._last_progress = time.monotonic()

    def _check_retry(self, error: grpc.RpcError, place: str) -> None:
        is_late = time.monotonic() - self._last_progress > self.options.ready_seconds
        if is_late or not _is_transient(error):
            raise TransferFailed(f"{place}{error.code().name}: {error.details()}") from None


def _is_transient(error: grpc.RpcError) -> bool:
    if error.code() == grpc.StatusCode.UNAVAILABLE:
        return True
    trailing: Any = error.trailing_metadata() or ()
    details = b"".join(value for key, value in trailing if key == "grpc-status-details-bin")
    return error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED and _RATE_LIMITED in details
