"""Print the table of a run of `make test-adversary`, and write it into a document.

Usage: python -m tools.adversary_table RESULTS [--write FILE]

RESULTS is the folder with the results of the tests (`tests/support/attempts.py`). With --write, the table replaces the
lines between the two markers of the file, unless an attack was not held: then the file stays as it is, and the exit
code is 1.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- adversary: begin -->", "<!-- adversary: end -->"


@dataclass
class Row:
    """An attack, with the sums of all tests that tried it."""

    name: str
    expectation: str = ""
    tried: int = 0
    held: int = 0

    def line(self) -> str:
        return f"| {self.name} | {self.tried:,} | {self.held:,} | {self.expectation} |"


@dataclass(frozen=True)
class Table:
    rows: Sequence[Row]
    skipped: Sequence[str]
    failed: Sequence[str]

    @classmethod
    def of(cls, results: Iterable[dict[str, Any]]) -> "Table":
        rows: dict[str, Row] = {}
        skipped, failed = list[str](), list[str]()
        for result in sorted(results, key=lambda result: str(result["name"])):
            if "tried" in result:
                row = rows.setdefault(result["name"], Row(result["name"], result["expectation"]))
                row.tried += result["tried"]
                row.held += result["held"]
            elif "skipped" in result:
                skipped.append(f"{result['name']}: {result['skipped']}")
            else:
                failed.append(str(result["name"]))
        return cls(list(rows.values()), skipped, failed)

    @property
    def is_held(self) -> bool:
        return bool(self.rows) and not self.failed and all(row.tried == row.held for row in self.rows)

    def text(self, title: str) -> str:
        """Return the table in Markdown, with what was not tried."""
        header = [title, "", "| attack | tried | held | after each attempt |", "| --- | ---: | ---: | --- |"]
        lines = [*header, *(row.line() for row in self.rows)]
        if self.skipped:
            lines += ["", "Not tried:", "", *(f"- {reason}" for reason in self.skipped)]
        if self.failed:
            lines += ["", "Failed:", "", *(f"- {name}" for name in self.failed)]
        return "\n".join(lines)


def replace_table(document: str, table: str) -> str:
    """Return the document with this text between its markers."""
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the document has no {BEGIN} ... {END}")
    return f"{before}{begin}\n{table}\n{end}{after}"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--write", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    table = Table.of(json.loads(path.read_text()) for path in options.results.glob("*.json"))
    text = table.text(f"{datetime.now(UTC):%d %B %Y}, `ROUNDS={os.environ.get('ROUNDS', '1')}`:")
    print(text)
    if options.write and table.is_held:
        options.write.write_text(replace_table(options.write.read_text(), text))
    return 0 if table.is_held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
