"""A client of memsidecar, the memory of LLM agents: Client for threads, AsyncClient for asyncio.

Requests are keywords, answers are the messages of the contract, errors are in memsidecar_client.errors, and the types
of dicts that stand for messages are in memsidecar_client.dicts.
"""

from memsidecar_client._ids import new_id
from memsidecar_client._version import VERSION as __version__
from memsidecar_client.client import AsyncClient, Client
from memsidecar_client.errors import MemsidecarError
from memsidecar_client.v1.context_pb2 import (
    BuildContextResponse,
    Degradation,
    Inclusion,
    ItemReceipt,
    Receipt,
    Section,
    SectionBudget,
    SectionReceipt,
)
from memsidecar_client.v1.knowledge_pb2 import (
    Artifact,
    Document,
    DocumentChunk,
    DocumentHit,
    Fact,
    FactType,
    Pattern,
    Summary,
)
from memsidecar_client.v1.memory_pb2 import Added, AddStreamRequest, PruneStrategy, SearchHit, SearchMode
from memsidecar_client.v1.message_pb2 import Message, Role, RoleNumbers, Scope, ScoreParts, SessionStats, ToolCall
from memsidecar_client.v1.session_pb2 import (
    ArchivedSession,
    ArchiveRecord,
    Calibration,
    ErasureReceipt,
    EventKind,
    ImportRequest,
    NamespaceQuota,
    NamespaceUsage,
    Retention,
    RetentionLimits,
    Session,
    SessionPolicy,
    User,
)

__all__ = [
    "AddStreamRequest",
    "Added",
    "ArchiveRecord",
    "ArchivedSession",
    "Artifact",
    "AsyncClient",
    "BuildContextResponse",
    "Calibration",
    "Client",
    "Degradation",
    "Document",
    "DocumentChunk",
    "DocumentHit",
    "ErasureReceipt",
    "EventKind",
    "Fact",
    "FactType",
    "ImportRequest",
    "Inclusion",
    "ItemReceipt",
    "MemsidecarError",
    "Message",
    "NamespaceQuota",
    "NamespaceUsage",
    "Pattern",
    "PruneStrategy",
    "Receipt",
    "Retention",
    "RetentionLimits",
    "Role",
    "RoleNumbers",
    "Scope",
    "ScoreParts",
    "SearchHit",
    "SearchMode",
    "Section",
    "SectionBudget",
    "SectionReceipt",
    "Session",
    "SessionPolicy",
    "SessionStats",
    "Summary",
    "ToolCall",
    "User",
    "__version__",
    "new_id",
]
