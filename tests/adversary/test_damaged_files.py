"""Each file of the data directory, damaged in each way: a start is refused, or all that is served is right."""

import os
import random
import shutil
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path

import grpc
import pytest

from memsidecar.stores.sqlite.integrity import examine
from memsidecar.v1 import memory_pb2 as memory
from tests.adversary.damaged_journal import (
    DAMAGES,
    PAGED,
    Damage,
    Original,
    deleted,
    flipped,
    read_only,
    truncated,
    zeroed,
)
from tests.faults.owned_state import OwnedState
from tests.faults.test_kills import FLAGS
from tests.faults_index.acknowledged import FLAGS as INDEX_FLAGS
from tests.faults_index.acknowledged import AcknowledgedMessages
from tests.faults_index.index_files import IndexFiles, until
from tests.support.attempts import Attempts, random_source, scaled
from tests.support.process import CALL_SECONDS, Client, Refusal, SidecarProcess

PARTS = 2
NAMESPACES = 12
"Namespaces with a damaged file each, in one data directory."

WITHOUT_OVERRIDE = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")
"Root without the right to write to files that are read-only."


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Original:
    return Original(tmp_path_factory.mktemp("damage"))


def combinations(original: Original, damages: tuple[Damage, ...]) -> list[tuple[str, str, Damage]]:
    """Return each file of each directory with each damage."""
    return [
        (variant, name, damage)
        for variant in ("stopped", "killed")
        for name, damage in product(original.files(variant), damages)
    ]


@pytest.mark.parametrize("part", range(PARTS))
def test_a_damaged_file_is_refused_or_all_answers_are_right(
    original: Original, tmp_path: Path, part: int, attempts: Attempts
) -> None:
    chance = random_source(part)
    attack = attempts.of(
        "file of the data directory truncated, zeroed, flipped, deleted or replaced by an older copy",
        "the start is refused with the name of the file, or each response is right or DATA_LOSS",
    )
    every = combinations(original, DAMAGES)
    chance.shuffle(every)
    for number in range(scaled(4.4 / PARTS)):
        variant, name, damage = every[number % len(every)]
        data_dir = original.copy(variant, tmp_path / str(number) / "data")
        with attack.attempt():
            damage(data_dir / name, original.old(variant), chance)
            print(number, variant, name, damage.__name__)
            check_damaged(data_dir, original)
        shutil.rmtree(data_dir.parent)


def check_damaged(data_dir: Path, original: Original) -> None:
    findings = examine_copy(data_dir)
    try:
        sidecar = SidecarProcess(data_dir, *FLAGS)
    except AssertionError:
        check_refusal(data_dir)
        return
    with sidecar:
        with sidecar.client() as client:
            for state in original.states:
                check_state(state, client, bool(findings))
            check_pages(original, client)
        assert sidecar.stop() == 0


def examine_copy(data_dir: Path) -> list[str]:
    """Return the findings of the doctor on a copy, because it makes files that are missing."""
    copy = shutil.copytree(data_dir, data_dir.with_name("copy"))
    return examine(copy) if (copy / "journal.db").exists() else ["journal.db is missing"]


def check_refusal(data_dir: Path) -> None:
    log = data_dir.with_name(f"{data_dir.name}.log").read_text()
    assert "Traceback" not in log
    assert any(path in log for path in ("journal", "page.key", str(data_dir))), log


def check_state(state: OwnedState, client: Client, is_known: bool) -> None:
    """Check that reads return what was written, or DATA_LOSS.

    A wrong number, and data that a damaged name hides, are limits of the guarantee: texts must be right all the same,
    or the doctor must have found the damage.
    """
    try:
        found = state.read(client)
    except grpc.RpcError as error:
        refused = Refusal(error)
        assert (refused.code, refused.reason) == (grpc.StatusCode.DATA_LOSS, "DATA_CORRUPTED"), refused.message
        assert refused.metadata["file"].endswith("journal.db")
        return
    except AssertionError:
        if is_known:
            return
        raise
    assert found == state.state or state.texts(found) == state.texts(state.state) or is_known, found


def check_pages(original: Original, client: Client) -> None:
    """Check a first page, and the page of an old token: after the loss of the key it is an invalid argument."""
    try:
        original.check_first_page(client)
        request = memory.GetAllRequest(session_id=PAGED, page_size=10, page_token=original.page_token)
        page = client.memory.GetAll(request, timeout=CALL_SECONDS)
    except grpc.RpcError as error:
        refused = Refusal(error)
        assert refused.code in (grpc.StatusCode.DATA_LOSS, grpc.StatusCode.INVALID_ARGUMENT), refused.message
        return
    assert [message.content for message in page.messages] == [f"message {n}" for n in range(10, 20)]


