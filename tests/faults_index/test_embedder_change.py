"""A change of the embedder and back: the old table answers meanwhile, and is deleted after the switch."""

import random
import threading
from pathlib import Path

from memsidecar.v1.message_pb2 import SCOPE_NAMESPACE
from tests.embedding.endpoint import Endpoint, well
from tests.endpoint.server import Handler, Request
from tests.faults_index.acknowledged import FLAGS, AcknowledgedMessages
from tests.faults_index.index_files import IndexFiles, until
from tests.faults_index.test_embedder import TIMEOUT_SECONDS, flags
from tests.support.process import Client, SidecarProcess


class Slow:
    """Answer slowly, but within the sidecar's timeout, until the test has seen both tables."""

    def __init__(self) -> None:
        self.seen = threading.Event()

    def __call__(self, handler: Handler, request: Request) -> None:
        self.seen.wait(0.8 * TIMEOUT_SECONDS)
        well(handler, request)


def is_single_table(files: IndexFiles) -> bool:
    return len(files.tables()) == 1


def check_meanwhile(acknowledged: AcknowledgedMessages, client: Client) -> None:
    """Check that every search finds all messages, in the old table or in the new one."""
    acknowledged.check_found(client)
    acknowledged.check_found(client, scope=SCOPE_NAMESPACE)


def change(data_dir: Path, acknowledged: AcknowledgedMessages, slow: Slow, *options: str, kills: int = 0) -> None:
    files = IndexFiles(data_dir)
    chance = random.Random(kills)
    for _ in range(kills):
        with SidecarProcess(data_dir, *options) as sidecar, sidecar.client() as client:
            until(lambda: not is_single_table(files), "a new table is built")
            check_meanwhile(acknowledged, client)
            for _ in range(chance.randrange(3)):
                acknowledged.add(client, "meanwhile")
            sidecar.kill()
    with SidecarProcess(data_dir, *options) as sidecar, sidecar.client() as client:
        acknowledged.check_readable(client)
        before = files.generation
        until(lambda: files.generation > before or not is_single_table(files), "the index is ready")
        while files.generation == before and not is_single_table(files):
            check_meanwhile(acknowledged, client)
            slow.seen.set()
        until(lambda: acknowledged.has_no_degradation(client), "a search has no degradation")
        acknowledged.add(client, "meanwhile")
        files.wait_until_complete(acknowledged.contents)
        until(lambda: is_single_table(files), "the old table is deleted")
        assert sidecar.stop() == 0
        assert "Traceback" not in sidecar.log() and "Panic" not in sidecar.log()
    files.check_final(acknowledged.contents)


def test_from_one_embedder_to_another_and_back(data_dir: Path) -> None:
    acknowledged = AcknowledgedMessages()
    with Endpoint() as endpoint:
        with SidecarProcess(data_dir, *FLAGS) as sidecar, sidecar.client() as client:
            for at in range(4):
                acknowledged.add_many(client, f"s{at}", 500)
            IndexFiles(data_dir).wait_until_complete(acknowledged.contents)
            sidecar.kill()
        endpoint.always = slow = Slow()
        change(data_dir, acknowledged, slow, *flags(endpoint), kills=1)
        change(data_dir, acknowledged, slow, *FLAGS)
