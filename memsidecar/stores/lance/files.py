"""Files of the index: manifests of LanceDB, quarantined files, and the metadata file of each table."""

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
from typing import NamedTuple

from memsidecar.stores.contract.index import Generation

_MAGIC = b"LANC"
_QUARANTINED = re.compile(r"\.damaged-(\d+)$")
_DATA_FILE = re.compile(rb"[01]{24}[0-9a-f]{26}\.lance")


def manifests(folder: Path) -> list[Path]:
    """Return the manifests, newest first: LanceDB names a version by its distance to the largest integer."""
    return sorted(path for path in (folder / "_versions").glob("*.manifest") if path.stem.isdigit())


def ages_seconds(folder: Path) -> list[float]:
    """Return the ages of all versions, newest first."""
    now = time.time()
    return [now - manifest.stat().st_mtime for manifest in manifests(folder)]


def seems_complete(manifest: Path) -> bool:
    """Return whether every data file that the manifest refers to was written completely.

    After power loss a file is most often empty, or ends in zeros: this check spares a scan of such a version. It is a
    heuristic. File names are found by their form, after the offset at which the file's footer says that the manifest
    begins; before it is the last transaction, which refers to deleted files.
    """
    content = manifest.read_bytes()
    begins = int.from_bytes(content[-16:-8], "little")
    names = {name.decode() for name in _DATA_FILE.findall(content[begins:])}
    return all(is_complete(manifest.parents[1] / "data" / name) for name in names)


def is_complete(path: Path) -> bool:
    """Return whether the file ends with the magic bytes of every LanceDB file."""
    if not path.is_file() or path.stat().st_size < len(_MAGIC):
        return False
    with path.open("rb") as file:
        file.seek(-len(_MAGIC), 2)
        return file.read() == _MAGIC


def next_quarantine(folder: Path) -> int:
    """Return the number for the next files that are quarantined."""
    return 1 + max((_quarantine_number(path) for path in _quarantined(folder)), default=0)


def quarantine(path: Path, number: int) -> None:
    """Rename a damaged file or folder, so that LanceDB ignores it and an operator can inspect it."""
    path.rename(path.with_name(f"{path.name}.damaged-{number}"))


def remove_quarantined(folder: Path, before: int | None = None) -> None:
    """Remove what was quarantined earlier, so that repeated damage does not fill the disk."""
    for path in list(_quarantined(folder)):
        if before is None or _quarantine_number(path) < before:
            remove(path)


def _quarantined(folder: Path) -> Iterator[Path]:
    """Yield quarantined tables of the namespace, which are beside the folder, and manifests in it."""
    namespace = folder.name.rpartition("_g")[0]
    for path in (*folder.parent.glob(f"{namespace}_g*.damaged-*"), *folder.glob("_versions/*.damaged-*")):
        if _QUARANTINED.search(path.name):
            yield path


def _quarantine_number(path: Path) -> int:
    found = _QUARANTINED.search(path.name)
    return int(found[1]) if found else 0


def remove_unfinished(folder: Path) -> None:
    """Remove what a killed process was writing. LanceDB renames such a file at the end, and never removes it."""
    for path in folder.rglob(".tmp*"):
        path.unlink(missing_ok=True)


def mark_purge_pending(folder: Path) -> None:
    """Store, durably, that erased rows are still in the files: the next process that opens the table must know."""
    _purge_marker(folder).touch()
    parent = os.open(folder.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(parent)
    finally:
        os.close(parent)


def is_purge_pending(folder: Path) -> bool:
    return _purge_marker(folder).exists()


def clear_purge_pending(folder: Path) -> None:
    _purge_marker(folder).unlink(missing_ok=True)


def _purge_marker(folder: Path) -> Path:
    return folder.with_suffix(".unpurged")


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def size_bytes(folder: Path) -> int:
    """Return the size of all files; one that is deleted meanwhile counts nothing."""
    return sum(_size(path) for path in folder.rglob("*"))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except FileNotFoundError:
        return 0


class TableMetadata(NamedTuple):
    """The content of a table's metadata file: its generation, and the version of its columns."""

    generation: Generation
    layout: int


def stem(namespace: str) -> str:
    """Return the digest of a namespace: names of tables and files allow few characters. The metadata has the name."""
    return "n" + hashlib.blake2b(namespace.encode(), digest_size=16).hexdigest()


def name(namespace: str, number: int) -> str:
    return f"{stem(namespace)}_g{int(number)}"


def write_metadata(directory: Path, namespace: str, metadata: TableMetadata) -> None:
    """Write the metadata file and sync it, unlike the files of LanceDB: it is small, and written once."""
    path = directory / f"{name(namespace, metadata.generation.number)}.json"
    fresh = path.with_suffix(".json.new")
    with fresh.open("w") as file:
        json.dump({"namespace": namespace, "layout": metadata.layout, **asdict(metadata.generation)}, file)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def read_metadata(directory: Path, namespace: str, number: int) -> TableMetadata | None:
    """Return the metadata; None if there is no file, or none that can be read. The first files had no versions."""
    path = directory / f"{name(namespace, number)}.json"
    try:
        content = json.loads(path.read_bytes())
        generation = Generation(
            number=int(content["number"]),
            embedder=str(content["embedder"]),
            dimensions=int(content["dimensions"]),
            analyzer_version=int(content.get("analyzer_version", 1)),
        )
        metadata = TableMetadata(generation, int(content.get("layout", 1)))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return metadata if content["namespace"] == namespace and generation.number == number else None


def numbers(directory: Path, namespace: str) -> list[int]:
    """Return the numbers of the namespace's tables that have metadata."""
    found = (path.stem.rpartition("_g")[2] for path in directory.glob(f"{stem(namespace)}_g*.json"))
    return sorted(int(number) for number in found if number.isdigit())


def begin_opening(directory: Path, namespace: str, number: int) -> int:
    """Store that the table is being opened, and return how many earlier attempts never ended.

    On a full disk nothing is stored, and the table is opened all the same.
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
