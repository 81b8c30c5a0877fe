"""Options of commands that call a sidecar: flags, environment variables, and the files that they name."""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from memsidecar.domain.errors import SidecarError
from memsidecar.domain.network_address import LOCALHOST, UNIX_SCHEME
from memsidecar.settings.client import (
    ADDRESS_VARIABLE,
    CA_FILE_VARIABLE,
    CERTIFICATE_FILE_VARIABLE,
    DEFAULT_ADDRESS,
    KEY_FILE_VARIABLE,
    TLS_VARIABLE,
    TOKEN_FILE_VARIABLE,
    TOKEN_VARIABLE,
    ClientEnvironment,
)

# Wider than domain.network_address: a client may use a host name, a listener may not.
_TARGET = re.compile(r"(?P<host>[^\s:/\[\]]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}|unix:\S+")

# Flags that name files; all optional.
_FILES = {
    "token_file": f"File that holds the token to call with. Default: the token in {TOKEN_VARIABLE}, or none. "
    f"[{TOKEN_FILE_VARIABLE}]",
    "ca_file": "PEM file with the authority that signed the sidecar's certificate. Given, TLS is spoken. "
    f"[{CA_FILE_VARIABLE}; {TLS_VARIABLE}=true for the authorities of the system]",
    "certificate_file": f"PEM file with a certificate to show to the sidecar (mTLS). [{CERTIFICATE_FILE_VARIABLE}]",
    "key_file": f"PEM file with the key of --certificate-file. [{KEY_FILE_VARIABLE}]",
}


class UsageError(SidecarError):
    """The flags cannot be used together, or would be unsafe."""


@dataclass(frozen=True)
class ClientOptions:
    """Address of the sidecar, credentials and timeout."""

    target: str
    namespace: str
    ready_seconds: float
    token: str = ""
    tls: bool = False
    ca: bytes | None = None
    certificate: bytes | None = None
    key: bytes | None = None


def add_client_flags(command: ArgumentParser) -> None:
    """Add the flags for the address and the credentials."""
    command.add_argument(
        "--address",
        type=_target,
        metavar="ADDRESS",
        help=f"The running sidecar: host:port or unix:/path. Default: {DEFAULT_ADDRESS}. [{ADDRESS_VARIABLE}]",
    )
    for name, text in _FILES.items():
        command.add_argument(f"--{name.replace('_', '-')}", type=Path, metavar="FILE", help=text)
    command.add_argument(
        "--insecure",
        action="store_true",
        help="Send the token even where the network can read it: without TLS, beyond loopback and unix sockets.",
    )


def client_options(arguments: Namespace, environment: ClientEnvironment) -> ClientOptions:
    """Return the options of flags and environment, with the contents of their files. Raises UsageError."""
    target = arguments.address or _target_from(environment)
    token = read_token_text(arguments.token_file, environment)
    ca_file, certificate_file, key_file, tls = _tls(arguments, environment)
    if token and not (tls or arguments.insecure or _is_local(target)):
        raise UsageError(f"the token would go to {target} for all to read: give --ca-file, or --insecure")
    if bool(certificate_file) != bool(key_file):
        raise UsageError("--certificate-file and --key-file go together")
    if certificate_file and not tls:
        raise UsageError("--certificate-file is of no use without --ca-file")
    return ClientOptions(
        target=target,
        namespace=arguments.namespace,
        ready_seconds=arguments.timeout,
        token=token,
        tls=tls,
        ca=_content(ca_file),
        certificate=_content(certificate_file),
        key=_content(key_file),
    )


def _tls(arguments: Namespace, environment: ClientEnvironment) -> tuple[Path | None, Path | None, Path | None, bool]:
    """Return the files, and whether to use TLS: by the flags or, without any of them, by the environment."""
    given = (arguments.ca_file, arguments.certificate_file, arguments.key_file)
    if any(given):
        return *given, arguments.ca_file is not None
    ca, certificate, key = (
        Path(file) if file else None
        for file in (environment.ca_file, environment.certificate_file, environment.key_file)
    )
    if environment.tls not in ("", "true", "false"):
        raise UsageError(f"{TLS_VARIABLE} is neither true nor false")
    if environment.tls == "false" and (ca or certificate or key):
        raise UsageError(f"{TLS_VARIABLE} is false, and files for TLS are named beside it")
    return ca, certificate, key, environment.tls == "true" or ca is not None


def _target_from(environment: ClientEnvironment) -> str:
    try:
        return _target(environment.address)
    except ArgumentTypeError as error:
        raise UsageError(f"{ADDRESS_VARIABLE} = {error}") from None


def _target(given: str) -> str:
    if not _TARGET.fullmatch(given):
        raise ArgumentTypeError(f"{given!r} is neither host:port nor unix:/path")
    return given


def parse_seconds(given: str) -> float:
    try:
        number = float(given)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 86_400:
        raise ArgumentTypeError(f"{given!r} is no number of seconds from 0 up to 86400")
    return number


def _is_local(target: str) -> bool:
    host = target.rpartition(":")[0].strip("[]")
    if target.startswith(UNIX_SCHEME) or host == LOCALHOST:
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def read_token_text(file: Path | None, environment: ClientEnvironment) -> str:
    if file is None and environment.token_file:
        file = Path(environment.token_file)
    token = environment.token if file is None else (_content(file) or b"").decode(errors="replace")
    token = token.strip()
    if file is not None and not token:
        raise UsageError(f"{file} holds no token")
    if not (token.isascii() and token.isprintable()):
        raise UsageError("the token has characters that no token has")
    return token


def _content(file: Path | None) -> bytes | None:
    if file is None:
        return None
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None
