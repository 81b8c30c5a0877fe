"""Entry point of the command line. Exit codes: 0 success, 1 failed while running, 2 wrong usage or settings."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol, cast

from memsidecar import logs
from memsidecar.cli.mcp_options import SDK_MISSING
from memsidecar.cli.parser import (
    CHECK,
    COMPARE,
    DOCTOR,
    EXPORT,
    IMPORT,
    MCP,
    REINDEX,
    SERVE,
    SETTINGS,
    TOKEN,
    given_flags,
    parse,
)
from memsidecar.cli.token import run_token
from memsidecar.domain.errors import SidecarError
from memsidecar.settings import InvalidSettings, Settings, documentation, load_settings, quiet_native_logs

FAILED = 1
WRONG_USAGE = 2


class AssemblyModule(Protocol):
    """The commands of `memsidecar.assembly`. Each returns the exit code."""

    def run_serve(self, settings: Settings) -> int:
        """Run until SIGTERM or SIGINT."""

    def run_doctor(self, settings: Settings) -> int:
        """Examine the data directory and print the findings."""

    def run_reindex(self, settings: Settings) -> int:
        """Rebuild the index, with a progress bar on standard error."""


# The commands that call a running sidecar: module and function. Each function returns the exit code.
_CLIENT_COMMANDS = {
    CHECK: ("memsidecar.cli.check", "run_check"),
    EXPORT: ("memsidecar.cli.archive_commands", "run_export"),
    IMPORT: ("memsidecar.cli.archive_commands", "run_import"),
    COMPARE: ("memsidecar.cli.compare", "run_compare"),
}


class McpModule(Protocol):
    """The command of `memsidecar.mcp_server.server`."""

    def run_mcp(self, arguments: Namespace) -> int:
        """Serve on standard input and output until standard input ends, and return the exit code."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Wrong usage raises SystemExit(2), as argparse does."""
    arguments = parse(argv)
    if arguments.command == SETTINGS:
        print(documentation(), end="")
        return 0
    if arguments.command == TOKEN:
        return run_token(arguments)
    if arguments.command in _CLIENT_COMMANDS:
        return _call_sidecar(arguments)
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
    # Imported late: only this command needs the SDK, which is an optional dependency.
    return cast(McpModule, import_module("memsidecar.mcp_server.server")).run_mcp(arguments)


def _assembly() -> AssemblyModule:
    # Imported late: it loads grpc and the tokenizer, for which --help and invalid settings should not wait.
    return cast(AssemblyModule, import_module("memsidecar.assembly"))


def _call_sidecar(arguments: Namespace) -> int:
    quiet_native_logs()
    module, function = _CLIENT_COMMANDS[arguments.command]
    # Imported late, for the same reason.
    return cast(Callable[[Namespace], int], getattr(import_module(module), function))(arguments)


if __name__ == "__main__":
    sys.exit(main())
