"""Do what the README of each client says in "A minute", in an empty folder: quickstarts.py [LANGUAGE ...]

The folder lies beside one that is called memsidecar, as a clone would be. Blocks of that section are taken in order:
one with a file's name behind its language (```go main.go) is written, a ```sh block is run, beside `make serve`.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CLIENTS = Path(__file__).resolve().parent
SECTION = re.compile(r"^## A minute\n(.*?)(?=^## )", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
REMEMBERED = "I moved to Lisbon."
STEP_SECONDS = 900


class NoQuickstart(Exception):
    """The README does not say how to begin, or what it says does not work."""


def main() -> int:
    languages = sys.argv[1:] or sorted(path.parent.name for path in CLIENTS.glob("*/README.md") if minute(path))
    failed = False
    for language in languages:
        try:
            follow(language)
            print(f"{language}: the quickstart works", flush=True)
        except NoQuickstart as problem:
            print(f"{language}: FAILED: {problem}", flush=True)
            failed = True
    return 1 if failed else 0


def minute(readme: Path) -> str:
    found = SECTION.search(readme.read_text())
    return found[1] if found else ""


def follow(language: str) -> None:
    """With a sidecar of its own, which knows nothing yet."""
    section, output = minute(CLIENTS / language / "README.md"), ""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "data") as address:
        (Path(folder) / "memsidecar").symlink_to(CLIENTS.parent)
        empty = Path(folder) / "empty"
        empty.mkdir()
        for kind, name, text in BLOCK.findall(section):
            if name:
                (empty / name).parent.mkdir(parents=True, exist_ok=True)
                (empty / name).write_text(text)
            elif kind == "sh":
                output = run(text, empty, address)
    if REMEMBERED not in output:
        raise NoQuickstart(f"its program does not show {REMEMBERED!r}: {output!r}")


def run(script: str, folder: Path, address: str) -> str:
    """What it printed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MEMSIDECAR_")}
    # Rust takes minutes to build what the client needs: where that was done before, it is used again.
    environment |= {"MEMSIDECAR_ADDRESS": address, "CARGO_TARGET_DIR": str(CLIENTS / "rust" / "target")}
    done = subprocess.run(
        ["sh", "-e", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=STEP_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise NoQuickstart(f"exit {done.returncode} of:\n{script}{done.stdout[-4000:]}")
    return done.stdout


@contextmanager
def serving(data_dir: Path) -> Iterator[str]:
    """The address of a sidecar that `make serve` started, with data and a port of its own."""
    flags = ["--listen", "127.0.0.1:0", "--health-listen", "", "--data-dir", str(data_dir)]
    command = ["make", "--silent", "serve", f"ARGS={shlex.join(flags)}"]
    # A make that runs this one in parallel with others would hold back what is printed until it ends.
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS")}
    with subprocess.Popen(
        command, cwd=CLIENTS.parent, stdout=subprocess.PIPE, env=environment, start_new_session=True
    ) as make:
        assert make.stdout is not None
        try:
            yield next(json.loads(line)["listen"] for line in make.stdout if line.startswith(b"{"))
        finally:
            os.killpg(make.pid, 15)


if __name__ == "__main__":
    sys.exit(main())
