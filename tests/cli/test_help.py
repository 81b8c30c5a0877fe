"""The help of every command: its examples run against a real sidecar, and docs/cli.md is made from it."""

import json
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from tests.archives.test_formats import SAMPLES
from tests.cli.commands import CommandLine
from tests.cli.conftest import fill
from tests.support.forked import run
from tests.support.postgres_server import VERSIONS, create_database, postgres_server
from tests.support.process import SidecarProcess
from tests.support.waiting import HANG_SECONDS
from tools.cli_page import commands, page

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
NAMES = [name for name, _ in commands()]
EXAMPLES = re.compile(r"^Examples:\n((?:  .+\n)+)", re.MULTILINE)
_UNTIL_STOPPED = ("serve",)
_OF_THE_SHELL = re.compile(r"[|>~]")


class ExampleRun:
    """Runs the examples in the order of the help, in one folder."""

    def __init__(self, folder: Path, sidecar: SidecarProcess) -> None:
        self.folder = folder
        self.sidecar = sidecar
        self.command_line = CommandLine(sidecar, folder)
        # The addresses and absolute paths of the examples are those of an installation.
        self._places = {
            "127.0.0.1:7600": sidecar.address,
            "/var/lib/memsidecar": str(folder / "installed"),
            "/run/memsidecar.sock": str(folder / "socket"),
            "/run/secrets/postgres-url": str(folder / "postgres-url"),
        }
        self.variables = {**self.command_line.variables, "HOME": str(folder), "MEMSIDECAR_INDEX": "lancedb"}

    def __call__(self, example: str) -> None:
        line = example
        for place, actual in self._places.items():
            line = line.replace(place, actual)
        if shlex.split(line)[1] in _UNTIL_STOPPED:
            self._start_and_stop(line)
            return
        code, errors = self._in_shell(line) if _OF_THE_SHELL.search(line) else self._forked(line)
        assert code == 0, f"{example}: {errors}"

    def _in_shell(self, line: str) -> tuple[int, str]:
        done = self.command_line.shell(f"export HOME={self.folder} MEMSIDECAR_INDEX=off; {line}")
        return done.returncode, done.stderr

    def _forked(self, line: str) -> tuple[int, str]:
        done = run(*shlex.split(line)[1:], environ=self.variables, timeout=HANG_SECONDS)
        return done.returncode, done.stderr

    def _start_and_stop(self, line: str) -> None:
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir(exist_ok=True)
        listeners = {"MEMSIDECAR_LISTEN": "127.0.0.1:0", "MEMSIDECAR_HEALTH_LISTEN": "127.0.0.1:0"}
        environ = {"PYTHONPATH": ":".join(sys.path), "MEMSIDECAR_INDEX": "off", **listeners}
        command = [sys.executable, "-m", *shlex.split(line)]
        with subprocess.Popen(command, cwd=elsewhere, env=environ, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert json.loads(process.stdout.readline())["event"] == "ready"
            process.send_signal(signal.SIGTERM)
            assert process.wait(HANG_SECONDS) == 0


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExampleRun]:
    folder = tmp_path_factory.mktemp("examples")
    # The name that the examples use, and the default of the setting.
    with SidecarProcess(folder / "memsidecar-data", "--index", "volatile") as sidecar:
        with sidecar.client() as client:
            fill(client)
        shutil.copytree(sidecar.data_dir, folder / "backup")
        shutil.copy(SAMPLES / "conversations.json", folder)
        with postgres_server(VERSIONS[-1]) as server:
            (folder / "postgres-url").write_text(create_database(server, "memsidecar"))
            yield ExampleRun(folder, sidecar)


@contextmanager
def events(sidecar: SidecarProcess) -> Iterator[None]:
    """Add messages until the end, for the examples that wait for events."""
    ended = threading.Event()

    def add() -> None:
        with sidecar.client() as client:
            while not ended.wait(0.05):
                client.add("events", "Something happens.", user_id="ann")

    thread = threading.Thread(target=add)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def test_every_example_in_the_help_runs(runner: ExampleRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(runner.folder)
    for name in NAMES:
        shown = run(*name.split(), "--help", environ={}, timeout=HANG_SECONDS).stdout
        section = EXAMPLES.search(shown)
        assert section, f"the help of {name} has no examples"
        with events(runner.sidecar) if name == "watch" else nullcontext():
            for example in section[1].splitlines():
                assert f"memsidecar {name}" in example
                runner(example.strip())


def test_the_token_of_the_example_is_for_its_owner_only(runner: ExampleRun) -> None:
    example = next(example for name, command in commands() if name == "token new" for example in command.examples)
    runner(example)
    assert stat.S_IMODE((runner.folder / "agent.token").stat().st_mode) == 0o600


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_completion(shell: str) -> None:
    variables = {"_MEMSIDECAR_COMPLETE": f"{shell}_source"}
    done = run(environ=variables, timeout=HANG_SECONDS)
    assert done.returncode == 0 and "_MEMSIDECAR_COMPLETE" in done.stdout


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("memsidecar se", {"serve", "sessions", "settings", "search"}), ("memsidecar context --ex", {"--explain"})],
)
def test_a_shell_completes_commands_and_flags(typed: str, offered: set[str]) -> None:
    words = typed.split(" ")
    variables = {"_MEMSIDECAR_COMPLETE": "bash_complete", "COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
    done = run(environ=variables, timeout=HANG_SECONDS)
    assert {line.partition(",")[2] for line in done.stdout.split()} == offered


def test_the_summary_of_a_command_begins_its_help() -> None:
    shown = run("--help", environ={"COLUMNS": "200"}, timeout=HANG_SECONDS).stdout
    listed = " ".join(shown.split())
    for name, command in commands():
        if " " not in name:
            summary = " ".join((command.help or "").split("\n\n")[0].split())
            assert summary.split(", and say")[0].rstrip(".") in listed, name


def test_the_page_of_commands_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tools.cli_page > docs/cli.md"
