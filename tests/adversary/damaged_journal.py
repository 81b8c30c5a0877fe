"""A data directory with all kinds of data, an older copy of it, and kinds of damage to one of its files."""

import os
import random
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

from memsidecar.v1 import memory_pb2 as memory
from tests.faults.owned_kinds import one_of_each
from tests.faults.owned_state import OwnedState
from tests.faults.test_kills import FLAGS
from tests.support.process import CALL_SECONDS, Client, SidecarProcess

PAGE_BYTES = 4096
OLD_CHANGES, NEW_CHANGES = 40, 60
PAGED = "paged"
"A session with several pages of messages."


def truncated(path: Path, _: Path, chance: random.Random) -> None:
    os.truncate(path, chance.randrange(path.stat().st_size))


def zeroed(path: Path, _: Path, chance: random.Random) -> None:
    """Zero one page, or all."""
    size = path.stat().st_size
    pages = [(page * PAGE_BYTES, PAGE_BYTES) for page in range(-(-size // PAGE_BYTES))]
    at, length = chance.choice([*pages, (0, size)])
    overwrite(path, at, bytes(min(length, size - at)))


def flipped(path: Path, _: Path, chance: random.Random) -> None:
    """Flip a bit in each byte of a short range, which begins with a byte in use, if there is one."""
    content = path.read_bytes()
    at = chance.choice([at for at, byte in enumerate(content) if byte] or range(len(content)))
    damaged = content[at : at + chance.choice([1, 1, 4, 64])]
    overwrite(path, at, bytes(byte ^ 1 << chance.randrange(8) for byte in damaged))


def deleted(path: Path, _: Path, __: random.Random) -> None:
    path.unlink()


def older(path: Path, old: Path, _: random.Random) -> None:
    """Replace the file by its older copy, or delete it if there was none."""
    path.unlink()
    if (old / path.name).exists():
        shutil.copy(old / path.name, path)


def read_only(path: Path, _: Path, __: random.Random) -> None:
    path.chmod(stat.S_IRUSR)


Damage = Callable[[Path, Path, random.Random], None]
"Damages the file at the first path; the second is the folder of the older copies."

DAMAGES: tuple[Damage, ...] = (truncated, zeroed, flipped, deleted, older)


def overwrite(path: Path, at: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(content)


class Original:
    """Directories of a sidecar that was stopped, and of one that was killed; and of earlier ones."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.states: list[OwnedState] = one_of_each("a")
        alive = folder / "alive"
        with SidecarProcess(alive, *FLAGS) as sidecar:
            with sidecar.client() as client:
                self._write(client, OLD_CHANGES, "old")
                for n in range(40):
                    client.add(PAGED, f"message {n}", id=f"m{n}")
            sidecar.kill()
            shutil.copytree(alive, folder / "old killed")
            sidecar.start()
            assert sidecar.stop() == 0
            shutil.copytree(alive, folder / "old stopped")
            sidecar.start()
            with sidecar.client() as client:
                self._write(client, NEW_CHANGES, "new")
                self.page_token = first_page(client).next_page_token
            sidecar.kill()
            shutil.copytree(alive, folder / "killed")
            sidecar.start()
            assert sidecar.stop() == 0
            shutil.copytree(alive, folder / "stopped")

    def _write(self, client: Client, changes: int, seed: str) -> None:
        for state in self.states:
            chance = random.Random(f"{seed} {state.name}")
            for _ in range(changes):
                state.write(client, chance)

    def copy(self, variant: str, to: Path) -> Path:
        shutil.copytree(self._folder / variant, to)
        return to

    def old(self, variant: str) -> Path:
        return self._folder / f"old {variant}"

    def files(self, variant: str) -> list[str]:
        return sorted(path.name for path in (self._folder / variant).iterdir() if path.stat().st_size)

    def check_first_page(self, client: Client) -> None:
        page = first_page(client)
        assert [message.content for message in page.messages] == [f"message {n}" for n in range(10)]


def first_page(client: Client) -> memory.GetAllResponse:
    request = memory.GetAllRequest(session_id=PAGED, page_size=10)
    page: memory.GetAllResponse = client.memory.GetAll(request, timeout=CALL_SECONDS)
    return page
