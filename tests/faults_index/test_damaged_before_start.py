"""A sidecar is started on damaged files of the index: it answers at once, and the index becomes whole by itself.

One namespace for each kind of damage, so that one start meets all of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.faults_index.acknowledged import FLAGS, Kept
from tests.faults_index.damage import KINDS
from tests.faults_index.index_files import IndexFiles, files_with, until
from tests.support.process import Client, SidecarProcess

KIND = pytest.mark.parametrize("kind", list(KINDS))


@dataclass
class Scene:
    sidecar: SidecarProcess
    client: Client
    kept: dict[str, Kept]

    def files(self, kind: str) -> IndexFiles:
        return IndexFiles(self.sidecar.data_dir, kind)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Furnished, stopped, damaged, and started again; what holds at once is looked at here."""
    data_dir = tmp_path_factory.mktemp("damaged") / "data"
    kept = {kind: Kept(kind) for kind in KINDS}
    furnish(data_dir, kept)
    for kind, damage in KINDS.items():
        damage(IndexFiles(data_dir, kind))
    with SidecarProcess(data_dir, *FLAGS) as sidecar, sidecar.client() as client:
        for one in kept.values():
            one.check_readable(client)
            one.check_found(client)
        yield Scene(sidecar, client, kept)
        assert "Traceback" not in sidecar.log()


def furnish(data_dir: Path, kept: dict[str, Kept]) -> None:
    with SidecarProcess(data_dir, *FLAGS) as sidecar, sidecar.client() as client:
        for at in range(3):
            for one in kept.values():
                one.say_many(client, f"s{at}", 10)
            for kind, one in kept.items():
                wait(data_dir, kind, one)
        assert sidecar.stop() == 0


def wait(data_dir: Path, kind: str, kept: Kept) -> None:
    IndexFiles(data_dir, kind).wait_until_complete(kept.said)


@KIND
def test_the_index_becomes_whole_by_itself(scene: Scene, kind: str) -> None:
    wait(scene.sidecar.data_dir, kind, scene.kept[kind])
    until(lambda: scene.kept[kind].lacks_nothing(scene.client), "a search lacks nothing")


@KIND
def test_it_is_written_to_again(scene: Scene, kind: str) -> None:
    scene.kept[kind].say(scene.client, "s1")
    wait(scene.sidecar.data_dir, kind, scene.kept[kind])


@KIND
def test_what_is_erased_afterwards_is_in_no_file_not_even_in_one_that_was_set_aside(scene: Scene, kind: str) -> None:
    kept = scene.kept[kind]
    words = kept.clear(scene.client, "s0")
    until(lambda: not files_with(scene.sidecar.data_dir / "index", *words), "the words are gone")
    wait(scene.sidecar.data_dir, kind, kept)


def test_afterwards_nothing_is_missing_doubled_or_left_over(scene: Scene) -> None:
    assert scene.sidecar.stop() == 0
    for kind, kept in scene.kept.items():
        scene.files(kind).check_settled(kept.said)
