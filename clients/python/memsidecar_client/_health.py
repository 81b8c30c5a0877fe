"""Client of gRPC's health service, without generated stubs."""

import grpc

from memsidecar_client.errors import DeadlineExceeded, MemsidecarError

PATH = "/grpc.health.v1.Health/Check"
REQUEST = b""
POLL_SECONDS = 0.05
_SERVING = b"\x08\x01"
_NOT_YET = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.NOT_FOUND, grpc.StatusCode.CANCELLED}


def serves(answer: bytes) -> bool:
    return answer == _SERVING


def check_worth_waiting(error: MemsidecarError, address: str, seconds: float) -> None:
    """Raises where looking again would not help, or there is no time left for it."""
    if error.code is grpc.StatusCode.DEADLINE_EXCEEDED:
        raise DeadlineExceeded(
            f"the sidecar at {address} was not ready within {max(0, seconds):g} seconds", error.code
        ) from error
    if error.code not in _NOT_YET:
        raise error
