"""Options of `memsidecar mcp`: flags and environment variables."""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from memsidecar.cli.client_options import (
    ClientFlags,
    ClientOptions,
    client_options,
    read_token_text,
    with_client_flags,
)
from memsidecar.cli.command import SidecarCommand, UsageError
from memsidecar.domain.errors import InvalidField
from memsidecar.domain.ids import check_id, new_id
from memsidecar.domain.network_address import UNIX_SCHEME, Address
from memsidecar.settings.client import ALLOWED_TOOLS_VARIABLE, SESSION_ID_VARIABLE, USER_ID_VARIABLE, ClientEnvironment

SHARED_FOLDER = "mcp"
"Folder below the data directory with the socket and the locks of processes that share a sidecar."
SOCKET = "sidecar.sock"

OPERATOR_TOOLS = ("export_memory", "forget_user")
"Tools that a model gets only if the operator allows them: they reach everything of the user at once."

# Flags for a sidecar that this command does not start itself.
_REMOTE_FLAGS = ("address", "ca_file", "certificate_file", "key_file")


@dataclass(frozen=True)
class McpFlags:
    """The flags of `memsidecar mcp`, as given; None if not given."""

    client: ClientFlags
    data_dir: Path | None
    user_id: str | None
    session_id: str | None
    allow_tool: tuple[str, ...]


@dataclass(frozen=True)
class McpOptions:
    """Client options, the user and session of all tools, and the data directory if this command starts the sidecar."""

    call: ClientOptions
    token: Callable[[], str]
    "Reads the token for each call, because the MCP server may run longer than a token is valid."
    user_id: str
    session_id: str
    data_dir: Path | None
    allowed_tools: frozenset[str]


def mcp_command(run: Callable[[McpFlags], int]) -> click.Command:
    """Return `memsidecar mcp`. `run` is part of a package above this one."""

    @click.command(name="mcp", cls=SidecarCommand, examples=("memsidecar mcp --data-dir ~/.memsidecar",))
    @click.option(
        "--data-dir",
        type=_directory,
        metavar="DIR",
        help="If no sidecar runs: keep the memory in this directory, and run one for it as long as any "
        "`memsidecar mcp` of the same directory runs; they share it. Settings come from the environment.",
    )
    @click.option(
        "--user-id",
        metavar="USER",
        help=f"Whose memory it is; no tool can name another. Default: your login name. [{USER_ID_VARIABLE}]",
    )
    @click.option(
        "--session-id",
        metavar="SESSION",
        help="The conversation that tools mean when they name none. Default: a new one at each start. "
        f"[{SESSION_ID_VARIABLE}]",
    )
    @click.option(
        "--allow-tool",
        multiple=True,
        type=click.Choice(OPERATOR_TOOLS),
        metavar="TOOL",
        help=f"Also offer this tool: {' or '.join(OPERATOR_TOOLS)}. May be repeated. Default: neither. "
        f"[{ALLOWED_TOOLS_VARIABLE}, separated by commas]",
    )
    @with_client_flags(
        namespace="The namespace of all memories; no tool can name another.",
        timeout="Seconds that a tool may take, its waiting for the sidecar included.",
        default_timeout=20.0,
    )
    def mcp(client: ClientFlags, **given: Any) -> int:
        """Serve the memory to a desktop agent: the tools of an MCP server, over standard input and output."""
        return run(McpFlags(client, **given))

    return mcp


def mcp_options(flags: McpFlags, environment: ClientEnvironment) -> McpOptions:
    """Return the options of flags and environment. Raises UsageError."""
    client = flags.client
    if flags.data_dir is not None:
        client, environment = _with_own_sidecar(client, flags.data_dir, environment)
    return McpOptions(
        call=client_options(client, environment),
        token=lambda: read_token_text(client.token_file, environment),
        user_id=_id("--user-id", flags.user_id or environment.user_id or _login_name()),
        session_id=_id("--session-id", flags.session_id or environment.session_id or _new_session()),
        data_dir=flags.data_dir,
        allowed_tools=frozenset(flags.allow_tool or _tools(environment.allowed_tools)),
    )


def _tools(names: str) -> list[str]:
    tools = [name.strip() for name in names.split(",") if name.strip()]
    for name in tools:
        if name not in OPERATOR_TOOLS:
            known = " and ".join(OPERATOR_TOOLS)
            raise UsageError(f"{ALLOWED_TOOLS_VARIABLE}: there is no tool {name!r} to allow; there are {known}")
    return tools


def _with_own_sidecar(
    client: ClientFlags, data_dir: Path, environment: ClientEnvironment
) -> tuple[ClientFlags, ClientEnvironment]:
    """Point the options to a socket below the data directory, whatever address the environment has."""
    for name in _REMOTE_FLAGS:
        if getattr(client, name) is not None:
            raise UsageError(f"--data-dir and --{name.replace('_', '-')} exclude each other")
    address = f"{UNIX_SCHEME}{data_dir / SHARED_FOLDER / SOCKET}"
    try:
        Address.parse(address)
    except ValueError as error:
        raise UsageError(f"--data-dir: {address} {error}") from None
    local = replace(environment, ca_file="", certificate_file="", key_file="", tls="")
    return replace(client, address=address), local


def _directory(given: str) -> Path:
    # Desktop programs use any working directory, and pass ~ unexpanded.
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
