"""KnowledgeService on a real server and socket, in a thread of this process, with a client."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from google.protobuf.message_factory import GetMessageClass

from memsidecar.api.artifacts import ArtifactHandlers
from memsidecar.api.documents import DocumentHandlers
from memsidecar.api.executors import Executors
from memsidecar.api.facts import FactHandlers
from memsidecar.api.handlers import HandlerFactory
from memsidecar.api.interceptors.concurrency import InFlightCounter, InFlightLimits
from memsidecar.api.interceptors.deadlines import Deadlines
from memsidecar.api.interceptors.request_log import RequestLog
from memsidecar.api.knowledge_service import KnowledgeService, PatternHandler, SummaryHandlers
from memsidecar.api.page_tokens import KEY_BYTES, PageTokens
from memsidecar.api.server import Server
from memsidecar.domain.network_address import Address
from memsidecar.domain.session import SessionKey
from memsidecar.language.extractive.summarizer import ExtractiveSummarizer
from memsidecar.layers.procedural.memory import ProceduralMemory
from memsidecar.layers.semantic.facts import Facts
from memsidecar.layers.summaries.store import SummaryStore
from memsidecar.layers.summaries.update import SummaryUpdater
from memsidecar.layers.working.memory import WorkingLimits, WorkingMemory
from memsidecar.stores.contract import Journal
from memsidecar.tokens.contract import Counter
from memsidecar.tokens.registry import CounterRegistry
from memsidecar.v1 import knowledge_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.artifacts.components import artifacts_over
from tests.documents.components import COUNTER, KeywordChunkSearch, documents_over
from tests.support.admission import lenient_admission
from tests.support.process import CALL_SECONDS, Client

MAX_REQUEST_BYTES = 4 << 20
METHODS = {method.name: method for method in pb.DESCRIPTOR.services_by_name["KnowledgeService"].methods}


@dataclass(frozen=True)
class KnowledgeServer:
    client: Client
    journal: Journal

    def call(self, name: str, request: Any, seconds: float = CALL_SECONDS) -> Any:
        return self.begin(name, request, seconds).result()

    def begin(self, name: str, request: Any, seconds: float = CALL_SECONDS) -> Any:
        response = GetMessageClass(METHODS[name].output_type)
        path = f"/{METHODS[name].containing_service.full_name}/{name}"
        call: Any = self.client.channel.unary_unary(
            path, request_serializer=lambda one: one.SerializeToString(), response_deserializer=response.FromString
        )
        return call.future(request, timeout=seconds)

    def put(self, document_id: str, text: str, **fields: Any) -> pb.PutDocumentResponse:
        scope = {name: fields.pop(name) for name in ("namespace", "user_id", "session_id") if name in fields}
        request = pb.PutDocumentRequest(document=pb.Document(id=document_id, text=text, **fields), **scope)
        answer: pb.PutDocumentResponse = self.call("PutDocument", request)
        return answer

    def ids(self, **fields: Any) -> list[str]:
        return [document.id for document in self.call("ListDocuments", pb.ListDocumentsRequest(**fields)).documents]

    def say(self, namespace: str, user_id: str, session_id: str) -> None:
        """Create the session for the user."""
        memory = WorkingMemory(self.journal, CounterRegistry("chars4"), WorkingLimits())
        memory.add(SessionKey(namespace, session_id), user_id, [Message(role=ROLE_USER, content="hello")])


@contextmanager
def serving(journal: Journal, counter: Counter = COUNTER) -> Iterator[KnowledgeServer]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server, executors, address = asyncio.run_coroutine_threadsafe(_start(journal, counter), loop).result(30)
    try:
        with Client(str(address)) as client:
            yield KnowledgeServer(client, journal)
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(1), loop).result(30)
        executors.close()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _start(journal: Journal, counter: Counter) -> tuple[Server, Executors, Address]:
    executors = Executors(2)
    methods = HandlerFactory(
        RequestLog("none", 60),
        InFlightLimits(InFlightCounter(256, "calls"), InFlightCounter(32, "streams")),
        Deadlines(30, 300),
        lenient_admission(),
    )
    extractive = ExtractiveSummarizer(counter.count)
    facts = Facts(journal, 10)
    read = WorkingMemory(journal, CounterRegistry("chars4"), WorkingLimits()).read
    summarizer = SummaryUpdater(journal, SummaryStore(journal), extractive, extractive, counter.count, 400)
    page_tokens = PageTokens(bytes(KEY_BYTES))
    documents = documents_over(journal, counter=counter)
    service = KnowledgeService(
        facts=FactHandlers(executors, facts, page_tokens),
        artifacts=ArtifactHandlers(executors, artifacts_over(journal, counter), page_tokens),
        documents=DocumentHandlers(executors, documents, KeywordChunkSearch(journal), page_tokens, 3, 5),
        summaries=SummaryHandlers(executors, read, summarizer),
        patterns=PatternHandler(executors, facts, ProceduralMemory(journal, 100, lambda: None)),
    )
    server = Server(methods, (service,), MAX_REQUEST_BYTES)
    addresses = await server.start(Address(host="127.0.0.1", port=0), None)
    return server, executors, addresses.listen
