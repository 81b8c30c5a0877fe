"""Index files are damaged under a running sidecar: searches work, and it repairs the index without a restart.

One namespace for each kind of damage, so that one sidecar meets all of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from memsidecar.v1.message_pb2 import SCOPE_NAMESPACE
from tests.faults_index.acknowledged import FLAGS, AcknowledgedMessages
from tests.faults_index.damage import KINDS
from tests.faults_index.index_files import IndexFiles, until
from tests.support.process import Client, SidecarProcess

OTHERS = {kind: damage for kind, damage in KINDS.items() if not kind.startswith("metadata")}
KIND = pytest.mark.parametrize("kind", list(OTHERS))


@dataclass
class Scene:
    sidecar: SidecarProcess
    client: Client
    acknowledged: dict[str, AcknowledgedMessages]

    def files(self, kind: str) -> IndexFiles:
        return IndexFiles(self.sidecar.data_dir, kind)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    data_dir = tmp_path_factory.mktemp("damaged") / "data"
    acknowledged = {kind: AcknowledgedMessages(kind) for kind in OTHERS}
    with SidecarProcess(data_dir, *FLAGS) as sidecar, sidecar.client() as client:
        scene = Scene(sidecar, client, acknowledged)
        for at in range(3):
            for messages in acknowledged.values():
                messages.add_many(client, f"s{at}", 10)
            for kind, messages in acknowledged.items():
                scene.files(kind).wait_until_complete(messages.contents)
        yield scene


@KIND
def test_searches_work_and_the_index_is_repaired(scene: Scene, kind: str) -> None:
    acknowledged = scene.acknowledged[kind]
    OTHERS[kind](scene.files(kind))
    if kind == "all_manifests_garbage":
        acknowledged.add(scene.client, "s2")  # an open table does not read them again until it writes
    # From RAM, and from the table; the journal is the fallback of both.
    acknowledged.check_found(scene.client)
    acknowledged.check_found(scene.client, scope=SCOPE_NAMESPACE)
    scene.files(kind).wait_until_complete(acknowledged.contents)
    until(lambda: acknowledged.has_no_degradation(scene.client), "a search has no degradation")


@KIND
def test_it_is_writable(scene: Scene, kind: str) -> None:
    acknowledged = scene.acknowledged[kind]
    acknowledged.add(scene.client, "s1")
    acknowledged.clear(scene.client, "s0")
    scene.files(kind).wait_until_complete(acknowledged.contents)


def test_afterwards_nothing_is_missing_duplicated_or_left_over(scene: Scene) -> None:
    assert scene.sidecar.stop() == 0
    for kind, acknowledged in scene.acknowledged.items():
        scene.files(kind).check_final(acknowledged.contents)
