"""Addresses of listeners and clients: host:port or a unix socket."""

from __future__ import annotations

from dataclasses import dataclass, replace
from ipaddress import IPv6Address, ip_address

# The kernel stores a socket path in 108 bytes, terminating zero included. Longer paths fail at bind without a reason.
MAX_UNIX_PATH_BYTES = 107
MAX_PORT = 65535
URI_CHARACTERS = "%?#"

UNIX_SCHEME = "unix:"
LOCALHOST = "localhost"


@dataclass(frozen=True, slots=True)
class Address:
    """`host:port` or `unix:path`; exactly one of `host` and `unix_path` is set. Port 0 means any free port."""

    host: str = ""
    port: int = 0
    unix_path: str | None = None

    @classmethod
    def parse(cls, text: str) -> Address:
        """Parse `127.0.0.1:7600`, `[::1]:7600`, `localhost:7600`, `unix:/path` or `unix:path`; else ValueError."""
        if text.startswith(UNIX_SCHEME):
            return cls(unix_path=_unix_path(text.removeprefix(UNIX_SCHEME)))
        host, colon, port = text.rpartition(":")
        if not colon:
            raise ValueError("has no port: expected host:port or unix:/path")
        return cls(host=_host(host), port=_port(port))

    @property
    def is_loopback(self) -> bool:
        """Whether this is a TCP address that only this machine or pod can reach."""
        if self.unix_path is not None:
            return False
        return self.host == LOCALHOST or ip_address(self.host).is_loopback

    @property
    def is_local(self) -> bool:
        """Whether the network cannot reach it: loopback or a unix socket."""
        return self.unix_path is not None or self.is_loopback

    @property
    def grpc_target(self) -> str:
        """Target string for gRPC: a server binds it, a client dials it."""
        if self.unix_path is not None:
            return UNIX_SCHEME + self.unix_path
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def with_port(self, port: int) -> Address:
        """Return the same host with another port, such as the one that the kernel chose."""
        return replace(self, port=port)

    def __str__(self) -> str:
        return self.grpc_target


def _unix_path(path: str) -> str:
    # gRPC also writes an absolute path as unix:///path.
    path = path.removeprefix("//") if path.startswith("///") else path
    if not path or path.startswith("//") or "\0" in path:
        raise ValueError("names no socket: expected unix:/path or unix:relative/path")
    if any(character in path for character in URI_CHARACTERS):
        raise ValueError(f"has one of {URI_CHARACTERS}, which gRPC reads as a part of a URI: expected a path without")
    if len(path.encode()) > MAX_UNIX_PATH_BYTES:
        raise ValueError(f"is too long for a unix socket: expected a path of at most {MAX_UNIX_PATH_BYTES} bytes")
    return path


def _host(host: str) -> str:
    bracketed = host.startswith("[") and host.endswith("]")
    bare = host[1:-1] if bracketed else host
    if bare == LOCALHOST and not bracketed:
        return bare
    try:
        number = ip_address(bare)
    except ValueError:
        raise ValueError("names no host: expected an IPv4 address, [IPv6] in brackets, or localhost") from None
    if isinstance(number, IPv6Address) != bracketed:
        raise ValueError("expected IPv6 in brackets, such as [::1]:7600, and IPv4 without")
    return bare


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text[:9]) > MAX_PORT:
        raise ValueError(f"has no valid port: expected a number from 0 to {MAX_PORT}, where 0 picks a free one")
    return int(text)
