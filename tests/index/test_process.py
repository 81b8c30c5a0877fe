"""LanceDB in a process of its own: the priority of its threads, and the REST client that it does not load."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memsidecar.stores.lance.runtime import NICENESS
from tests.support.waiting import HANG_SECONDS

# After work of every kind, because LanceDB starts some of its threads only then.
PRIORITIES = """
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

REST_CLIENT = """
import asyncio, json, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from memsidecar.assembly.storage import open_index
from memsidecar.settings import Settings
from memsidecar.stores.contract.index import IndexBatch, TableFilter
from tests.index.episodes import FIRST, SampleEpisode, episodes, unit

def loaded():
    return "lance_namespace_urllib3_client.api.table_api" in sys.modules

index = open_index(Settings(data_dir=Path(sys.argv[1])))
table = index.create("space", FIRST)
table.apply(IndexBatch(episodes=episodes(SampleEpisode(1), SampleEpisode(2))))
table.maintain(idle=True)
found = [len(table.matching(["hello"], TableFilter(), 9)), len(table.nearest(unit(1), TableFilter(), 9))]
index.close()
after_search = loaded()

import lancedb, lance_namespace_urllib3_client as client

async def namespaces():
    return (await (await lancedb.connect_async(sys.argv[1])).list_namespaces()).namespaces

listed = asyncio.run(namespaces())
with ThreadPoolExecutor(4) as threads:
    (table_api,) = set(threads.map(lambda _: client.TableApi, range(4)))
table_api(client.ApiClient(client.Configuration(host="http://127.0.0.1")))
print(json.dumps([found, after_search, listed, loaded()]))
"""


def run(program: str, folder: Path) -> Any:
    """Return what the program prints as JSON."""
    command = [sys.executable, "-c", program, str(folder)]
    return json.loads(
        subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=HANG_SECONDS, check=True).stdout
    )


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets every thread be nice by itself")
def test_only_lancedbs_threads_have_a_lower_priority(tmp_path: Path) -> None:
    mine, threads = run(PRIORITIES, tmp_path)
    theirs = {nice for name, nice in threads if name.startswith("lance")}
    others = {nice for name, nice in threads if not name.startswith("lance")}
    assert theirs == {min(19, mine + NICENESS)}, threads
    assert others == {mine}, threads


def test_the_rest_client_of_lancedb_is_loaded_only_when_it_is_used(tmp_path: Path) -> None:
    found, after_search, listed, after_use = run(REST_CLIENT, tmp_path)
    assert found == [2, 2]
    assert listed == []
    assert (after_search, after_use) == (False, True)
