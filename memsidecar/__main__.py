"""Entry point of the command line. Exit codes: 0 success, 1 failed while running, 2 wrong usage or settings."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, cast

import click

from memsidecar import logs
from memsidecar.cli.command import FAILED, HELP_COLUMNS, PROGRAM, CommandTree, installed_version, loader
from memsidecar.cli.schema_flags import settings_command
from memsidecar.domain.errors import SidecarError
from memsidecar.settings import Settings, quiet_native_logs


class AssemblyModule(Protocol):
    """The commands of `memsidecar.assembly`. Each returns the exit code."""

    def run_serve(self, settings: Settings) -> int:
        """Run until SIGTERM or SIGINT."""

    def run_doctor(self, settings: Settings) -> int:
        """Examine the data directory and print the findings."""

    def directory_findings(self, directory: Path) -> Sequence[Any]:
        """Check the surroundings of a data directory, on which a sidecar may run."""

    def run_migrate(self, settings: Settings) -> int:
        """Bring the schema of the database to the version of this sidecar."""

    def run_reindex(self, settings: Settings, progress: Callable[[str, int], Any]) -> int:
        """Rebuild the index, with a progress bar on standard error."""


class SdkMissing(SidecarError):
    """The MCP SDK is an optional dependency, and is not installed."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Wrong usage raises SystemExit(2)."""
    # Before a command imports grpc.
    quiet_native_logs()
    try:
        code: int | None = command_line().main(argv, PROGRAM, standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        raise SystemExit(error.exit_code) from None
    except OSError as error:
        if error.errno not in _WRITE_ERRORS:
            raise
        return _write_failed(error)
    return code or 0


_WRITE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EPIPE)


def _write_failed(error: OSError) -> int:
    # The interpreter must not fail when it flushes the rest.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if not isinstance(error, BrokenPipeError):  # the reader of a pipe may end when it has enough
        print(f"{PROGRAM}: cannot write: {error.strerror}", file=sys.stderr)
    return FAILED


def command_line() -> CommandTree:
    """Return the tree of all commands."""
    root = CommandTree(
        PROGRAM,
        help="Memory for LLM agents, served over gRPC.",
        params=[_version_option()],
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": HELP_COLUMNS},
    )
    for name, (summary, load) in _COMMANDS.items():
        root.add_loader(name, summary, load)
    return root


def _version_option() -> click.Option:
    def show(context: click.Context, _option: click.Parameter, is_given: bool) -> None:
        if is_given:
            print(f"{PROGRAM} {installed_version()}")
            context.exit()

    return click.Option(
        ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=show, help="Show the version and exit."
    )


def _run(name: str, settings: Settings) -> int:
    logs.configure(settings.log_format, settings.log_level)
    # Imported late: it loads grpc and the tokenizer, for which --help and invalid settings should not wait.
    assembly = cast(AssemblyModule, import_module("memsidecar.assembly"))
    if name == "reindex":
        # Imported late: `serve` needs no library for terminals.
        progress_bar = import_module("memsidecar.cli.progress").progress_bar
        return assembly.run_reindex(settings, partial(progress_bar, shows_end=True))
    commands = {"serve": assembly.run_serve, "doctor": assembly.run_doctor, "migrate": assembly.run_migrate}
    return commands[name](settings)


def _settings_command(name: str, text: str, *examples: str) -> Callable[[], click.Command]:
    return lambda: settings_command(name, partial(_run, name), text=text, examples=examples)


def _doctor() -> click.Command:
    doctor: Any = import_module("memsidecar.cli.doctor")
    checks = doctor.LocalChecks(examine=partial(_run, "doctor"), inspect=_inspect)
    return cast(click.Command, doctor.doctor_command(checks))


def _inspect(data_dir: Path) -> Sequence[Any]:
    return cast(AssemblyModule, import_module("memsidecar.assembly")).directory_findings(data_dir)


def _mcp() -> click.Command:
    options: Any = import_module("memsidecar.cli.mcp_options")
    return cast(click.Command, options.mcp_command(_run_mcp))


