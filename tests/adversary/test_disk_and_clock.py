"""A full disk, a slow and a failing fsync, and jumps of the clock, under all kinds of writes."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import grpc

from memsidecar.stores.sqlite.integrity import examine
from memsidecar.v1 import session_pb2 as session
from tests.faults.owned_kinds import UsageState, one_of_each
from tests.faults.owned_state import OwnedState
from tests.faults.shim import DB, WAL, Shim, library
from tests.faults.test_fsync import DISK_FAILED
from tests.faults.test_kills import FLAGS
from tests.support.attempts import Attempts, random_source, scaled
from tests.support.process import CALL_SECONDS, Client, Refusal, SidecarProcess
from tests.support.small_disk import ForeignFile, small_disk_at

DISK_BYTES = 6 << 20
CHANGES = 6
YEARS = 365 * 24 * 3600
JUMPS = (0, 1, -1, 3_600, -3_600, YEARS, -YEARS, 20 * YEARS, -20 * YEARS)


def change_all(client: Client, states: list[OwnedState], chance: random.Random, changes: int = CHANGES) -> None:
    """Change all states at once, several times each. The first error of a state ends its changes."""
    seeds = {state.name: chance.random() for state in states}

    def change(state: OwnedState) -> None:
        own = random.Random(seeds[state.name])
        for _ in range(changes):
            state.write(client, own)

    with ThreadPoolExecutor(len(states)) as threads:
        list(threads.map(change, states))


@contextmanager
def refusals_as(code: grpc.StatusCode, *reasons: str) -> Iterator[None]:
    """Accept an error with this code and one of these reasons."""
    try:
        yield
    except grpc.RpcError as error:
        refused = Refusal(error)
        assert refused.code is code and (not reasons or refused.reason in reasons), refused.message


def settle_all(client: Client, states: list[OwnedState]) -> None:
    for state in states:
        state.settle(client)


def test_nothing_is_lost_or_half_stored_on_a_full_disk(tmp_path: Path, attempts: Attempts) -> None:
    chance = random_source()
    attack = attempts.of(
        "full disk under all kinds of writes, then kill -9",
        "writes fail with DISK_FULL, reads are right; after the restart nothing acknowledged is missing or half stored",
    )
    states = one_of_each("full")
    with small_disk_at(tmp_path / "data", DISK_BYTES) as disk, SidecarProcess(disk, *FLAGS) as sidecar:
        for _ in range(scaled(0.4)):
            with attack.attempt():
                fill_and_free(sidecar, states, ForeignFile(disk), chance)
        assert sidecar.stop() == 0
        assert examine(disk) == []


def fill_and_free(
    sidecar: SidecarProcess, states: list[OwnedState], foreign: ForeignFile, chance: random.Random
) -> None:
    """Fill the disk, write, and read; kill the sidecar there; free the disk, and write again."""
    with sidecar.client() as client:
        change_all(client, states, chance)
        foreign.fill_disk()
        for state in states:
            with refusals_as(grpc.StatusCode.RESOURCE_EXHAUSTED, "DISK_FULL"):
                for _ in range(CHANGES):
                    state.write(client, chance)
            if not isinstance(state, UsageState):  # its read is a report, which needs room
                state.settle(client)
    sidecar.kill()
    if chance.random() < 0.5:
        foreign.remove()
        sidecar.start()
    else:
        sidecar.start()
        foreign.remove()
    with sidecar.client() as client:
        settle_all(client, states)
        change_all(client, states, chance, 1)
        settle_all(client, states)


def test_writes_wait_for_a_slow_fsync_and_reads_do_not_return_them_early(
    data_dir: Path, shim: Shim, attempts: Attempts
) -> None:
    chance = random_source()
    attack = attempts.of(
        "fsync that takes up to 50 ms, then kill -9",
        "each acknowledged write is there after the kill, a write without response as a whole or not at all",
    )
    states = one_of_each("slow")
    with SidecarProcess(data_dir, *FLAGS, environ=shim.environ) as sidecar:
        for _ in range(scaled(1)):
            with attack.attempt():
                shim.order(f"delay {chance.randint(1, 50)} {chance.choice([WAL, DB])}")
                with sidecar.client() as client:
                    change_all(client, states, chance, 2)
                sidecar.kill()
                shim.order()
                sidecar.start()
                with sidecar.client() as client:
                    settle_all(client, states)
        assert sidecar.stop() == 0
    assert examine(data_dir) == []


def test_a_failed_fsync_stops_the_process_and_loses_nothing(data_dir: Path, shim: Shim, attempts: Attempts) -> None:
    chance = random_source()
    attack = attempts.of(
        "fsync that fails",
        "the process ends with exit code 74; each acknowledged write is there after the restart",
    )
    states = one_of_each("failed")
    with SidecarProcess(data_dir, *FLAGS, environ=shim.environ) as sidecar:
        for _ in range(scaled(1)):
            with attack.attempt():
                with sidecar.client() as client:
                    shim.order(f"fail {chance.randint(1, 8)} {WAL}")
                    with refusals_as(grpc.StatusCode.UNAVAILABLE):
                        change_all(client, states, chance, 1_000)
                assert sidecar.process.wait(CALL_SECONDS) == DISK_FAILED
                assert sidecar.stop() == DISK_FAILED
                shim.order()
                sidecar.start()
                with sidecar.client() as client:
                    settle_all(client, states)
        assert sidecar.stop() == 0
    assert examine(data_dir) == []


def test_jumps_of_the_clock_change_no_order_and_lose_nothing(
    data_dir: Path, tmp_path: Path, attempts: Attempts
) -> None:
    chance = random_source()
    attack = attempts.of(
        "jump of the wall clock by a second to 20 years, forwards and backwards, also over a restart",
        "sequences, current facts, documents and pages stay in their order; the newest write wins; nothing is missing",
    )
    shift = tmp_path / "shift"
    shift.write_text("0")
    environ = {"LD_PRELOAD": library("clock"), "CLOCK_SHIFT": str(shift)}
    states = one_of_each("clock")
    with SidecarProcess(data_dir, *FLAGS, environ=environ) as sidecar:
        client = sidecar.client()
        for number in range(scaled(2)):
            with attack.attempt():
                jump(shift, chance.choice(JUMPS))
                change_all(client, states, chance, 2)
                settle_all(client, states)
                if number % 5 == 4:
                    client.close()
                    assert sidecar.stop() == 0
                    jump(shift, chance.choice(JUMPS))
                    sidecar.start()
                    client = sidecar.client()
                    settle_all(client, states)
        assert_clock_is_shifted(client, shift)
        client.close()
        assert sidecar.stop() == 0
    assert examine(data_dir) == []


def jump(shift: Path, seconds: int) -> None:
    fresh = shift.with_suffix(".new")
    fresh.write_text(str(seconds))
    fresh.rename(shift)


def assert_clock_is_shifted(client: Client, shift: Path) -> None:
    """Check that the attack reaches the sidecar: a session begins in the year of its clock."""
    times = []
    for name, seconds in (("past", -20 * YEARS), ("future", 20 * YEARS)):
        jump(shift, seconds)
        client.add(name, "hello")
        found = client.sessions.GetSession(session.GetSessionRequest(session_id=name), timeout=CALL_SECONDS)
        times.append(found.session.create_time.seconds)
    assert times[1] - times[0] > 39 * YEARS, "the clock of the sidecar is not shifted"
