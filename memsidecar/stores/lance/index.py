"""LanceIndex: all tables of a directory."""

import logging
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import lancedb

from memsidecar.domain.statistics import OperationStatistics
from memsidecar.stores.contract.index import Generation, IndexUnavailable
from memsidecar.stores.lance import files, process_memory, rows
from memsidecar.stores.lance.client import SCALAR_INDEXES, TableClient
from memsidecar.stores.lance.maintenance import MaintenanceConfig, TableMaintenance
from memsidecar.stores.lance.repair import TableRepair
from memsidecar.stores.lance.runtime import LanceRuntime, start_workers, translated
from memsidecar.stores.lance.table import LanceTable

log = logging.getLogger(__name__)

Key = tuple[str, int]
# One crash may be a coincidence: a machine that stops while a table is opened.
MAX_CRASHES_ON_OPEN = 2


class LanceIndex:
    """The tables of a directory that no other process uses. One LanceTable for each; opening repairs damage."""

    def __init__(
        self,
        directory: Path,
        *,
        memory_bytes: int,
        retention_seconds: float = MaintenanceConfig.retention_seconds,
        vector_index_rows: int = MaintenanceConfig.vector_index_rows,
    ) -> None:
        """`memory_bytes` limits LanceDB's caches; its default would be 7 GiB."""
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._directory = directory
        self._config = MaintenanceConfig(retention_seconds, vector_index_rows)
        start_workers()
        self._runtime = LanceRuntime()
        self._session = lancedb.Session(memory_bytes * 3 // 4, memory_bytes // 4)
        self._database = self._runtime(lancedb.connect_async(directory, session=self._session))
        self._tables: dict[Key, LanceTable] = {}
        self._locks: defaultdict[Key, Lock] = defaultdict(Lock)
        self._closed = False
        self.repairs = 0
        "How many versions, indexes or whole tables were found damaged since the start."

    def generations(self, namespace: str) -> Sequence[Generation]:
        numbers = files.numbers(self._directory, namespace)
        found = (files.read_metadata(self._directory, namespace, number) for number in numbers)
        return [metadata.generation for metadata in found if metadata is not None]

    def open(self, namespace: str, number: int) -> LanceTable | None:
        key = (namespace, number)
        with self._locks[key]:
            self._check_open()
            table = self._tables.get(key)
            if table is not None and not table.damaged:
                return table
            self._close_table(key)
            return self._open_repaired(key)

    def _open_repaired(self, key: Key) -> LanceTable | None:
        metadata = files.read_metadata(self._directory, *key)
        if not self._folder(key).is_dir():
            return None
        try:
            if metadata is None:
                self._quarantine(key, "has no readable metadata")
                return None
            if metadata.layout != rows.LAYOUT_VERSION:
                log.info("%s has another layout: dropped, to be built again", self._folder(key).name)
                if files.is_purge_pending(self._folder(key)):
                    files.remove_quarantined(self._folder(key))
                self._remove(key)
                return None
            files.remove_unfinished(self._folder(key))
            crashes = files.begin_opening(self._directory, *key)
            if crashes < MAX_CRASHES_ON_OPEN:
                return self._repaired(key, metadata.generation)
            self._quarantine(key, f"was being opened when the process crashed, {crashes} times")
            return None
        except OSError as error:
            raise translated(error) from error
        finally:
            files.end_opening(self._directory, *key)

    def _quarantine(self, key: Key, reason: str) -> None:
        """Quarantine a table without opening it.

        Garbage can make LanceDB allocate more memory than there is, which ends the process each time. What is
        quarantined is known, and removed by the next erasure; a folder that merely stays would keep erased rows.
        """
        log.warning("%s %s: quarantined", self._folder(key).name, reason)
        files.quarantine(self._folder(key), files.next_quarantine(self._folder(key)))
        self._forget_quarantined(key)
        self.repairs += 1

    def _forget_quarantined(self, key: Key) -> None:
        """Remove the metadata of a quarantined table, and the table itself if it has erased rows to purge."""
        if files.is_purge_pending(self._folder(key)):
            files.remove_quarantined(self._folder(key))
        files.remove_metadata(self._directory, *key)

    def _repaired(self, key: Key, generation: Generation) -> LanceTable | None:
        repair = TableRepair(self._folder(key), lambda: self._open_client(key, generation.dimensions))
        self.repairs += repair.repairs
        if repair.client is None:
            self._forget_quarantined(key)
            return None
        return self._add_table(key, generation, repair.client, repair.watermark)

    def _open_client(self, key: Key, dimensions: int) -> TableClient:
        table = self._runtime(self._database.open_table(files.name(*key)))
        return TableClient(table, self._folder(key), dimensions, self._runtime)

    def _add_table(self, key: Key, generation: Generation, client: TableClient, watermark: int) -> LanceTable:
        maintenance = TableMaintenance(
            client,
            self._config,
            rows=client.count(),
            commits=max(0, client.fragments() - 1),
            has_vector_index="vector" in client.indexes(),
            purge_pending=files.is_purge_pending(client.folder),
        )
        table = self._tables[key] = LanceTable(generation, client, maintenance, watermark)
        return table

    def create(self, namespace: str, generation: Generation) -> LanceTable:
        key = (namespace, generation.number)
        with self._locks[key]:
            self._check_open()
            self._close_table(key)
            try:
                self._remove(key)
                return self._create(key, generation)
            except OSError as error:
                raise translated(error) from error

    def _create(self, key: Key, generation: Generation) -> LanceTable:
        # The metadata first: after a crash there is no table without it.
        files.write_metadata(self._directory, key[0], files.TableMetadata(generation, rows.LAYOUT_VERSION))
        schema = rows.schema(generation.dimensions)
        table = self._runtime(self._database.create_table(files.name(*key), schema=schema))
        client = TableClient(table, self._folder(key), generation.dimensions, self._runtime)
        for column in ("terms", *SCALAR_INDEXES):
            client.build(column)
        return self._add_table(key, generation, client, watermark=0)

    def drop(self, namespace: str, number: int) -> None:
        key = (namespace, number)
        with self._locks[key]:
            self._close_table(key)
            try:
                self._remove(key)
                files.remove_quarantined(self._folder(key))
            except OSError as error:
                raise translated(error) from error

    def _remove(self, key: Key) -> None:
        """Remove the folder, and the metadata last: after a crash there is no table without it."""
        files.remove(self._folder(key))
        files.remove_metadata(self._directory, *key)

    def _close_table(self, key: Key) -> None:
        table = self._tables.pop(key, None)
        if table is not None:
            table.close()

    def _folder(self, key: Key) -> Path:
        return self._directory / f"{files.name(*key)}.lance"

    def _check_open(self) -> None:
        if self._closed:
            raise IndexUnavailable("the index is closed")

    def release_memory(self) -> None:
        process_memory.release_memory()

    @property
    def cache_bytes(self) -> int:
        return int(self._session.size_bytes)

    @property
    def calls(self) -> OperationStatistics:
        return self._runtime.calls

    def close(self) -> None:
        """Refuse new calls, and wait for the current ones."""
        self._closed = True
        for key in list(self._tables):
            with self._locks[key]:
                self._close_table(key)
        self._database.close()  # type: ignore[no-untyped-call]
        self._runtime.close()
