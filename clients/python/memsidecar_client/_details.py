"""Error details, which the sidecar sends in the trailing metadata."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf.message import DecodeError

from memsidecar_client.v1.details_pb2 import BadRequest, ErrorInfo, RetryInfo, Status

KEY = "grpc-status-details-bin"
DOMAIN = "memsidecar.dev"


@dataclasses.dataclass(frozen=True)
class Details:
    reason: str = ""
    field: str = ""
    metadata: Mapping[str, str] = dataclasses.field(default_factory=dict)
    retry_after: float | None = None


def details_of(trailing: Iterable[tuple[str, str | bytes]] | None) -> Details:
    """Return the details; empty if there are none, or if an intermediary put something else there."""
    packed = next((value for key, value in trailing or () if key == KEY), b"")
    try:
        status = Status.FromString(packed if isinstance(packed, bytes) else packed.encode("latin-1"))
        return _read({detail.type_url.rpartition(".")[2]: detail.value for detail in status.details})
    except DecodeError:
        return Details()


def _read(packed: Mapping[str, bytes]) -> Details:
    given = ErrorInfo.FromString(packed.get("ErrorInfo", b""))
    if given.domain != DOMAIN:
        return Details()
    violations = BadRequest.FromString(packed.get("BadRequest", b"")).field_violations
    return Details(
        reason=given.reason,
        field=violations[0].field if violations else "",
        metadata=dict(given.metadata),
        retry_after=_seconds(packed["RetryInfo"]) if "RetryInfo" in packed else None,
    )


def _seconds(packed: bytes) -> float:
    delay: Any = RetryInfo.FromString(packed).retry_delay
    return float(delay.seconds + delay.nanos / 1e9)