def test_a_read_only_file_is_refused_or_all_answers_are_right(
    original: Original, tmp_path: Path, attempts: Attempts
) -> None:
    attack = attempts.of(
        "file of the data directory made read-only",
        "the start is refused with the name of the file, or each response is right and writes work",
    )
    wrap = WITHOUT_OVERRIDE if os.geteuid() == 0 else ()
    if wrap and shutil.which(wrap[0]) is None:
        pytest.skip("NOT TESTED: read-only files. Root may write to them, and there is no setpriv to prevent it.")
    every = combinations(original, (read_only,))
    for number in range(scaled(0.2)):
        variant, name, _ = every[number % len(every)]
        data_dir = original.copy(variant, tmp_path / str(number) / "data")
        with attack.attempt():
            print(number, variant, name)
            read_only(data_dir / name, data_dir, random.Random())
            check_read_only(data_dir, original, wrap)
        shutil.rmtree(data_dir.parent)


def check_read_only(data_dir: Path, original: Original, wrap: tuple[str, ...]) -> None:
    try:
        sidecar = SidecarProcess(data_dir, *FLAGS, wrap=wrap, executed=True)
    except AssertionError:
        check_refusal(data_dir)
        return
    with sidecar:
        with sidecar.client() as client:
            for state in original.states:
                state.check(client)
            client.add("after the damage", "hello")
        assert sidecar.stop() == 0


# -- the index


def index_files(files: IndexFiles) -> list[Path]:
    """Return all files of the index of a namespace."""
    return [path for path in [*files.folder.rglob("*"), files.metadata_file] if path.is_file() and path.stat().st_size]


def older_table(path: Path, old: Path, _: random.Random) -> None:
    """Replace the whole table by its older copy: files of a table never change, there are only new ones."""
    table = path.parent
    shutil.rmtree(table)
    shutil.copytree(old / table.name, table)


INDEX_DAMAGES: tuple[Damage, ...] = (truncated, zeroed, flipped, deleted, older_table)


def index_runs() -> Iterator[int]:
    """Return the number of namespaces of each run."""
    wanted = scaled(0.4)
    yield from (min(NAMESPACES, wanted - begun) for begun in range(0, wanted, NAMESPACES))


def test_a_damaged_index_is_repaired_and_nothing_is_missed(tmp_path: Path, attempts: Attempts) -> None:
    chance = random_source()
    attack = attempts.of(
        "file of the index truncated, zeroed, flipped or deleted, or its table replaced by an older copy",
        "all messages are readable; each is found (after a flipped bit: each hit is a message as it was written)",
    )
    for number, namespaces in enumerate(index_runs()):
        with attack.attempt(namespaces):
            check_damaged_index(tmp_path / str(number) / "data", namespaces, chance)


def check_damaged_index(data_dir: Path, namespaces: int, chance: random.Random) -> None:
    acknowledged = {f"space-{at}": AcknowledgedMessages(f"space-{at}") for at in range(namespaces)}
    fill_index(data_dir, acknowledged)
    damages = {name: chance.choice(INDEX_DAMAGES) for name in acknowledged}
    for name, damage in damages.items():
        files = IndexFiles(data_dir, name)
        path = chance.choice(index_files(files))
        print(name, path, damage.__name__)
        damage(files.folder / "any" if damage is older_table else path, data_dir.with_name("old"), chance)
    with SidecarProcess(data_dir, *INDEX_FLAGS) as sidecar, sidecar.client() as client:
        for name, damage in damages.items():
            acknowledged[name].check_readable(client)
            if damage is flipped:
                check_hits(acknowledged[name], client)
            else:
                check_repaired(acknowledged[name], client)
        assert sidecar.stop() == 0
    assert "Traceback" not in sidecar.log()


def fill_index(data_dir: Path, acknowledged: dict[str, AcknowledgedMessages]) -> None:
    """Write and index messages, and keep a copy of the index as it was after the first of them."""
    data_dir.parent.mkdir()
    with SidecarProcess(data_dir, *INDEX_FLAGS) as sidecar, sidecar.client() as client:
        for at in range(3):
            for name, messages in acknowledged.items():
                messages.add_many(client, f"s{at}", 10)
                IndexFiles(data_dir, name).wait_until_complete(messages.contents)
            if at == 0:
                shutil.copytree(data_dir / "index", data_dir.with_name("old"))
        assert sidecar.stop() == 0


def check_repaired(messages: AcknowledgedMessages, client: Client) -> None:
    messages.check_found(client)
    until(partial(messages.has_no_degradation, client), "a search has no degradation")
    messages.check_found(client, list(messages.contents))
    messages.add(client, "s1")
    messages.check_found(client, list(messages.contents)[-1:])


def check_hits(messages: AcknowledgedMessages, client: Client) -> None:
    """Check what holds although LanceDB's files have no checksums: each hit is a message as it was written."""
    written = set(messages.contents.values())
    for word in messages.words.values():
        assert {hit.message.content for hit in messages.search(client, word).hits} <= written
