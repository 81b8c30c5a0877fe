"""Flags of `memsidecar mcp`."""

from __future__ import annotations

import os
import pwd
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from memsidecar.cli.client_options import (
    ClientOptions,
    UsageError,
    add_client_flags,
    client_options,
    parse_seconds,
    read_token_value,
)
from memsidecar.domain.errors import InvalidField
from memsidecar.domain.ids import check_id, new_id
from memsidecar.domain.network_address import UNIX_SCHEME, Address
from memsidecar.settings.client import SESSION_ID_VARIABLE, USER_ID_VARIABLE, ClientEnvironment

SDK_MISSING = "memsidecar mcp: the MCP SDK is not installed: pip install 'memsidecar[mcp]'"

SHARED_FOLDER = "mcp"
"Below the data directory: what the processes that share a sidecar meet at."
SOCKET = "sidecar.sock"

# Flags that say how to reach a sidecar that somebody else runs.
_ELSEWHERE = ("address", "ca_file", "certificate_file", "key_file")


@dataclass(frozen=True)
class McpOptions:
    """Whom to call, for whom, and where the sidecar's data is if it is ours to start."""

    call: ClientOptions
    token: Callable[[], str]
    "Reads it anew: a server that runs for weeks outlives its token."
    user_id: str
    session_id: str
    data_dir: Path | None


def add_mcp_flags(command: ArgumentParser) -> None:
    command.add_argument(
        "--data-dir",
        type=_directory,
        metavar="DIR",
        help="Where nobody runs a sidecar: keep the memory in this directory, and run one for it as long as any "
        "`memsidecar mcp` of the same directory runs; they share it. Settings come from the environment.",
    )
    add_client_flags(command)
    command.add_argument(
        "--namespace",
        default="default",
        metavar="NAMESPACE",
        help="The namespace of all memories; no tool can name another. Default: default.",
    )
    command.add_argument(
        "--user-id",
        metavar="USER",
        help=f"Whose memory it is; no tool can name another. Default: your login name. [{USER_ID_VARIABLE}]",
    )
    command.add_argument(
        "--session-id",
        metavar="SESSION",
        help="The conversation that tools mean when they name none. Default: a new one at each start. "
        f"[{SESSION_ID_VARIABLE}]",
    )
    command.add_argument(
        "--timeout",
        type=parse_seconds,
        default=20.0,
        metavar="SECONDS",
        help="Seconds that a tool may take, its waiting for the sidecar included. Default: 20.",
    )


def mcp_options(arguments: Namespace, environment: ClientEnvironment) -> McpOptions:
    """Reads the files. Raises WrongCall."""
    if arguments.data_dir is not None:
        arguments, environment = _at_home(arguments, environment)
    return McpOptions(
        call=client_options(arguments, environment),
        token=lambda: read_token_value(arguments.token_file, environment),
        user_id=_id("--user-id", arguments.user_id or environment.user_id or _login_name()),
        session_id=_id("--session-id", arguments.session_id or environment.session_id or _new_session()),
        data_dir=arguments.data_dir,
    )


def _at_home(arguments: Namespace, environment: ClientEnvironment) -> tuple[Namespace, ClientEnvironment]:
    """The same for a sidecar on a socket below the data directory, whatever the environment says of another."""
    for name in _ELSEWHERE:
        if getattr(arguments, name) is not None:
            raise UsageError(f"--data-dir and --{name.replace('_', '-')} exclude each other")
    address = f"{UNIX_SCHEME}{arguments.data_dir / SHARED_FOLDER / SOCKET}"
    try:
        Address.parse(address)
    except ValueError as error:
        raise UsageError(f"--data-dir: {address} {error}") from None
    here = Namespace(**{**vars(arguments), "address": address})
    return here, replace(environment, ca_file="", certificate_file="", key_file="", tls="")


def _directory(given: str) -> Path:
    # Desktop programs start us with any working directory, and pass ~ on as it is.
    return Path(given).expanduser().resolve()


def _id(flag: str, given: str) -> str:
    try:
        return check_id(flag, given)
    except InvalidField as error:
        raise UsageError(str(error)) from None


def _login_name() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _new_session() -> str:
    return f"mcp-{datetime.now():%Y-%m-%d-%H%M}-{new_id()[-6:]}"
