"""Files of the index are damaged under a running sidecar: searches go on, and it heals without a restart.

One namespace for each kind of damage, so that one sidecar meets all of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from memsidecar.v1.message_pb2 import SCOPE_NAMESPACE
from tests.faults_index.acknowledged import FLAGS, Kept
from tests.faults_index.damage import KINDS
from tests.faults_index.index_files import IndexFiles, until
from tests.support.process import Client, SidecarProcess

OTHERS = {kind: damage for kind, damage in KINDS.items() if not kind.startswith("card")}
KIND = pytest.mark.parametrize("kind", list(OTHERS))


@dataclass
class Scene:
    sidecar: SidecarProcess
    client: Client
    kept: dict[str, Kept]

    def files(self, kind: str) -> IndexFiles:
        return IndexFiles(self.sidecar.data_dir, kind)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    data_dir = tmp_path_factory.mktemp("damaged") / "data"
    kept = {kind: Kept(kind) for kind in OTHERS}
    with SidecarProcess(data_dir, *FLAGS) as sidecar, sidecar.client() as client:
        scene = Scene(sidecar, client, kept)
        for at in range(3):
            for one in kept.values():
                one.say_many(client, f"s{at}", 10)
            for kind, one in kept.items():
                scene.files(kind).wait_until_complete(one.said)
        yield scene


@KIND
def test_searches_go_on_and_it_heals_by_itself(scene: Scene, kind: str) -> None:
    kept = scene.kept[kind]
    OTHERS[kind](scene.files(kind))
    if kind == "all_manifests_garbage":
        kept.say(scene.client, "s2")  # what is open does not read them again until it writes
    # From RAM, and from the table: whichever is away, the journal answers in its place.
    kept.check_found(scene.client)
    kept.check_found(scene.client, scope=SCOPE_NAMESPACE)
    scene.files(kind).wait_until_complete(kept.said)
    until(lambda: kept.lacks_nothing(scene.client), "a search lacks nothing")


@KIND
def test_it_is_written_to_as_before(scene: Scene, kind: str) -> None:
    kept = scene.kept[kind]
    kept.say(scene.client, "s1")
    kept.clear(scene.client, "s0")
    scene.files(kind).wait_until_complete(kept.said)


def test_afterwards_nothing_is_missing_doubled_or_left_over(scene: Scene) -> None:
    assert scene.sidecar.stop() == 0
    for kind, kept in scene.kept.items():
        scene.files(kind).check_settled(kept.said)
