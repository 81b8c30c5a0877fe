"""Kinds of damage to the files of an index, by name."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.faults_index.index_files import IndexFiles

Damage = Callable[[IndexFiles], None]


def _garbage(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * (path.stat().st_size // 256 + 1))


def _zeros(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def _half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def newest_manifest_empty(files: IndexFiles) -> None:
    files.manifests[0].write_bytes(b"")


def all_manifests_garbage(files: IndexFiles) -> None:
    for path in files.manifests:
        _garbage(path)


def data_file_zeroed(files: IndexFiles) -> None:
    _zeros(files.data_files[0])


def data_file_truncated(files: IndexFiles) -> None:
    _half(files.data_files[0])


def data_file_deleted(files: IndexFiles) -> None:
    files.data_files[0].unlink()


def indexes_deleted(files: IndexFiles) -> None:
    shutil.rmtree(files.folder / "_indices")


def indexes_zeroed(files: IndexFiles) -> None:
    for path in (files.folder / "_indices").rglob("*"):
        if path.is_file():
            _zeros(path)


def table_deleted(files: IndexFiles) -> None:
    shutil.rmtree(files.folder)


def metadata_deleted(files: IndexFiles) -> None:
    files.metadata_file.unlink()


def metadata_garbage(files: IndexFiles) -> None:
    _garbage(files.metadata_file)


def nothing(_: IndexFiles) -> None:
    """Do nothing, for comparison."""


KINDS: Mapping[str, Damage] = {
    kind.__name__: kind
    for kind in (
        nothing,
        newest_manifest_empty,
        all_manifests_garbage,
        data_file_zeroed,
        data_file_truncated,
        data_file_deleted,
        indexes_deleted,
        indexes_zeroed,
        table_deleted,
        metadata_deleted,
        metadata_garbage,
    )
}
