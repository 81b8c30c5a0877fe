"""A client of memsidecar, the memory of LLM agents: Client for threads, AsyncClient for asyncio.

Requests are keywords, answers are the messages of the contract, errors are in memsidecar_client.errors.
"""

from memsidecar_client._ids import new_id
from memsidecar_client._version import VERSION as __version__
from memsidecar_client.client import AsyncClient, Client
from memsidecar_client.errors import MemsidecarError
from memsidecar_client.v1.context_pb2 import BuildContextResponse, Section, SectionBudget
from memsidecar_client.v1.knowledge_pb2 import Artifact, Document, Fact, FactType
from memsidecar_client.v1.memory_pb2 import AddStreamRequest, PruneStrategy, SearchMode
from memsidecar_client.v1.message_pb2 import Message, Role, Scope, ToolCall
from memsidecar_client.v1.session_pb2 import ArchiveRecord, ImportRequest, Session, SessionPolicy

__all__ = [
    "AddStreamRequest",
    "ArchiveRecord",
    "Artifact",
    "AsyncClient",
    "BuildContextResponse",
    "Client",
    "Document",
    "Fact",
    "FactType",
    "ImportRequest",
    "MemsidecarError",
    "Message",
    "PruneStrategy",
    "Role",
    "Scope",
    "SearchMode",
    "Section",
    "SectionBudget",
    "Session",
    "SessionPolicy",
    "ToolCall",
    "__version__",
    "new_id",
]
