"""Another embedder, and back again: the old table answers meanwhile, the switch is whole, and nothing old stays."""

import random
import threading
from pathlib import Path

from memsidecar.v1.message_pb2 import SCOPE_NAMESPACE
from tests.embedding.endpoint import Endpoint, well
from tests.endpoint.server import Handler, Request
from tests.faults_index.acknowledged import FLAGS, Kept
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


def is_alone(files: IndexFiles) -> bool:
    return len(files.tables()) == 1


def check_meanwhile(kept: Kept, client: Client) -> None:
    """All of it is found in every answer, from the old table or from the new one."""
    kept.check_found(client)
    kept.check_found(client, scope=SCOPE_NAMESPACE)


def change(data_dir: Path, kept: Kept, slow: Slow, *options: str, kills: int = 0) -> None:
    files = IndexFiles(data_dir)
    chance = random.Random(kills)
    for _ in range(kills):
        with SidecarProcess(data_dir, *options) as sidecar, sidecar.client() as client:
            until(lambda: not is_alone(files), "another is built")
            check_meanwhile(kept, client)
            for _ in range(chance.randrange(3)):
                kept.say(client, "meanwhile")
            sidecar.kill()
    with SidecarProcess(data_dir, *options) as sidecar, sidecar.client() as client:
        kept.check_readable(client)
        before = files.generation
        until(lambda: files.generation > before or not is_alone(files), "retrieval is there")
        while files.generation == before and not is_alone(files):
            check_meanwhile(kept, client)
            slow.seen.set()
        until(lambda: kept.lacks_nothing(client), "a search lacks nothing")
        kept.say(client, "meanwhile")
        files.wait_until_complete(kept.said)
        until(lambda: is_alone(files), "the old one is gone")
        assert sidecar.stop() == 0
        assert "Traceback" not in sidecar.log() and "Panic" not in sidecar.log()
    files.check_settled(kept.said)


def test_from_one_embedder_to_another_and_back(data_dir: Path) -> None:
    kept = Kept()
    with Endpoint() as endpoint:
        with SidecarProcess(data_dir, *FLAGS) as sidecar, sidecar.client() as client:
            for at in range(4):
                kept.say_many(client, f"s{at}", 500)
            IndexFiles(data_dir).wait_until_complete(kept.said)
            sidecar.kill()
        endpoint.always = slow = Slow()
        change(data_dir, kept, slow, *flags(endpoint), kills=1)
        change(data_dir, kept, slow, *FLAGS)
