"""LanceDB's own threads have a lower priority than the sidecar's."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memsidecar.stores.lance.runtime import NICENESS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets every thread be nice by itself")

# In a process of its own, because LanceDB starts its threads once and keeps them; after work of every kind, because
# some of them are started only then.
PROGRAM = """
import json, os, sys
from contextlib import suppress
from pathlib import Path
from memsidecar.stores.contract.index import IndexBatch
from memsidecar.stores.lance.index import LanceIndex
from tests.index.episodes import FIRST, many_episodes

index = LanceIndex(Path(sys.argv[1]), memory_bytes=1 << 20)
table = index.create("space", FIRST)
table.apply(IndexBatch(episodes=many_episodes(range(1, 400))))
table.maintain(idle=True)
stats = []
for task in Path("/proc/self/task").iterdir():
    with suppress(OSError):  # it has ended
        stats.append((task / "stat").read_text())
index.close()
named = [stat.split("(", 1)[1].rsplit(")", 1) for stat in stats]
print(json.dumps([os.nice(0), [(name, int(rest.split()[16])) for name, rest in named]]))
"""


def test_only_lancedbs_threads_have_a_lower_priority(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    mine, threads = json.loads(done.stdout)
    theirs = {nice for name, nice in threads if name.startswith("lance")}
    others = {nice for name, nice in threads if not name.startswith("lance")}
    assert theirs == {min(19, mine + NICENESS)}, threads
    assert others == {mine}, threads
