"""Conversion between gRPC and the client: method paths, channel options, errors."""

from typing import Any

import grpc
from google.protobuf.message import Message as Proto

from memsidecar_client._connection import OPTIONS, Connection, stays_here
from memsidecar_client._details import details_of
from memsidecar_client.errors import MemsidecarError, Unreachable, error_of

_HUNG_UP = ("Socket closed", "Connection reset", "Broken pipe", "recvmsg")


def path_of(method: str) -> str:
    """Return the server's path of a method: the client's messages have another package."""
    return f"/memsidecar.v1.{method}"


def to_bytes(request: Proto) -> bytes:
    return request.SerializeToString()


def options_of(connection: Connection) -> tuple[tuple[str, Any], ...]:
    """Loopback addresses and unix sockets use no proxy, regardless of the environment."""
    return (*OPTIONS, ("grpc.enable_http_proxy", 0)) if stays_here(connection.address) else OPTIONS


def failure(error: Any, connection: Connection) -> MemsidecarError:
    """Convert an error of grpc or grpc.aio."""
    found = error_of(error.code(), error.details() or "", details_of(error.trailing_metadata()))
    if isinstance(found, Unreachable):
        found.message = f"{connection.address} cannot be reached: {found.message}{_hint(connection, found.message)}"
        found.args = (found.message,)
    return found


def _hint(connection: Connection, message: str) -> str:
    """Return a hint for a connection where only one side speaks TLS; gRPC's own message does not say what to do."""
    if connection.credentials is None:
        return "; does it want TLS? Give ca_file or tls=True" if any(said in message for said in _HUNG_UP) else ""
    if "WRONG_VERSION_NUMBER" in message:
        return "; it does not speak TLS"
    return "; its certificate is not trusted: give its authority as ca_file" if "VERIFY_FAILED" in message else ""


def ended_early() -> MemsidecarError:
    """Return the error of a stream that ended with OK before all responses."""
    return MemsidecarError("the stream ended before all was answered", grpc.StatusCode.UNKNOWN)
