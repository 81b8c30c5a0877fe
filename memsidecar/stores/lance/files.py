"""Manifests, quarantine, table metadata files."""

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from memsidecar.stores.contract.index import Generation

_MAGIC = b"LANC"
_ASIDE = re.compile(r"\.damaged-(\d+)$")
_DATA_FILE = re.compile(rb"[01]{24}[0-9a-f]{26}\.lance")


def manifests(folder: Path) -> list[Path]:
    """Newest first: LanceDB names a version by how far it is from the largest number there is."""
    return sorted(path for path in (folder / "_versions").glob("*.manifest") if path.stem.isdigit())


def ages_seconds(folder: Path) -> list[float]:
    """Of all versions, newest first."""
    now = time.time()
    return [now - manifest.stat().st_mtime for manifest in manifests(folder)]


def seems_complete(manifest: Path) -> bool:
    """Whether every data file that it names was written to its end.

    After power loss a file is most often empty, or ends in zeros. Seeing that here spares a scan for each version. It
    is a guess: names are found by their form, behind the place where the file's end says that the manifest begins
    (before it stands what was done last, which names files that are gone).
    """
    content = manifest.read_bytes()
    begins = int.from_bytes(content[-16:-8], "little")
    names = {name.decode() for name in _DATA_FILE.findall(content[begins:])}
    return all(is_whole(manifest.parents[1] / "data" / name) for name in names)


def is_whole(path: Path) -> bool:
    """Every file of LanceDB ends with the same four letters."""
    if not path.is_file() or path.stat().st_size < len(_MAGIC):
        return False
    with path.open("rb") as file:
        file.seek(-len(_MAGIC), 2)
        return file.read() == _MAGIC


def next_aside(folder: Path) -> int:
    """The number for what is moved out of the way now."""
    return 1 + max((_number(path) for path in _all_asides(folder)), default=0)


def set_aside(path: Path, number: int) -> None:
    """Out of the way, not away: whoever wants to know what happened can look."""
    path.rename(path.with_name(f"{path.name}.damaged-{number}"))


def forget_asides(folder: Path, before: int | None = None) -> None:
    """Take away what was set aside earlier, so that damage that comes again does not fill the disk."""
    for path in list(_all_asides(folder)):
        if before is None or _number(path) < before:
            remove(path)


def _all_asides(folder: Path) -> Iterator[Path]:
    """Whole tables of the namespace, which stand beside the folder, and manifests of this one."""
    namespace = folder.name.rpartition("_g")[0]
    for path in (*folder.parent.glob(f"{namespace}_g*.damaged-*"), *folder.glob("_versions/*.damaged-*")):
        if _ASIDE.search(path.name):
            yield path


def _number(path: Path) -> int:
    found = _ASIDE.search(path.name)
    return int(found[1]) if found else 0


def owe_purge(folder: Path) -> None:
    """Note, durably, that what was erased is still in the files: whoever opens the table next would not know."""
    _debt(folder).touch()
    parent = os.open(folder.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(parent)
    finally:
        os.close(parent)


def owes_purge(folder: Path) -> bool:
    return _debt(folder).exists()


def forget_purge(folder: Path) -> None:
    _debt(folder).unlink(missing_ok=True)


def _debt(folder: Path) -> Path:
    return folder.with_suffix(".unpurged")


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def size_bytes(folder: Path) -> int:
    """What the files take; one that goes away meanwhile counts nothing."""
    return sum(_size(path) for path in folder.rglob("*"))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except FileNotFoundError:
        return 0


def stem(namespace: str) -> str:
    """LanceDB allows little in a name, a file name even less: so a digest, and the card tells what it stands for."""
    return "n" + hashlib.blake2b(namespace.encode(), digest_size=16).hexdigest()


def name(namespace: str, number: int) -> str:
    return f"{stem(namespace)}_g{int(number)}"


def write(directory: Path, namespace: str, generation: Generation) -> None:
    """Synced, unlike what LanceDB writes: it is small and written once."""
    path = directory / f"{name(namespace, generation.number)}.json"
    fresh = path.with_suffix(".json.new")
    with fresh.open("w") as file:
        json.dump({"namespace": namespace, **asdict(generation)}, file)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def read(directory: Path, namespace: str, number: int) -> Generation | None:
    """None where there is no card, or none that can be read. The first cards did not tell the version of the words."""
    path = directory / f"{name(namespace, number)}.json"
    try:
        card = json.loads(path.read_bytes())
        made_by = str(card["embedder"]), int(card["dimensions"]), int(card.get("words", 1))
        generation = Generation(int(card["number"]), *made_by)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return generation if card["namespace"] == namespace and generation.number == number else None


def numbers(directory: Path, namespace: str) -> list[int]:
    """Of the namespace's tables that have a card."""
    found = (path.stem.rpartition("_g")[2] for path in directory.glob(f"{stem(namespace)}_g*.json"))
    return sorted(int(number) for number in found if number.isdigit())


def begin_opening(directory: Path, namespace: str, number: int) -> int:
    """Note that the table is being opened: how many times that was begun, and never ended, before.

    On a full disk it is not noted, and the table is opened all the same.
    """
    path = directory / f"{name(namespace, number)}.opening"
    before = path.stat().st_size if path.exists() else 0
    with suppress(OSError):
        path.write_bytes(b"." * (before + 1))
    return before


def end_opening(directory: Path, namespace: str, number: int) -> None:
    (directory / f"{name(namespace, number)}.opening").unlink(missing_ok=True)


def remove_metadata(directory: Path, namespace: str, number: int) -> None:
    for suffix in (".json", ".json.new", ".opening", ".unpurged"):
        (directory / f"{name(namespace, number)}{suffix}").unlink(missing_ok=True)
