"""Verification of a table when it is opened, with fallback to an older version."""

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np

from memsidecar.stores.lance import files, rows
from memsidecar.stores.lance.client import ALL_PROBES, SCALAR_INDEXES, TableClient
from memsidecar.stores.lance.runtime import Unreadable

log = logging.getLogger(__name__)

# Versions that seem complete and turn out to be damaged: each costs a scan. After these, the log is quicker.
MAX_SCANS = 8
_ABSENT_TERM = "\N{REPLACEMENT CHARACTER}memsidecar\N{REPLACEMENT CHARACTER}"
_MIN_INTEGER = -(1 << 63) + 1
"Below every value of a column."


class TableRepair:
    """Opens one table at its newest intact version. `client` is None if no version is intact."""

    def __init__(self, folder: Path, open_table: Callable[[], TableClient]) -> None:
        self._folder = folder
        self._open = open_table
        self._quarantine = files.next_quarantine(folder)
        self.repairs = 0
        self.watermark = 0
        self.client = self._newest_intact()
        if self.client is None:
            self._quarantine_table()
        else:
            self._repair_indexes(self.client)
        if self.repairs:
            files.remove_quarantined(folder, before=self._quarantine)

    def _newest_intact(self) -> TableClient | None:
        scans = 0
        for manifest in files.manifests(self._folder):
            if self._is_worth_a_scan(manifest, scans):
                scans += 1
                client = self._verified()
                if client is not None:
                    return client
            log.warning("version %s of %s is damaged: quarantined", manifest.stem, self._folder.name)
            files.quarantine(manifest, self._quarantine)
            self.repairs += 1
        return None

    def _is_worth_a_scan(self, manifest: Path, scans: int) -> bool:
        """Return whether to scan the version. The newest is always scanned: it is nearly always intact."""
        if not files.is_complete(manifest) or scans >= MAX_SCANS:
            return False
        return scans == 0 or files.seems_complete(manifest)

    def _verified(self) -> TableClient | None:
        try:
            client = self._open()
            if not client.schema().equals(rows.schema(client.dimensions), check_metadata=False):
                return None
            _, self.watermark = client.scan()
        except Unreadable as error:
            log.warning("%s could not be read: %s", self._folder.name, error)
            return None
        return client

    def _quarantine_table(self) -> None:
        log.warning("no version of %s is intact: quarantined, to be built again from the journal", self._folder.name)
        files.quarantine(self._folder, self._quarantine)
        self.repairs += 1

    def _repair_indexes(self, client: TableClient) -> None:
        found = client.indexes()
        for column in (*SCALAR_INDEXES, "terms"):  # in this order: a search by terms uses the others
            if column not in found or not self._is_usable(client, column):
                log.warning("the index on %s of %s is damaged: built again", column, self._folder.name)
                client.build(column)
                self.repairs += 1
        if "vector" in found and not self._is_usable(client, "vector"):
            client.drop_index(found["vector"].name)  # maintenance builds it again; until then the search is exact
            self.repairs += 1

    def _is_usable(self, client: TableClient, column: str) -> bool:
        try:
            if not self._files_are_complete(client, column):
                return False
            _probe(client, column)
        except Unreadable as error:
            log.warning("the index on %s cannot be searched: %s", column, error)
            return False
        return True

    def _files_are_complete(self, client: TableClient, column: str) -> bool:
        folder = self._folder / "_indices" / str(client.indexes()[column].index_uuid)
        paths = list(folder.glob("*"))
        return bool(paths) and all(files.is_complete(path) for path in paths)


def _probe(client: TableClient, column: str) -> None:
    if column == "terms":
        client.matching([_ABSENT_TERM], "session >= 0", 1)
    elif column == "vector":
        client.nearest(np.ones(client.dimensions, np.float32), "session >= 0", 1, ALL_PROBES)
    elif client.count(f"{column} > {_MIN_INTEGER}") != client.count():
        raise Unreadable(f"the index on {column} has lost rows")
