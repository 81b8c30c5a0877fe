"""Between gRPC's words and ours."""

from typing import Any

from google.protobuf.message import Message as Proto

from memsidecar_client._connection import OPTIONS, Connection, stays_here
from memsidecar_client._details import details_of
from memsidecar_client.errors import MemsidecarError, error_of


def path_of(method: str) -> str:
    """As the server names its services: the client's own messages have another package."""
    return f"/memsidecar.v1.{method}"


def to_bytes(request: Proto) -> bytes:
    return request.SerializeToString()


def options_of(connection: Connection) -> tuple[tuple[str, Any], ...]:
    """What stays on this machine goes through no proxy, whatever the environment says for everything else."""
    return (*OPTIONS, ("grpc.enable_http_proxy", 0)) if stays_here(connection.address) else OPTIONS


def failure(error: Any) -> MemsidecarError:
    """Our error for one of gRPC's, of either of its libraries."""
    return error_of(error.code(), error.details() or "", details_of(error.trailing_metadata()))
