"""Run the quickstart in the README of each client, in an empty folder: quickstarts.py [LANGUAGE ...]

The folder is beside a link to this repository named memsidecar. The blocks of the section are processed in order: a
block with a file name after its language (```go main.go) is written, a ```sh block is run, with `make serve` running.
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
SECTION = re.compile(r"^## Quickstart\n(.*?)(?=^## )", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXPECTED_OUTPUT = "I moved to Lisbon."
STEP_SECONDS = 900


class QuickstartFailed(Exception):
    """The README has no quickstart, or the quickstart fails."""


def main() -> int:
    languages = sys.argv[1:] or sorted(path.parent.name for path in CLIENTS.glob("*/README.md") if quickstart(path))
    failed = False
    for language in languages:
        try:
            follow(language)
            print(f"{language}: the quickstart works", flush=True)
        except QuickstartFailed as problem:
            print(f"{language}: FAILED: {problem}", flush=True)
            failed = True
    return 1 if failed else 0


def quickstart(readme: Path) -> str:
    found = SECTION.search(readme.read_text())
    return found[1] if found else ""


def follow(language: str) -> None:
    """Run the quickstart of one language with a new, empty sidecar."""
    section, output = quickstart(CLIENTS / language / "README.md"), ""
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
    if EXPECTED_OUTPUT not in output:
        raise QuickstartFailed(f"its program does not show {EXPECTED_OUTPUT!r}: {output!r}")


def run(script: str, folder: Path, address: str) -> str:
    """Return the output of a script."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MEMSIDECAR_")}
    environment["MEMSIDECAR_ADDRESS"] = address
    # A build of the client's dependencies takes Rust minutes: with the client's target folder and profile, cargo reuses
    # those of the client's own build.
    environment |= {"CARGO_TARGET_DIR": str(CLIENTS / "rust" / "target"), "CARGO_PROFILE_DEV_DEBUG": "0"}
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
        raise QuickstartFailed(f"exit {done.returncode} of:\n{script}{done.stdout[-4000:]}")
    return done.stdout


@contextmanager
def serving(data_dir: Path) -> Iterator[str]:
    """Start a sidecar with `make serve`, with its own data and port, and return its address."""
    flags = ["--listen", "127.0.0.1:0", "--health-listen", "", "--http-listen", "", "--data-dir", str(data_dir)]
    command = ["make", "--silent", "serve", f"ARGS={shlex.join(flags)}"]
    # With MAKEFLAGS of a parallel make, this make would hold back its output until it ends.
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
