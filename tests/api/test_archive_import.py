"""Import: the work for a record waits in the queue of the record's namespace."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from memsidecar.api.archive_import import ImportHandler
from memsidecar.api.archive_record import RecordParser
from memsidecar.api.executors import Executors
from memsidecar.api.interceptors.call import current_tenant
from memsidecar.api.interceptors.concurrency import InFlightCounter
from memsidecar.layers.working.memory import WorkingLimits, WorkingMemory
from memsidecar.stores.sqlite.journal import SqliteJournal
from memsidecar.tokens.registry import CounterRegistry
from memsidecar.v1.knowledge_pb2 import Document
from memsidecar.v1.session_pb2 import ArchiveRecord, ImportRequest, SessionPolicy
from tests.documents.components import documents_over


class RecordingExecutors(Executors):
    """Executors that record the tenants for which work waits."""

    def __init__(self) -> None:
        super().__init__(2, shared=True)
        self.tenants: list[str] = []

    async def run_read(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self.tenants.append(current_tenant.get())
        return await super().run_read(work, *args, **kwargs)

    async def run_write(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self.tenants.append(current_tenant.get())
        return await super().run_write(work, *args, **kwargs)

    async def run_chunk(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self.tenants.append(current_tenant.get())
        return await super().run_chunk(work, *args, **kwargs)


async def import_all(journal: SqliteJournal, *requests: ImportRequest) -> list[str]:
    """Import the requests, and return the tenants of their work."""
    executors = RecordingExecutors()
    memory = WorkingMemory(journal, CounterRegistry("chars4"), WorkingLimits())
    unused: Any = None
    handler = ImportHandler(
        parser=RecordParser(memory.add.validator, unused, 1_000),
        memory=memory,
        facts=unused,
        artifacts=unused,
        documents=documents_over(journal),
        summaries=unused,
        executors=executors,
        streams=InFlightCounter(1, "streams"),
    )

    async def stream() -> AsyncIterator[ImportRequest]:
        for request in requests:
            current_tenant.set(request.namespace)  # as the admission of each request does
            yield request

    async for _ in handler.import_records(stream()):
        pass
    executors.close()
    return executors.tenants


def test_work_is_that_of_the_namespace_of_its_record(tmp_path: Path) -> None:
    document = ArchiveRecord(user_id="ann", document=Document(id="d", text="a text"))
    policy = ArchiveRecord(policy=SessionPolicy(auto_prune_tokens=1_000))
    given = [(name, record) for name in ("red", "blue") for record in (document, policy)]
    with closing(SqliteJournal(tmp_path)) as journal:
        requests = [ImportRequest(namespace=name, record=record) for name, record in given]
        tenants = asyncio.run(import_all(journal, *requests))
    assert tenants == ["red"] * 3 + ["blue"] * 3
