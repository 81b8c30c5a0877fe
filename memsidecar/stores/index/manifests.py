"""The files of a table as files: what can be told, and moved out of the way, without asking LanceDB."""

import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

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
