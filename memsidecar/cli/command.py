"""Commands of the command line on click: lazy loading, examples in the help, unknown flags, errors as exit codes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, cast

import click

from memsidecar.domain.errors import SidecarError
from memsidecar.settings.loader import nearest

FAILED = 1
WRONG_USAGE = 2
INTERRUPTED = 130
PROGRAM = "memsidecar"
HELP_COLUMNS = 120


class UsageError(SidecarError):
    """The flags cannot be used together, or would be unsafe."""


class UsageFormatter(click.HelpFormatter):
    """Begins the usage with a small letter, as Python's own parser does. Leaves room for the longest variable."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        super().write_usage(prog, args, prefix or "usage: ")

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 24, col_spacing: int = 2) -> None:
        super().write_dl(rows, col_max, col_spacing)


class CommandContext(click.Context):
    formatter_class = UsageFormatter


class SidecarCommand(click.Command):
    """A command whose help has examples, and whose errors are one line on standard error.

    Its callback returns the exit code, or None for 0.
    """

    context_class = CommandContext

    def __init__(self, *args: Any, examples: Sequence[str] = (), **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.examples = tuple(examples)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 of click
        if self.examples:
            with formatter.section("Examples"):
                formatter.write("".join(f"{'':{formatter.current_indent}}{example}\n" for example in self.examples))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse, and name the nearest known flag for an unknown one. click names none if no other is similar."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            flags = [flag for option in self.get_params(ctx) for flag in option.opts if flag.startswith("--")]
            found = f"{error.option_name}: unknown flag; the nearest known one is {nearest(error.option_name, flags)}"
            raise click.UsageError(found, ctx) from None

    def invoke(self, ctx: click.Context) -> int:
        try:
            return cast(int | None, super().invoke(ctx)) or 0
        except SidecarError as error:
            print(f"{ctx.command_path}: {error}", file=sys.stderr)
            return WRONG_USAGE if isinstance(error, UsageError) else FAILED
        except UnicodeEncodeError as error:
            # A byte of an argument that is no UTF-8. Python keeps it as half of a surrogate pair.
            print(f"{ctx.command_path}: an argument is not valid UTF-8: {error.object!a}", file=sys.stderr)
            return WRONG_USAGE
        except (KeyboardInterrupt, click.Abort):  # click's Abort: a question was interrupted
            print(f"{ctx.command_path}: interrupted", file=sys.stderr)
            return INTERRUPTED


class CommandTree(click.Group):
    """Commands by name. A command is loaded when it is named: `--help` and the other commands do not wait for it."""

    context_class = CommandContext
    command_class = SidecarCommand

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self._loaders: dict[str, tuple[str, Callable[[], click.Command]]] = {}

    def add_loader(self, name: str, summary: str, load: Callable[[], click.Command]) -> None:
        """Add a command that `load` returns. The summary is its line in the help of the group."""
        self._loaders[name] = (summary, load)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self._loaders, *super().list_commands(ctx)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command, and name the nearest one for an unknown name. click knows only the loaded ones."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            closest = nearest(error.command_name, self.list_commands(ctx))
            found = f"{error.command_name}: unknown command; the nearest known one is {closest}"
            raise click.UsageError(found, ctx) from None

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._loaders:
            return super().get_command(ctx, cmd_name)
        return self._loaders[cmd_name][1]()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 of click
        rows = [(name, summary) for name, (summary, _) in self._loaders.items()]
        rows += [(name, command.get_short_help_str(HELP_COLUMNS)) for name, command in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def loader(module: str, name: str) -> Callable[[], click.Command]:
    """Return a function that imports a command: its module may be one that takes long to import."""
    return lambda: cast(click.Command, getattr(import_module(module), name))


def installed_version() -> str:
    """Return the version of the installed package; a bare checkout has none."""
    try:
        return version(PROGRAM)
    except PackageNotFoundError:
        return "(not installed)"
