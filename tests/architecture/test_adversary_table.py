"""The table of `make test-adversary`: sums, attacks that were not held, and the place in the document."""

import json
from pathlib import Path
from typing import Any

import pytest

from tools.adversary_table import BEGIN, END, main

KILL = {"name": "kill -9", "expectation": "all is there", "tried": 3, "held": 3}
DOCUMENT = f"# Title\n\n{BEGIN}\nold\n{END}\n\nrest\n"


def run(folder: Path, *results: dict[str, Any]) -> tuple[int, str]:
    """Write the table of these results; return the exit code and the document."""
    document = folder / "document.md"
    document.write_text(DOCUMENT)
    results_folder = folder / "results"
    results_folder.mkdir()
    for at, result in enumerate(results):
        (results_folder / f"{at}.json").write_text(json.dumps(result))
    return main([str(results_folder), "--write", str(document)]), document.read_text()


def test_attempts_of_one_attack_are_added_up(tmp_path: Path) -> None:
    code, document = run(tmp_path, KILL, {**KILL, "tried": 1_000, "held": 1_000})
    assert code == 0
    assert "| kill -9 | 1,003 | 1,003 | all is there |" in document
    assert document.startswith("# Title\n") and document.endswith("\nrest\n") and "old" not in document


@pytest.mark.parametrize("bad", [{**KILL, "held": 2}, {"name": "kill -9", "failed": "failed"}])
def test_an_attack_that_was_not_held_is_a_failure_and_changes_no_document(tmp_path: Path, bad: dict[str, Any]) -> None:
    assert run(tmp_path, KILL, bad) == (1, DOCUMENT)


def test_a_run_without_results_is_a_failure(tmp_path: Path) -> None:
    assert run(tmp_path) == (1, DOCUMENT)


def test_an_attack_that_was_not_tried_is_named(tmp_path: Path) -> None:
    code, document = run(tmp_path, KILL, {"name": "full disk", "skipped": "NOT TESTED: no mount"})
    assert code == 0 and "- full disk: NOT TESTED: no mount" in document
