"""Options of commands that call a sidecar: flags, environment variables, and the files that they name."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import click

from memsidecar.cli.command import UsageError
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

MAX_TIMEOUT_SECONDS = 86_400
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


Command = Callable[..., int | None]


@dataclass(frozen=True)
class ClientFlags:
    """The flags of a command that calls a sidecar, as given; None if not given."""

    address: str | None
    token_file: Path | None
    ca_file: Path | None
    certificate_file: Path | None
    key_file: Path | None
    insecure: bool
    namespace: str
    timeout: float


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


def with_client_flags(
    *,
    namespace: str = "Call for this namespace.",
    timeout: str = "Seconds that a call may take.",
    default_timeout: float = 30.0,
    default_namespace: str = "default",
) -> Callable[[Command], Command]:
    """Give a command the flags for address, credentials, namespace and timeout, as its first argument ClientFlags.

    The texts are the help of --namespace and --timeout.
    """
    options = [
        *_connection_options(),
        click.option(
            "--namespace",
            default=default_namespace,
            metavar="NAMESPACE",
            help=f"{namespace} Default: {default_namespace}.",
        ),
        click.option(
            "--timeout",
            type=parse_seconds,
            default=default_timeout,
            metavar="SECONDS",
            help=f"{timeout} Default: {default_timeout:g}.",
        ),
    ]

    def decorate(command: Command) -> Command:
        @wraps(command)
        def call(**given: Any) -> int | None:
            flags = ClientFlags(**{field.name: given.pop(field.name) for field in fields(ClientFlags)})
            return command(flags, **given)

        for option in reversed(options):
            call = option(call)
        return call

    return decorate


def _connection_options() -> list[Any]:
    address = click.option(
        "--address",
        type=_target,
        metavar="ADDRESS",
        help=f"The running sidecar: host:port or unix:/path. Default: {DEFAULT_ADDRESS}. [{ADDRESS_VARIABLE}]",
    )
    insecure = click.option(
        "--insecure",
        is_flag=True,
        help="Send the token even where the network can read it: without TLS, beyond loopback and unix sockets.",
    )
    return [address, *(file_option(name, text) for name, text in _FILES.items()), insecure]


def file_option(name: str, text: str) -> Callable[[Command], Command]:
    """Return an option that takes the path of a file."""
    return click.option(f"--{name.replace('_', '-')}", type=click.Path(path_type=Path), metavar="FILE", help=text)


def client_options(flags: ClientFlags, environment: ClientEnvironment) -> ClientOptions:
    """Return the options of flags and environment, with the contents of their files. Raises UsageError."""
    target = flags.address or _target_from(environment)
    token = read_token_text(flags.token_file, environment)
    ca_file, certificate_file, key_file, tls = _tls(flags, environment)
    if token and not (tls or flags.insecure or _is_local(target)):
        raise UsageError(f"the token would go to {target} for all to read: give --ca-file, or --insecure")
    if bool(certificate_file) != bool(key_file):
        raise UsageError("--certificate-file and --key-file go together")
    if certificate_file and not tls:
        raise UsageError("--certificate-file is of no use without --ca-file")
    return ClientOptions(
        target=target,
        namespace=flags.namespace,
        ready_seconds=flags.timeout,
        token=token,
        tls=tls,
        ca=_content(ca_file),
        certificate=_content(certificate_file),
        key=_content(key_file),
    )


def _tls(flags: ClientFlags, environment: ClientEnvironment) -> tuple[Path | None, Path | None, Path | None, bool]:
    """Return the files, and whether to use TLS: by the flags or, without any of them, by the environment."""
    given = (flags.ca_file, flags.certificate_file, flags.key_file)
    if any(given):
        return *given, flags.ca_file is not None
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
    except ValueError as error:
        raise UsageError(f"{ADDRESS_VARIABLE} = {error}") from None


def _target(given: str) -> str:
    if not _TARGET.fullmatch(given):
        raise ValueError(f"{given!r} is neither host:port nor unix:/path")
    return given


def parse_seconds(given: str) -> float:
    try:
        number = float(given)
    except ValueError:
        number = 0.0
    if not 0 < number <= MAX_TIMEOUT_SECONDS:
        raise ValueError(f"{given!r} is no number of seconds above 0 and up to {MAX_TIMEOUT_SECONDS}")
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
