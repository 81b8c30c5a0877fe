"""Binding: ports that are really ours, and unix sockets that nobody else's server loses to us."""

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import grpc
import grpc.aio

from memsidecar.domain.errors import StartRefused
from memsidecar.domain.network_address import Address

_SOCKET_UMASK = 0o117  # leaves 0660: the owner and the group, as between the containers of a pod


def bind(server: grpc.aio.Server, address: Address, setting: str, tls: grpc.ServerCredentials | None = None) -> Address:
    """Bind the server, and return the address it really has."""
    target = address.grpc_target
    try:
        port = server.add_secure_port(target, tls) if tls else server.add_insecure_port(target)
    except RuntimeError as error:
        raise StartRefused(f"cannot listen on {address} ({setting}): is something else listening there?") from error
    return address if address.unix_path else address.with_port(port)


@contextlib.contextmanager
def claimed(address: Address) -> Iterator[None]:
    """Make a unix socket's path ours while we begin to listen there; nothing to do for TCP.

    gRPC would take the path away from a living server without a word. A path that nobody answers on is a leftover
    and is removed. The lock beside it decides between two that start at the same moment.
    """
    if address.unix_path is None:
        yield
        return
    path = Path(address.unix_path)
    with _locked(path):
        if _answers(path):
            raise StartRefused(f"{path} is in use by another server")
        path.unlink(missing_ok=True)
        before = os.umask(_SOCKET_UMASK)
        try:
            yield
        finally:
            os.umask(before)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    try:
        descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StartRefused(f"cannot listen on unix:{path}: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise StartRefused(f"{path} is being taken by another server") from None
    finally:
        os.close(descriptor)


def _answers(path: Path) -> bool:
    if path.exists() and not path.is_socket():
        raise StartRefused(f"{path} exists and is not a socket")
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return True
