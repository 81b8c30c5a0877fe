"""A sidecar that starts on damaged index files answers at once, and repairs the index.

One namespace for each kind of damage, so that one start meets all of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.faults_index.acknowledged import FLAGS, AcknowledgedMessages
from tests.faults_index.damage import KINDS
from tests.faults_index.index_files import IndexFiles, files_with, until
from tests.support.process import Client, SidecarProcess

KIND = pytest.mark.parametrize("kind", list(KINDS))


@dataclass
class Scene:
    sidecar: SidecarProcess
    client: Client
    acknowledged: dict[str, AcknowledgedMessages]

    def files(self, kind: str) -> IndexFiles:
        return IndexFiles(self.sidecar.data_dir, kind)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Fill, stop, damage and restart a sidecar; check what must hold at once."""
    data_dir = tmp_path_factory.mktemp("damaged") / "data"
    acknowledged = {kind: AcknowledgedMessages(kind) for kind in KINDS}
    fill(data_dir, acknowledged)
    for kind, damage in KINDS.items():
        damage(IndexFiles(data_dir, kind))
    with SidecarProcess(data_dir, *FLAGS) as sidecar, sidecar.client() as client:
        for messages in acknowledged.values():
            messages.check_readable(client)
            messages.check_found(client)
        yield Scene(sidecar, client, acknowledged)
        assert "Traceback" not in sidecar.log()


def fill(data_dir: Path, acknowledged: dict[str, AcknowledgedMessages]) -> None:
    with SidecarProcess(data_dir, *FLAGS) as sidecar, sidecar.client() as client:
        for at in range(3):
            for messages in acknowledged.values():
                messages.add_many(client, f"s{at}", 10)
            for kind, messages in acknowledged.items():
                wait(data_dir, kind, messages)
        assert sidecar.stop() == 0


def wait(data_dir: Path, kind: str, acknowledged: AcknowledgedMessages) -> None:
    IndexFiles(data_dir, kind).wait_until_complete(acknowledged.contents)


@KIND
def test_the_index_is_repaired(scene: Scene, kind: str) -> None:
    wait(scene.sidecar.data_dir, kind, scene.acknowledged[kind])
    until(lambda: scene.acknowledged[kind].has_no_degradation(scene.client), "a search has no degradation")


@KIND
def test_it_is_writable(scene: Scene, kind: str) -> None:
    scene.acknowledged[kind].add(scene.client, "s1")
    wait(scene.sidecar.data_dir, kind, scene.acknowledged[kind])


@KIND
def test_messages_erased_afterwards_are_in_no_file_even_in_quarantine(scene: Scene, kind: str) -> None:
    acknowledged = scene.acknowledged[kind]
    words = acknowledged.clear(scene.client, "s0")
    until(lambda: not files_with(scene.sidecar.data_dir / "index", *words), "the words are in no file")
    wait(scene.sidecar.data_dir, kind, acknowledged)


def test_afterwards_nothing_is_missing_duplicated_or_left_over(scene: Scene) -> None:
    assert scene.sidecar.stop() == 0
    for kind, acknowledged in scene.acknowledged.items():
        scene.files(kind).check_final(acknowledged.contents)