def _run_mcp(flags: object) -> int:
    if find_spec("mcp") is None:
        raise SdkMissing("the MCP SDK is not installed: pip install 'memsidecar[mcp]'")
    # Imported late: only this command needs the SDK, which is an optional dependency.
    return cast(int, import_module("memsidecar.mcp_server.server").run_mcp(flags))


# For each command its line in the help of `memsidecar`, and the function that loads it.
_COMMANDS: dict[str, tuple[str, Callable[[], click.Command]]] = {
    "serve": (
        "Run the sidecar until SIGTERM.",
        _settings_command(
            "serve",
            "Run the sidecar until SIGTERM.\n\nWhen it is ready it prints one line of JSON with its addresses.",
            "memsidecar serve",
            "memsidecar serve --listen unix:/run/memsidecar.sock --data-dir /var/lib/memsidecar",
        ),
    ),
    "settings": (
        "Print every setting with its names, default and reason, as Markdown.",
        loader("memsidecar.cli.schema_flags", "print_settings"),
    ),
    "token": (
        "Make tokens for an access file, and show what they grant.",
        loader("memsidecar.cli.token", "token"),
    ),
    "check": (
        "Call a running sidecar once as an agent would, and report the outcome.",
        loader("memsidecar.cli.check", "check"),
    ),
    "mcp": (
        "Serve the memory to a desktop agent: the tools of an MCP server, over standard input and output.",
        _mcp,
    ),
    "sessions": (
        "List the sessions of a namespace, the most recently active first.",
        loader("memsidecar.cli.session_commands", "sessions"),
    ),
    "users": (
        "List the users of a namespace: those that own sessions, facts or documents.",
        loader("memsidecar.cli.session_commands", "users"),
    ),
    "show": (
        "Print the messages of a session, oldest first.",
        loader("memsidecar.cli.session_commands", "show"),
    ),
    "search": (
        "Search messages, best first, with the parts of each score.",
        loader("memsidecar.cli.search_command", "search"),
    ),
    "context": (
        "Build the context of a session as an agent would get it. A dry run: nothing is stored or learned.",
        loader("memsidecar.cli.context_command", "context"),
    ),
    "facts": (
        "List what was learned or stored about a user.",
        loader("memsidecar.cli.knowledge_commands", "facts"),
    ),
    "documents": (
        "List stored documents, without their texts.",
        loader("memsidecar.cli.knowledge_commands", "documents"),
    ),
    "stats": (
        "Count the messages and tokens of a session, or of all sessions of a user or of the namespace.",
        loader("memsidecar.cli.session_commands", "stats"),
    ),
    "watch": (
        "Print events as they happen, until interrupted: one line for each, without any content.",
        loader("memsidecar.cli.watch_command", "watch"),
    ),
    "forget": (
        "Erase a user, a session or a message from every layer and every file, for good.",
        loader("memsidecar.cli.forget_command", "forget"),
    ),
    "export": (
        "Write an archive of a namespace, a user or a session of a running sidecar.",
        loader("memsidecar.cli.archive_commands", "export"),
    ),
    "import": (
        "Store an archive, or the chats of another system, in a running sidecar.",
        loader("memsidecar.cli.archive_commands", "import_file"),
    ),
    "compare": (
        "Call every read RPC of two running sidecars, and report what differs.",
        loader("memsidecar.cli.compare", "compare"),
    ),
    "doctor": ("Check a running sidecar and its surroundings, or offline a data directory.", _doctor),
    "bench": (
        "Measure Add, Search and BuildContext of a running sidecar, for a few seconds.",
        loader("memsidecar.cli.bench", "bench"),
    ),
    "reindex": (
        "Rebuild the index from the journal while no sidecar runs on it.",
        _settings_command(
            "reindex",
            "Rebuild the index from the journal while no sidecar runs on it.",
            "memsidecar reindex --data-dir /var/lib/memsidecar",
        ),
    ),
    "migrate": (
        "Bring the schema of the database to the version of this sidecar.",
        _settings_command(
            "migrate",
            "Bring the schema of the database to the version of this sidecar.\n\nA sidecar never changes the schema: "
            "without this it does not start. Sidecars of the version before may run meanwhile.",
            "memsidecar migrate --postgres-url-file /run/secrets/postgres-url",
        ),
    ),
}


if __name__ == "__main__":
    sys.exit(main())
