"""docs/cli.md, generated from the help of all commands: `python -m tools.cli_page > docs/cli.md`."""

from __future__ import annotations

from collections.abc import Iterator

import click

from memsidecar.__main__ import command_line
from memsidecar.cli.command import PROGRAM, CommandTree, SidecarCommand

COLUMNS = 110
INTRODUCTION = """\
# Command line

Made by `python -m tools.cli_page`; do not edit.

Each command has `--help`. The commands from `check` to `bench` call a running sidecar: at `127.0.0.1:7600`, or at
`--address` or `MEMSIDECAR_ADDRESS`.

Output is for a person on a terminal, and for a program in a pipe: tables and colour become JSON lines, with the fields
of the [wire contract](rpcs.md). `--json` and `--table` choose otherwise, `NO_COLOR` switches colours off. Stored text
may be hostile: in tables, control characters, terminal escapes and bidirectional controls are shown as `\\x1b` or
`\\u202e`. Progress bars, notes and errors go to standard error.

Exit codes: 0 success, 1 a failure or a fault that was found, 2 wrong usage or settings, 130 interrupted.

## Shell completion

    eval "$(_MEMSIDECAR_COMPLETE=bash_source memsidecar)"            # in ~/.bashrc; bash 4.4 or later
    eval "$(_MEMSIDECAR_COMPLETE=zsh_source memsidecar)"             # in ~/.zshrc
    _MEMSIDECAR_COMPLETE=fish_source memsidecar | source             # in ~/.config/fish/completions/memsidecar.fish
"""


def commands() -> Iterator[tuple[str, SidecarCommand]]:
    """Yield every command with its names, those of groups included, in the order of the help."""
    root = command_line()
    context = click.Context(root, info_name=PROGRAM)
    for name in root.list_commands(context):
        command = root.get_command(context, name)
        if isinstance(command, CommandTree):
            for part, below in command.commands.items():
                assert isinstance(below, SidecarCommand)
                yield f"{name} {part}", below
        else:
            assert isinstance(command, SidecarCommand)
            yield name, command


def page() -> str:
    """Return the page: the help of each command."""
    return "\n".join([INTRODUCTION, *(_section(name, command) for name, command in commands())])


def _section(name: str, command: SidecarCommand) -> str:
    if name == "serve":
        text = "Every setting is a flag, an environment variable and a key of a file: [settings.md](settings.md).\n\n"
        return f"## memsidecar serve\n\n{command.help}\n\n{text}{_indented(command.examples)}\n"
    context = command.context_class(
        command, info_name=f"{PROGRAM} {name}", terminal_width=COLUMNS, help_option_names=["-h", "--help"]
    )
    return f"## memsidecar {name}\n\n{_indented(command.get_help(context).splitlines())}\n"


def _indented(lines: tuple[str, ...] | list[str]) -> str:
    return "\n".join(f"    {line}".rstrip() for line in lines)


if __name__ == "__main__":
    print(page(), end="")
