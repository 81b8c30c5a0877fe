"""LanceIndex."""

import logging
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import lancedb

from memsidecar.stores.contract.index import Generation, IndexUnavailable
from memsidecar.stores.lance import files, process_memory, rows
from memsidecar.stores.lance.client import SCALARS, TableClient
from memsidecar.stores.lance.maintenance import MaintenanceConfig, TableMaintenance
from memsidecar.stores.lance.repair import TableRepair
from memsidecar.stores.lance.runtime import LanceRuntime, start_workers, translated
from memsidecar.stores.lance.table import LanceTable

log = logging.getLogger(__name__)

Key = tuple[str, int]
# Once may be chance: a machine that stops while a table is opened.
MAX_CRASHES_ON_OPEN = 2


class LanceIndex:
    """All tables of a directory that nobody else uses. One handle for each; a damaged one is healed when opened."""

    def __init__(
        self,
        directory: Path,
        *,
        memory_bytes: int,
        kept_seconds: float = MaintenanceConfig.kept_seconds,
        vector_index_rows: int = MaintenanceConfig.vector_index_rows,
    ) -> None:
        """`memory_bytes` is what LanceDB may keep in its caches; by itself it would take 7 GiB."""
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._directory = directory
        self._rules = MaintenanceConfig(kept_seconds, vector_index_rows)
        start_workers()
        self._run = LanceRuntime()
        session = lancedb.Session(memory_bytes * 3 // 4, memory_bytes // 4)
        self._database = self._run(lancedb.connect_async(directory, session=session))
        self._tables: dict[Key, LanceTable] = {}
        self._one_at_a_time: defaultdict[Key, Lock] = defaultdict(Lock)
        self._closed = False
        self.repairs = 0
        "How many versions, indexes or whole tables were found damaged since the start."

    def generations(self, namespace: str) -> Sequence[Generation]:
        read = (files.read(self._directory, namespace, number) for number in files.numbers(self._directory, namespace))
        return [generation for generation in read if generation is not None]

    def open(self, namespace: str, number: int) -> LanceTable | None:
        key = (namespace, number)
        with self._one_at_a_time[key]:
            self._check_open()
            table = self._tables.get(key)
            if table is not None and not table.damaged:
                return table
            self._let_go(key)
            return self._healed(key)

    def _healed(self, key: Key) -> LanceTable | None:
        generation = files.read(self._directory, *key)
        if not self._folder(key).is_dir():
            return None
        try:
            if generation is None:
                self._give_up(key, "has no card that can be read")
                return None
            deaths = files.begin_opening(self._directory, *key)
            if deaths < MAX_CRASHES_ON_OPEN:
                return self._proven(key, generation)
            self._give_up(key, f"was being opened when the process died, {deaths} times")
            return None
        except OSError as error:
            raise translated(error) from error
        finally:
            files.end_opening(self._directory, *key)

    def _give_up(self, key: Key, why: str) -> None:
        """Garbage can make LanceDB ask for more memory than there is, which ends the process, time and again.

        What is set aside is known, and goes with the next erasure; a folder that merely stays would keep what it has.
        """
        log.warning("%s %s: set aside", self._folder(key).name, why)
        files.set_aside(self._folder(key), files.next_aside(self._folder(key)))
        self._take_leave(key)
        self.repairs += 1

    def _take_leave(self, key: Key) -> None:
        """Of a table that was set aside: what was erased from it, and not purged yet, must not stay there."""
        if files.owes_purge(self._folder(key)):
            files.forget_asides(self._folder(key))
        files.remove_metadata(self._directory, *key)

    def _proven(self, key: Key, generation: Generation) -> LanceTable | None:
        healing = TableRepair(self._folder(key), lambda: self._handle(key, generation.dimensions))
        self.repairs += healing.repairs
        if healing.handle is None:
            self._take_leave(key)
            return None
        return self._keep(key, generation, healing.handle, healing.watermark)

    def _handle(self, key: Key, dimensions: int) -> TableClient:
        table = self._run(self._database.open_table(files.name(*key)))
        return TableClient(table, self._folder(key), dimensions, self._run)

    def _keep(self, key: Key, generation: Generation, handle: TableClient, watermark: int) -> LanceTable:
        upkeep = TableMaintenance(
            handle,
            self._rules,
            rows=handle.count(),
            commits=max(0, handle.fragments() - 1),
            has_vector_index="vector" in handle.indexes(),
            owes_purge=files.owes_purge(handle.folder),
        )
        table = self._tables[key] = LanceTable(generation, handle, upkeep, watermark)
        return table

    def create(self, namespace: str, generation: Generation) -> LanceTable:
        key = (namespace, generation.number)
        with self._one_at_a_time[key]:
            self._check_open()
            self._let_go(key)
            try:
                self._remove(key)
                return self._created(key, generation)
            except OSError as error:
                raise translated(error) from error

    def _created(self, key: Key, generation: Generation) -> LanceTable:
        files.write(self._directory, key[0], generation)  # first: so nothing is ever there that nobody knows of
        schema = rows.schema(generation.dimensions)
        table = self._run(self._database.create_table(files.name(*key), schema=schema))
        handle = TableClient(table, self._folder(key), generation.dimensions, self._run)
        for column in ("words", *SCALARS):
            handle.build(column)
        return self._keep(key, generation, handle, watermark=0)

    def drop(self, namespace: str, number: int) -> None:
        key = (namespace, number)
        with self._one_at_a_time[key]:
            self._let_go(key)
            try:
                self._remove(key)
                files.forget_asides(self._folder(key))
            except OSError as error:
                raise translated(error) from error

    def _remove(self, key: Key) -> None:
        """The card last: a process that ends in between leaves nothing that nobody knows of."""
        files.remove(self._folder(key))
        files.remove_metadata(self._directory, *key)

    def _let_go(self, key: Key) -> None:
        table = self._tables.pop(key, None)
        if table is not None:
            table.close()

    def _folder(self, key: Key) -> Path:
        return self._directory / f"{files.name(*key)}.lance"

    def _check_open(self) -> None:
        if self._closed:
            raise IndexUnavailable("the index is closed")

    def give_back(self) -> None:
        process_memory.release_memory()

    def disk_bytes(self) -> int:
        return files.size_bytes(self._directory)

    def close(self) -> None:
        """Wait for whoever is under way, and let nobody in."""
        self._closed = True
        for key in list(self._tables):
            with self._one_at_a_time[key]:
                self._let_go(key)
        self._database.close()  # type: ignore[no-untyped-call]
        self._run.close()
