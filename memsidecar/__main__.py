"""The command line's entry. Exit codes: 0 done, 1 failed while running, 2 wrong usage or settings."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol, cast

from memsidecar import logs
from memsidecar.cli.mcp_options import SDK_MISSING
from memsidecar.cli.parser import CHECK, DOCTOR, MCP, REINDEX, SERVE, SETTINGS, TOKEN, given_flags, parse
from memsidecar.cli.token import run_token
from memsidecar.domain.errors import SidecarError
from memsidecar.settings import InvalidSettings, Settings, documentation, load_settings, quiet_native_logs

FAILED = 1
WRONG_USAGE = 2


class Assembly(Protocol):
    """What the command line asks of `memsidecar.assembly`; each returns the exit code."""

    def run_serve(self, settings: Settings) -> int:
        """Run until told to stop."""

    def run_doctor(self, settings: Settings) -> int:
        """Examine the data directory and say on standard output what was found."""

    def run_reindex(self, settings: Settings) -> int:
        """Make the index anew, with a progress bar on standard error."""


class Checking(Protocol):
    """What the command line asks of `memsidecar.cli.check`."""

    def run_check(self, arguments: Namespace) -> int:
        """Use a running sidecar once, say how it went, and return the exit code."""


class McpServing(Protocol):
    """What the command line asks of `memsidecar.mcp_server.server`."""

    def run_mcp(self, arguments: Namespace) -> int:
        """Answer over standard input and output until the former ends, and return the exit code."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; wrong usage leaves by SystemExit(2), as argparse does."""
    arguments = parse(argv)
    if arguments.command == SETTINGS:
        print(documentation(), end="")
        return 0
    if arguments.command == TOKEN:
        return run_token(arguments)
    if arguments.command == CHECK:
        quiet_native_logs()
        return _checking().run_check(arguments)
    if arguments.command == MCP:
        return _mcp(arguments)
    try:
        settings = load_settings(given_flags(arguments))
    except InvalidSettings as error:
        print(f"memsidecar: {error}", file=sys.stderr)
        return WRONG_USAGE
    return _run(arguments, settings)


def _run(arguments: Namespace, settings: Settings) -> int:
    logs.configure(settings.log_format, settings.log_level)
    quiet_native_logs()
    assembly = _assembly()
    commands = {SERVE: assembly.run_serve, DOCTOR: assembly.run_doctor, REINDEX: assembly.run_reindex}
    try:
        return commands[arguments.command](settings)
    except SidecarError as error:
        print(f"memsidecar: {error}", file=sys.stderr)
        return FAILED


def _mcp(arguments: Namespace) -> int:
    if find_spec("mcp") is None:
        print(SDK_MISSING, file=sys.stderr)
        return FAILED
    quiet_native_logs()
    # By name and late: nobody else needs the SDK, and it is an extra.
    return cast(McpServing, import_module("memsidecar.mcp_server.server")).run_mcp(arguments)


def _assembly() -> Assembly:
    # By name and late: it brings grpc and the tokenizer, and neither --help nor a refused setting should wait for them.
    return cast(Assembly, import_module("memsidecar.assembly"))


def _checking() -> Checking:
    # By name and late, for the same reason.
    return cast(Checking, import_module("memsidecar.cli.check"))


if __name__ == "__main__":
    sys.exit(main())
