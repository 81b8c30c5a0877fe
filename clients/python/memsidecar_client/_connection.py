"""Address, TLS settings and token of a connection."""

import ipaddress
import os
import re
from dataclasses import dataclass
from pathlib import Path

import grpc

from memsidecar_client._token import TokenSource, token_source
from memsidecar_client._trace import trace_headers
from memsidecar_client._version import VERSION

DEFAULT_ADDRESS = "127.0.0.1:7600"
DEFAULT_TIMEOUT_SECONDS = 10.0

_UNIX = re.compile(r"unix:(?!//[^/]).+")
_HOST_AND_PORT = re.compile(r"(?:[^\s:/\[\]]+|\[[0-9a-fA-F:.]+\]):([0-9]{1,5})")

OPTIONS: tuple[tuple[str, int | str], ...] = (
    # A connection that died under a long call is noticed. Only under a call: servers send clients away that ping while
    # nothing is going on, and a dead idle connection is noticed by the next call anyway.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 0),
    ("grpc.http2.max_pings_without_data", 0),
    # gRPC waits up to two minutes before it looks for a server again; a sidecar is back within a second.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    # How long one attempt to connect may take; older versions also wait that long between two.
    ("grpc.min_reconnect_backoff_ms", 2_000),
    # One policy is enough, and this one reads RetryInfo.
    ("grpc.enable_retries", 0),
    # Clients of one process would share connections, and with them what happens to those.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.primary_user_agent", f"memsidecar-client-python/{VERSION}"),
)


@dataclass(frozen=True)
class Connection:
    """Validated settings of a connection to one sidecar."""

    address: str
    credentials: grpc.ChannelCredentials | None
    token: TokenSource | None

    def metadata(self) -> tuple[tuple[str, str], ...]:
        token = self.token() if self.token else ""
        authorization = (("authorization", f"Bearer {token}"),) if token else ()
        return authorization + trace_headers()


def connection(
    address: str | None,
    *,
    token: str | None,
    token_file: str | Path | None,
    tls: bool | None,
    ca_file: str | Path | None,
    certificate_file: str | Path | None,
    key_file: str | Path | None,
    allow_token_in_clear: bool,
) -> Connection:
    """Return the settings, with defaults from the environment. Raises ValueError for conflicting settings."""
    address = _checked_address(address or os.environ.get("MEMSIDECAR_ADDRESS") or DEFAULT_ADDRESS)
    if token is None and token_file is None:
        token = os.environ.get("MEMSIDECAR_TOKEN", "").strip()
        token_file = None if token else os.environ.get("MEMSIDECAR_TOKEN_FILE")
    source = token_source(token, token_file)
    if tls is None and not (ca_file or certificate_file or key_file):
        tls = _truth_of("MEMSIDECAR_TLS")
        ca_file = os.environ.get("MEMSIDECAR_CA_FILE")
        certificate_file = os.environ.get("MEMSIDECAR_CLIENT_CERTIFICATE_FILE")
        key_file = os.environ.get("MEMSIDECAR_CLIENT_KEY_FILE")
    credentials = _credentials(tls, ca_file, certificate_file, key_file)
    if source and credentials is None and not allow_token_in_clear and not stays_here(address):
        raise ValueError(f"a token would go to {address} in the clear: use TLS, or say allow_token_in_clear=True")
    return Connection(address, credentials, source)


def _credentials(
    tls: bool | None, ca_file: str | Path | None, certificate_file: str | Path | None, key_file: str | Path | None
) -> grpc.ChannelCredentials | None:
    files = (ca_file, certificate_file, key_file)
    if tls is False and any(files):
        raise ValueError("certificates are given, and tls=False")
    if not tls and not any(files):
        return None
    if bool(certificate_file) != bool(key_file):
        raise ValueError("certificate_file and key_file belong together")
    ca, certificate, key = (Path(file).read_bytes() if file else None for file in files)
    if ca is not None and b"-----BEGIN CERTIFICATE-----" not in ca:
        raise ValueError(f"{ca_file} holds no certificate")
    return grpc.ssl_channel_credentials(ca, key, certificate)


def _truth_of(variable: str) -> bool | None:
    """Return a variable's value, or None if it is not set."""
    said = os.environ.get(variable, "").strip().lower()
    if said not in ("", "true", "false"):
        raise ValueError(f"{variable} is neither true nor false")
    return said == "true" if said else None


def _checked_address(address: str) -> str:
    port = _HOST_AND_PORT.fullmatch(address)
    if _UNIX.fullmatch(address) or (port and 1 <= int(port[1]) <= 65535):
        return address
    raise ValueError(f"{address!r} is neither host:port nor unix:/path")


def stays_here(address: str) -> bool:
    """Return whether the address is a unix socket or loopback."""
    if address.startswith("unix:"):
        return True
    host = address.rpartition(":")[0].strip("[]")
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
