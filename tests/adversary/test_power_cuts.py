"""Power cuts at any moment of a sidecar under all kinds of writes: what was acknowledged is on the disk."""

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memsidecar.stores.sqlite.integrity import examine
from tests.faults.owned_kinds import one_of_each
from tests.faults.owned_state import OwnedState
from tests.faults.power_cut import SHARED_MEMORY, cuts, read_events
from tests.faults.shim import library
from tests.faults.test_kills import FLAGS
from tests.support.attempts import Attempts, random_source, scaled
from tests.support.process import SidecarProcess

CHANGES = 25
"Changes of each state before a restart, and after it."


def record(folder: Path, states: list[OwnedState], seed: str) -> Path:
    """Record the files of a sidecar while its states change, over a restart; return the log."""
    data_dir, log = folder / "data", folder / "events"
    environ = {"LD_PRELOAD": library("recorder"), "RECORD_FOLDER": str(data_dir), "RECORD_LOG": str(log)}

    def change(state: OwnedState) -> None:
        chance = random.Random(f"{seed} {state.name}")
        for _ in range(CHANGES):
            state.write(client, chance)

    with SidecarProcess(data_dir, *FLAGS, environ=environ) as sidecar:
        for _ in range(2):
            with sidecar.client() as client, ThreadPoolExecutor(len(states)) as threads:
                list(threads.map(change, states))
            assert sidecar.stop() == 0
            sidecar.start()
    return log


@pytest.mark.parametrize("part", range(5))
def test_acknowledged_writes_survive_a_power_cut(tmp_path: Path, part: int, attempts: Attempts) -> None:
    chance = random_source(part)
    attack = attempts.of(
        "power cut: unsynced sectors lost, torn, in any order or garbage",
        "each acknowledged write is there, a write without response as a whole or not at all; the doctor finds nothing",
    )
    states = [*one_of_each("a"), *one_of_each("b")]
    log = record(tmp_path, states, str(chance.random()))
    events = read_events(log)
    assert {event.kind for event in events} >= {"c", "w", "s", "u"}, "too little was recorded"
    for number, (time_ns, image) in enumerate(cuts(events, str(tmp_path / "data"), scaled(2), chance)):
        with attack.attempt():
            check_image(tmp_path / f"cut-{number}" / "data", image, states, time_ns, chance)


def check_image(
    data_dir: Path, image: dict[str, bytes], states: list[OwnedState], time_ns: int, chance: random.Random
) -> None:
    data_dir.mkdir(parents=True)
    for name, content in image.items():
        (data_dir / name).write_bytes(content)
    if chance.random() < 0.5:
        (data_dir / f"journal.db{SHARED_MEMORY}").write_bytes(chance.randbytes(32 << 10))
    with SidecarProcess(data_dir, *FLAGS) as sidecar:
        with sidecar.client() as client:
            for state in states:
                state.check(client, time_ns)
            client.add("after the cut", "hello")
        assert sidecar.stop() == 0
    assert examine(data_dir) == []
