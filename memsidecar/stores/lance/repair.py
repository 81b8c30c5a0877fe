"""Verify on open, fall back to an older version."""

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np

from memsidecar.stores.lance import files, rows
from memsidecar.stores.lance.client import EVERY_PARTITION, SCALARS, TableClient
from memsidecar.stores.lance.runtime import Unreadable

log = logging.getLogger(__name__)

# Versions that look right and turn out to be damaged when they are read: each costs a scan. Then the log is quicker.
MOST_SCANS = 8
_NO_WORD = "\N{REPLACEMENT CHARACTER}memsidecar\N{REPLACEMENT CHARACTER}"


class TableRepair:
    """Opens one table; afterwards `handle` is sound, or None if nothing could be saved."""

    def __init__(self, folder: Path, open_table: Callable[[], TableClient]) -> None:
        self._folder = folder
        self._open = open_table
        self._aside = files.next_aside(folder)
        self.repairs = 0
        self.watermark = 0
        self.handle = self._newest_sound()
        if self.handle is None:
            self._give_up()
        else:
            self._mend_indexes(self.handle)
        if self.repairs:
            files.forget_asides(folder, before=self._aside)

    def _newest_sound(self) -> TableClient | None:
        scans = 0
        for manifest in files.manifests(self._folder):
            if self._is_worth_a_scan(manifest, scans):
                scans += 1
                handle = self._proven()
                if handle is not None:
                    return handle
            log.warning("version %s of %s is damaged: set aside", manifest.stem, self._folder.name)
            files.set_aside(manifest, self._aside)
            self.repairs += 1
        return None

    def _is_worth_a_scan(self, manifest: Path, scans: int) -> bool:
        """No guess condemns the newest version: it is the one that is nearly always right."""
        if not files.is_whole(manifest) or scans >= MOST_SCANS:
            return False
        return scans == 0 or files.seems_complete(manifest)

    def _proven(self) -> TableClient | None:
        try:
            handle = self._open()
            if not handle.schema().equals(rows.schema(handle.dimensions), check_metadata=False):
                return None
            _, self.watermark = handle.scan()
        except Unreadable as error:
            log.warning("%s could not be read: %s", self._folder.name, error)
            return None
        return handle

    def _give_up(self) -> None:
        log.warning("nothing of %s could be saved: set aside, to be built again from the journal", self._folder.name)
        files.set_aside(self._folder, self._aside)
        self.repairs += 1

    def _mend_indexes(self, handle: TableClient) -> None:
        found = handle.indexes()
        for column in (*SCALARS, "words"):  # in this order: a search by words uses the others
            if column not in found or not self._answers(handle, column):
                log.warning("the index on %s of %s is damaged: built anew", column, self._folder.name)
                handle.build(column)
                self.repairs += 1
        if "vector" in found and not self._answers(handle, "vector"):
            handle.drop_index(found["vector"].name)  # upkeep builds it again; until then the search is exact
            self.repairs += 1

    def _answers(self, handle: TableClient, column: str) -> bool:
        try:
            if not self._files_are_whole(handle, column):
                return False
            _probe(handle, column)
        except Unreadable as error:
            log.warning("the index on %s does not answer: %s", column, error)
            return False
        return True

    def _files_are_whole(self, handle: TableClient, column: str) -> bool:
        folder = self._folder / "_indices" / str(handle.indexes()[column].index_uuid)
        paths = list(folder.glob("*"))
        return bool(paths) and all(files.is_whole(path) for path in paths)


def _probe(handle: TableClient, column: str) -> None:
    if column == "words":
        handle.matching([_NO_WORD], "session >= 0", 1)
    elif column == "vector":
        handle.nearest(np.ones(handle.dimensions, np.float32), "session >= 0", 1, EVERY_PARTITION)
    elif handle.count(f"{column} > {-(1 << 62)}") != handle.count():
        raise Unreadable(f"the index on {column} has lost rows")
