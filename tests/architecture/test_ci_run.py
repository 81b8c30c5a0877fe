"""The queue of .ci/run: order, output and failures, with sections of the tests' own."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / ".ci" / "run"
Run = Callable[[str], subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def run_sections(sections: str) -> subprocess.CompletedProcess[str]:
        file = tmp_path / "sections"
        file.write_text(f"limit_seconds=60\ntmp={tmp_path}\n{sections}")
        return subprocess.run([SCRIPT, file], capture_output=True, text=True, check=False, timeout=120)

    return run_sections


def program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"set -eu\ncd {folder}\n{text}")


def test_a_section_begins_after_its_prerequisites(run: Run) -> None:
    done = run(
        "section late 'one+other' rm $tmp/one $tmp/other\nsection one '' touch $tmp/one\n"
        "section other one touch $tmp/other\n"
    )
    assert done.returncode == 0, done.stdout
    assert [line.split(":")[0] for line in done.stdout.splitlines()[-4:]] == [
        "=== one",
        "=== other",
        "=== late",
        "=== all of it",
    ]


def test_two_sections_run_side_by_side_and_each_is_printed_as_a_whole(run: Run, tmp_path: Path) -> None:
    program(tmp_path, "a", "echo a1; echo >to-b; read -r _ <to-a; echo a2")
    program(tmp_path, "b", "read -r _ <to-b; echo b1; echo >to-a; echo b2")
    done = run("mkfifo $tmp/to-a $tmp/to-b\nsection A '' sh $tmp/a\nsection B '' sh $tmp/b\n")
    assert done.returncode == 0, done.stdout
    assert "a1\na2\n" in done.stdout and "b1\nb2\n" in done.stdout and done.stdout.count("a1") == 1


def test_no_section_begins_after_a_failure(run: Run, tmp_path: Path) -> None:
    done = run("max_running=1\nsection broken '' false\nsection next '' touch $tmp/next\n")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].endswith("FAILED: broken")
    assert not (tmp_path / "next").exists()


def test_a_killed_section_is_a_failure(run: Run, tmp_path: Path) -> None:
    program(tmp_path, "killer", "read -r _ _ _ section _ </proc/$PPID/stat; kill -9 $section")
    done = run("section killed '' sh $tmp/killer\n")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].endswith("FAILED: killed")


def test_a_prerequisite_that_does_not_exist_is_a_failure(run: Run) -> None:
    done = run("section typo setpu true\n")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].endswith("FAILED: never begun: typo")
