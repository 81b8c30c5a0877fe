"""Output of commands: tables and colour on a terminal, JSON lines in a pipe."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from io import TextIOWrapper
from typing import Any, TypeVar

import click
from google.protobuf.json_format import MessageToJson
from google.protobuf.message import Message as Proto
from google.protobuf.timestamp_pb2 import Timestamp
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from memsidecar.cli.visible_text import visible, visible_line

Item = TypeVar("Item", bound=Proto)

MIN_PROSE_COLUMNS = 16
HEADER_STYLE = "bold"
FAINT = "dim"
WARNING = "yellow"
ROLE_STYLES = {"user": "green", "assistant": "cyan", "tool": "magenta", "system": "yellow"}


@dataclass(frozen=True)
class Column:
    """A column of a table. A column of prose is cut to fit the table into the terminal; ids and numbers stay whole."""

    title: str
    style: str = ""
    is_number: bool = False
    is_prose: bool = False


class Output:
    """Standard output of a command. All stored text passes `visible`."""

    def __init__(self, is_json: bool | None) -> None:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper) and stream.encoding.lower() != "utf-8":
                stream.reconfigure(errors="backslashreplace")
        is_terminal = sys.stdout.isatty()
        self.is_json = not is_terminal if is_json is None else is_json
        # JSON leaves characters as they are that a terminal would obey.
        self._ensure_ascii = is_terminal
        self._console = Console(markup=False, highlight=False, emoji=False)

    @property
    def columns(self) -> int:
        return self._console.width

    def record(self, record: Proto) -> None:
        """Print one line of JSON."""
        sys.stdout.write(MessageToJson(record, indent=None, ensure_ascii=self._ensure_ascii) + "\n")
        sys.stdout.flush()

    def counts(self, counts: Mapping[str, Any]) -> None:
        """Print numbers by name, or groups of them, as one line of JSON."""
        print(json.dumps(counts), flush=True)

    def items(self, items: Sequence[Item], columns: Sequence[Column], row: Callable[[Item], Sequence[str]]) -> None:
        """Print items as JSON lines, or as the rows of a table. Nothing is printed if there are none."""
        if self.is_json:
            for item in items:
                self.record(item)
        elif items:
            self.table(columns, map(row, items))

    def table(self, columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
        table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style=HEADER_STYLE)
        # A cell stays one line. Prose gets what the other columns leave; these may exceed the terminal.
        cells = [[Text(visible_line(cell.strip()), no_wrap=True, overflow="ellipsis") for cell in row] for row in rows]
        for at, column in enumerate(columns):
            widest = max([len(column.title), *(row[at].cell_len for row in cells)])
            least = min(widest, MIN_PROSE_COLUMNS) if column.is_prose else widest
            table.add_column(
                column.title,
                style=column.style,
                justify="right" if column.is_number else "left",
                no_wrap=not column.is_prose,
                min_width=least,
                max_width=least,
            )
        for row in cells:
            table.add_row(*row)
        needed = Measurement.get(self._console, self._console.options.update(max_width=sys.maxsize), table).minimum
        if needed > self.columns:
            table.width = needed
        else:
            for made in table.columns:
                made.max_width = None
        self._console.print(table, crop=False)

    def line(self, *parts: tuple[str, str]) -> None:
        """Print a line of texts with their styles."""
        self._console.print(Text.assemble(*((visible_line(text), style) for text, style in parts)), soft_wrap=True)

    def parts(self, *parts: tuple[str, str]) -> None:
        """Print a line of texts that contain no stored text, with their spaces as they are."""
        self._console.print(Text.assemble(*parts), soft_wrap=True)

    def text(self, text: str, style: str = "") -> None:
        """Print a text of several lines."""
        self._console.print(Text(visible(text), style), soft_wrap=True)

    def note(self, text: str) -> None:
        """Print a line on standard error."""
        sys.stdout.flush()
        print(visible_line(text), file=sys.stderr)


def local_time(time: Timestamp) -> str:
    """Return the time in the zone of the terminal; empty for a time that is not set."""
    if not (time.seconds or time.nanos):
        return ""
    return datetime.fromtimestamp(time.ToSeconds(), UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def plural(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


JSON_OPTION = click.option(
    "--json/--table",
    "is_json",
    default=None,
    help="Print JSON lines, or tables. Default: tables on a terminal, JSON lines in a pipe.",
)
