"""`memsidecar reindex` is killed: the next sidecar completes the index."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults_index.acknowledged import FLAGS, AcknowledgedMessages
from tests.faults_index.index_files import IndexFiles, files_with, until
from tests.support.process import SidecarProcess

MESSAGES = 1_500


@pytest.mark.parametrize("dimensions", ["256", "128"], ids=["the same embedder", "another embedder"])
def test_after_a_killed_reindex_a_sidecar_completes_the_index(data_dir: Path, dimensions: str) -> None:
    acknowledged, files = AcknowledgedMessages(), IndexFiles(data_dir)
    with SidecarProcess(data_dir, *FLAGS) as sidecar, sidecar.client() as client:
        for at in range(3):
            acknowledged.add_many(client, f"s{at}", MESSAGES // 3)
        files.wait_until_complete(acknowledged.contents)
        assert sidecar.stop() == 0
    kill_reindexing(files, dimensions)
    with SidecarProcess(data_dir, *FLAGS, "--embedder-dimensions", dimensions) as sidecar, sidecar.client() as client:
        acknowledged.check_readable(client)
        acknowledged.check_found(client)
        words = acknowledged.clear(client, "s0")
        until(lambda: acknowledged.has_no_degradation(client), "a search has no degradation")
        until(lambda: not files_with(files.directory, *words[:20]), "what was erased is in no table")
        files.wait_until_complete(acknowledged.contents)
        assert sidecar.stop() == 0
    files.check_final(acknowledged.contents)


def kill_reindexing(files: IndexFiles, dimensions: str) -> None:
    command = [sys.executable, "-m", "memsidecar", "reindex", "--data-dir", str(files.data_dir)]
    with subprocess.Popen([*command, "--embedder-dimensions", dimensions], stderr=subprocess.DEVNULL) as working:
        until(lambda: len(files.tables()) > 1, "a second table is built")
        time.sleep(random.uniform(0, 0.2))  # the moment; what is checked does not depend on it
        working.kill()
