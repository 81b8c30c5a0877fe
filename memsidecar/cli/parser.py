"""The argparse tree. Every setting is a flag of `memsidecar serve`."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version

from memsidecar.cli.archive_options import add_compare_flags, add_export_flags, add_import_flags
from memsidecar.cli.client_options import add_client_flags, parse_seconds
from memsidecar.cli.mcp_options import add_mcp_flags
from memsidecar.cli.token import add_token_commands
from memsidecar.settings.documentation import CONFIG_MEANING
from memsidecar.settings.loading import CONFIG, SETTING_NAMES, flag, nearest, variable
from memsidecar.settings.schema import Settings
from memsidecar.settings.types import expectation, format_value, metavar

SERVE = "serve"
SETTINGS = "settings"
DOCTOR = "doctor"
REINDEX = "reindex"
TOKEN = "token"
CHECK = "check"
MCP = "mcp"
EXPORT = "export"
IMPORT = "import"
COMPARE = "compare"

_REINDEX_SETTINGS = ("data_dir", "log_format", "log_level", "index_cache_bytes", "vector_index_messages")

# For each command its summary and the settings that are its flags.
COMMANDS: dict[str, tuple[str, tuple[str, ...]]] = {
    SERVE: ("Run the sidecar until SIGTERM.", (CONFIG, *SETTING_NAMES)),
    SETTINGS: ("Print every setting with its names, default and reason, as Markdown.", ()),
    TOKEN: ("Make tokens for an access file, and show what they grant.", ()),
    CHECK: ("Call a running sidecar once as an agent would, and report the outcome.", ()),
    MCP: ("Serve the memory to a desktop agent: the tools of an MCP server, over standard input and output.", ()),
    EXPORT: ("Write an archive of a namespace, a user or a session of a running sidecar.", ()),
    IMPORT: ("Store an archive, or the chats of another system, in a running sidecar.", ()),
    COMPARE: ("Call every read RPC of two running sidecars, and report what differs.", ()),
    DOCTOR: ("Check a data directory while no sidecar runs on it.", (CONFIG, "data_dir", "log_format", "log_level")),
    REINDEX: (
        "Rebuild the index from the journal while no sidecar runs on it.",
        (CONFIG, *(name for name in SETTING_NAMES if name in _REINDEX_SETTINGS or name.startswith("embedder"))),
    ),
}


def add_check_flags(command: ArgumentParser) -> None:
    add_client_flags(command)
    command.add_argument("--namespace", default="default", metavar="NAMESPACE", help="Where to add. Default: default.")
    command.add_argument(
        "--timeout",
        type=parse_seconds,
        default=30.0,
        metavar="SECONDS",
        help="Seconds to wait until the sidecar is ready. Default: 30.",
    )


# The flags of the commands that have others than settings.
_FLAGS = {
    TOKEN: add_token_commands,
    CHECK: add_check_flags,
    MCP: add_mcp_flags,
    EXPORT: add_export_flags,
    IMPORT: add_import_flags,
    COMPARE: add_compare_flags,
}


def parser() -> ArgumentParser:
    """Return the parser of the whole command line."""
    # No abbreviations: the meaning of --max-m would change with the next setting that starts like it.
    root = ArgumentParser(prog="memsidecar", description="Memory for LLM agents, served over gRPC.", allow_abbrev=False)
    root.add_argument("--version", action="version", version=f"memsidecar {installed_version()}")
    commands = root.add_subparsers(dest="command", required=True, metavar="command")
    for name, (summary, settings) in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        _add_flags(command, settings)
        if name in _FLAGS:
            _FLAGS[name](command)
    return root


def parse(argv: Sequence[str] | None) -> Namespace:
    """Return the arguments. An unknown flag raises SystemExit(2) and prints the nearest known one."""
    root = parser()
    arguments, unknown = root.parse_known_args(argv)
    for word in unknown:
        known = [flag(name) for name in COMMANDS[arguments.command][1]]
        if word.startswith("--") and known:
            root.error(f"{word}: unknown flag; the nearest known one is {nearest(word, known)}")
        root.error(f"{word}: not expected here")
    return arguments


def given_flags(arguments: Namespace) -> dict[str, str]:
    """Return the given flags by setting name; others are absent."""
    return {name: value for name, value in vars(arguments).items() if name in (*SETTING_NAMES, CONFIG)}


def installed_version() -> str:
    """Return the version of the installed package; a bare checkout has none."""
    try:
        return version("memsidecar")
    except PackageNotFoundError:
        return "(not installed)"


def _add_flags(command: ArgumentParser, names: Iterable[str]) -> None:
    for name in names:
        if name == CONFIG:
            _add_flag(command, CONFIG, "FILE", CONFIG_MEANING)
        else:
            _add_flag(command, name, metavar(Settings.model_fields[name]), _help(name))


def _add_flag(command: ArgumentParser, name: str, placeholder: str, text: str) -> None:
    # argparse formats its help with %, so a % in a description must be doubled.
    text = f"{text} [{variable(name)}]".replace("%", "%%")
    command.add_argument(flag(name), dest=name, metavar=placeholder, default=SUPPRESS, help=text)


def _help(name: str) -> str:
    field = Settings.model_fields[name]
    default = format_value(field, field.default)
    return f"{field.description} Takes {expectation(field)}. Default: {default}."
