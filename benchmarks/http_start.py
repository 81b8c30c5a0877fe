"""What the HTTP listener costs a start: python -m benchmarks.http_start [STARTS], by default 15.

Starts with and without the listener alternate, because the machine's speed changes. Each figure is a median. A start
lasts until the ready line; its processor time depends less on what else the machine does. Memory is the resident set
two seconds later, when the tokenizer is loaded.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

MAX_SECONDS = 0.1
MAX_MEMORY_MIB = 15.0
WARM_SECONDS = 2.0
_KIB_PER_MIB = 1_024


class Start(NamedTuple):
    """One start of a sidecar."""

    seconds: float
    processor_seconds: float
    memory_mib: float


def start(http_listen: str) -> Start:
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "memsidecar", "serve", "--data-dir", folder, "--index", "off"]
        command += ["--listen", "127.0.0.1:0", "--health-listen", "", "--http-listen", http_listen]
        begin = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            assert process.stdout is not None
            ready = json.loads(process.stdout.readline())
            seconds, used = time.monotonic() - begin, processor_seconds(process.pid)
            assert ("http_listen" in ready) == bool(http_listen)
            time.sleep(WARM_SECONDS)
            memory = resident_mib(process.pid)
            process.terminate()
        return Start(seconds, used, memory)


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / _KIB_PER_MIB for line in lines if line.startswith("VmRSS:"))


def pairs(starts: int) -> Iterator[tuple[Start, Start]]:
    """Yield a start without and a start with the listener. The first pair fills the caches and is not counted."""
    for at in range(starts + 1):
        pair = (start(""), start("127.0.0.1:0"))
        if at:
            yield pair


def medians(starts: Sequence[Start]) -> Start:
    return Start(*(median(figures) for figures in zip(*starts, strict=True)))


def main() -> int:
    measured = list(pairs(int(sys.argv[1]) if len(sys.argv) > 1 else 15))
    without, beside = (medians([pair[side] for pair in measured]) for side in (0, 1))
    for name, found in (("without HTTP", without), ("with HTTP", beside)):
        print(f"{name}: {found.seconds:.3f} s, {found.processor_seconds:.3f} s of a processor,", end=" ")
        print(f"{found.memory_mib:.1f} MiB")
    seconds, used, memory = (beside[at] - without[at] for at in range(3))
    print(f"difference: {seconds:+.3f} s (at most {MAX_SECONDS}), {used:+.3f} s of a processor,", end=" ")
    print(f"{memory:+.1f} MiB (at most {MAX_MEMORY_MIB:g})")
    return 0 if seconds <= MAX_SECONDS and memory <= MAX_MEMORY_MIB else 1


if __name__ == "__main__":
    sys.exit(main())
