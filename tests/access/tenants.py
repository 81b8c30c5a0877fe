"""Two tenants that use the same ids. All content of a tenant contains its own canary."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message as Proto
from google.protobuf.struct_pb2 import Struct, Value
from google.protobuf.timestamp_pb2 import Timestamp

from memsidecar.access.policy import AccessRole
from memsidecar.v1 import context_pb2 as context
from memsidecar.v1 import knowledge_pb2 as knowledge
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1 import message_pb2 as message
from memsidecar.v1 import session_pb2 as session
from tests.access.access_files import Grant
from tests.support import canaries

HOSTILE = [
    "*",
    "a",
    "a/b",
    "a:b",
    "a b",
    "A",
    "a' OR '1'='1",
    'x"; DROP TABLE sessions; --',
    "../..",
    "%",
    "_",
    "\u00e9",
    "e\u0301",
    "default",
    "l" * 256,
    "l" * 255,
]
"Ids of users, sessions, messages, documents: of both tenants alike."

NEIGHBOURS = [
    ("{}", "{}/"),
    ("{}a", "{}a:b"),
    ("{}'", "{}''"),
    ("{}%", "{}_"),
    ("{}\u00e9", "{}e\u0301"),
    ("{}*", "{}**"),
    ("n{}", "N{}"),
    ("{}\\", "{}\\\\"),
    ("{} ", "{}  "),
    ("{}" + "l" * 240, "{}" + "l" * 241),
]
"Pairs of similar namespaces."

CANARIES = re.compile(rb"(?:left|right)[a-z]+canary", re.IGNORECASE)
SCOPES = (message.SCOPE_SESSION, message.SCOPE_USER, message.SCOPE_NAMESPACE, message.SCOPE_UNSPECIFIED)


@dataclass(frozen=True)
class Tenant:
    namespace: str
    canary: str
    grant: Grant

    def foreign_canaries(self, seen: bytes) -> list[bytes]:
        """Return the canaries of other tenants in a response."""
        return [word for word in CANARIES.findall(seen) if word.lower() != self.canary.encode()]


Pair = tuple[Tenant, Tenant]


def pairs(many: int) -> list[Pair]:
    return [_pair(at) for at in range(many)]


def _pair(at: int) -> Pair:
    word = "".join(chr(ord("a") + int(digit)) for digit in str(at))
    left, right = (name.format(at) for name in NEIGHBOURS[at % len(NEIGHBOURS)])
    return _tenant(left, f"left{word}canary"), _tenant(right, f"right{word}canary")


def _tenant(namespace: str, canary: str) -> Tenant:
    return Tenant(namespace, canaries.secret(canary), Grant(canary, (namespace,), AccessRole.ADMIN))


@dataclass(frozen=True)
class Step:
    """One call, of either tenant. `thing` chooses one of a few objects, `way` a variant of the request."""

    method: str
    user_id: str
    session_id: str
    thing: int
    way: int


@dataclass(frozen=True)
class StepRequest:
    """A step of one tenant. `query` may be the other's canary; `fact_id` is from an earlier response."""

    step: Step
    tenant: Tenant
    query: str
    fact_id: str

    def requests(self) -> list[Proto]:
        """Return the requests; several for a stream."""
        made = _BUILDERS[self.step.method](self)
        return made if isinstance(made, list) else [made]

    @property
    def scope_ids(self) -> dict[str, Any]:
        step = self.step
        return {"namespace": self.tenant.namespace, "user_id": step.user_id, "session_id": step.session_id}

    @property
    def document_owner(self) -> dict[str, Any]:
        """Return the owner of a document: a session, a user, or the namespace."""
        left_out = (None, "session_id", "user_id")[self.step.way % 3]
        chosen = {key: value for key, value in self.scope_ids.items() if key != left_out}
        return {"namespace": self.tenant.namespace} if left_out == "user_id" else chosen

    @property
    def id(self) -> str:
        return HOSTILE[self.step.thing]

    @property
    def content(self) -> str:
        return f"{self.tenant.canary} saw {1 + self.step.thing} herons in the reeds. I like {self.tenant.canary}."

    @property
    def tags(self) -> Struct:
        word = Value(string_value=self.tenant.canary)
        return Struct(fields={self.tenant.canary: word, "thing": Value(number_value=self.step.thing)})

    @property
    def scope(self) -> message.Scope:
        return SCOPES[self.step.way % len(SCOPES)]

    def message(self, suffix: str = "", role: message.Role = message.ROLE_USER, **fields: Any) -> message.Message:
        return message.Message(
            id=f"{self.id[:200]}{suffix}",
            role=role,
            content=fields.pop("content", self.content),
            name=self.tenant.canary,
            metadata=self.tags,
            create_time=Timestamp(seconds=1_800_000_000 + self.step.thing),
            **fields,
        )


def _batch(request: StepRequest) -> memory.AddBatchRequest:
    wanted = message.ToolCall(id="call", name=request.tenant.canary, arguments_json=request.content)
    called = request.message("/call", message.ROLE_ASSISTANT, content="", tool_calls=[wanted])
    result = request.message("/result", message.ROLE_TOOL, content=request.content * 5, tool_call_id="call")
    return memory.AddBatchRequest(**request.scope_ids, messages=[called, result])


def _stream(request: StepRequest) -> list[Proto]:
    return [memory.AddStreamRequest(**request.scope_ids, message=request.message(f"/{at}")) for at in range(3)]


def _interaction(request: StepRequest) -> Proto:
    return memory.StoreInteractionRequest(
        **request.scope_ids,
        interaction_id=request.id[:200],
        user_message=request.content,
        assistant_message=request.content,
        metadata=request.tags,
    )


def _search(request: StepRequest) -> Proto:
    mode = memory.SearchMode.Name(1 + request.step.thing % 4)
    return memory.SearchRequest(
        **request.scope_ids, query=request.query, mode=mode, scope=request.scope, limit=1 + request.step.way
    )


def _context(request: StepRequest) -> Proto:
    return context.BuildContextRequest(
        **request.scope_ids, query=f"herons {request.tenant.canary}", scope=request.scope, max_tokens=2_000, debug=True
    )


def _facts(request: StepRequest) -> Proto:
    kinds = (knowledge.FACT_TYPE_USER_PROFILE, knowledge.FACT_TYPE_INTEREST)
    facts = [
        knowledge.Fact(
            type=kind, key=f"key {request.id[:200]}", value=request.content, confidence=0.9 - at / 10, pinned=at > 0
        )
        for at, kind in enumerate(kinds)
    ]
    return knowledge.PutFactsRequest(**request.scope_ids, facts=facts)


def _artifact(request: StepRequest) -> Proto:
    moved = f"{request.id[:200]}/result" if request.step.way == 0 else ""
    content = "" if moved else request.content
    made = knowledge.Artifact(id=request.id, source=request.tenant.canary, content=content, metadata=request.tags)
    return knowledge.PutArtifactRequest(**request.scope_ids, artifact=made, offload_message_id=moved)


def _document(request: StepRequest) -> Proto:
    word = request.tenant.canary
    text = knowledge.Document(id=request.id, title=word, source=word, text=request.content, metadata=request.tags)
    return knowledge.PutDocumentRequest(**request.document_owner, document=text)


def _import(request: StepRequest) -> list[Proto]:
    """Return records of one session: a message, a fact and a document."""
    owner: dict[str, Any] = {"user_id": request.step.user_id, "session_id": request.step.session_id}
    fact = knowledge.Fact(id=request.id, type=knowledge.FACT_TYPE_DOMAIN, key="imported", value=request.tenant.canary)
    records = [
        session.ArchiveRecord(**owner, message=request.message("/imported")),
        session.ArchiveRecord(**owner, fact=fact),
        session.ArchiveRecord(**owner, document=knowledge.Document(id=request.id, text=request.content)),
    ]
    return [session.ImportRequest(namespace=request.tenant.namespace, record=record) for record in records]


def _policy(request: StepRequest) -> Proto:
    scope_ids = {**request.scope_ids, "session_id": "" if request.step.way == 0 else request.step.session_id}
    return session.SetPolicyRequest(
        **scope_ids, policy=session.SessionPolicy(auto_prune_tokens=200 * request.step.thing, model="normal")
    )


_BUILDERS: dict[str, Callable[[StepRequest], Proto | list[Proto]]] = {
    "Add": lambda request: memory.AddRequest(**request.scope_ids, message=request.message(), return_session=True),
    "AddBatch": _batch,
    "AddStream": _stream,
    "StoreInteraction": _interaction,
    "Annotate": lambda request: memory.AnnotateRequest(
        **request.scope_ids, message_id=request.id, evaluation_score=8, metadata=request.tags
    ),
    "GetAll": lambda request: memory.GetAllRequest(**request.scope_ids, include_pruned=request.step.way > 1),
    "GetRecent": lambda request: memory.GetRecentRequest(**request.scope_ids, n=5),
    "GetByRole": lambda request: memory.GetByRoleRequest(**request.scope_ids, role=message.ROLE_TOOL),
    "Search": _search,
    "Count": lambda request: memory.CountRequest(**request.scope_ids, model="m" if request.step.way else ""),
    "Prune": lambda request: memory.PruneRequest(
        **request.scope_ids, max_tokens=60, dry_run=request.step.way > 1, overflow=True
    ),
    "Clear": lambda request: memory.ClearRequest(**request.scope_ids),
    "BuildContext": _context,
    "ReportUsage": lambda request: memory.ReportUsageRequest(
        **request.scope_ids, model="m", estimated_tokens=100, actual_tokens=100 + 10 * request.step.thing
    ),
    "ListSessions": lambda request: session.ListSessionsRequest(
        namespace=request.tenant.namespace,
        user_id=request.step.user_id if request.step.way else "",
        page_size=1 + request.step.thing,
    ),
    "GetSession": lambda request: session.GetSessionRequest(**request.scope_ids),
    "ListUsers": lambda request: session.ListUsersRequest(
        namespace=request.tenant.namespace,
        user_id_prefix=request.step.user_id[:1] if request.step.way else "",
        page_size=1 + request.step.thing,
    ),
    "GetUsage": lambda request: session.GetUsageRequest(namespace=request.tenant.namespace),
    "SetPolicy": _policy,
    "DeleteSession": lambda request: session.DeleteSessionRequest(**request.scope_ids, dry_run=request.step.way > 1),
    "ForgetMessage": lambda request: session.ForgetMessageRequest(
        **request.scope_ids, message_id=request.id, dry_run=request.step.way > 1
    ),
    "ForgetUser": lambda request: session.ForgetUserRequest(
        namespace=request.tenant.namespace, user_id=request.step.user_id, dry_run=request.step.way > 1
    ),
    "Watch": lambda request: session.WatchRequest(**request.scope_ids),
    "Export": lambda request: session.ExportRequest(
        namespace=request.tenant.namespace, user_id=request.step.user_id if request.step.way else ""
    ),
    "Import": _import,
    "PutFacts": _facts,
    "ListFacts": lambda request: knowledge.ListFactsRequest(**request.scope_ids, include_history=True),
    "DeleteFact": lambda request: knowledge.DeleteFactRequest(**request.scope_ids, fact_id=request.fact_id),
    "PutArtifact": _artifact,
    "ListArtifacts": lambda request: knowledge.ListArtifactsRequest(**request.scope_ids),
    "DeleteArtifact": lambda request: knowledge.DeleteArtifactRequest(**request.scope_ids, artifact_id=request.id),
    "PutDocument": _document,
    "ListDocuments": lambda request: knowledge.ListDocumentsRequest(**request.document_owner),
    "DeleteDocument": lambda request: knowledge.DeleteDocumentRequest(**request.document_owner, document_id=request.id),
    "SearchDocuments": lambda request: knowledge.SearchDocumentsRequest(
        **request.scope_ids, query=request.query, limit=5
    ),
    "GetSummary": lambda request: knowledge.GetSummaryRequest(**request.scope_ids),
    "Summarize": lambda request: knowledge.SummarizeRequest(**request.scope_ids),
    "GetPatterns": lambda request: knowledge.GetPatternsRequest(**request.scope_ids, refresh=True),
}

READS = {
    "GetAll": [(0, 2)],
    "Count": [(0, 0), (0, 1)],
    "GetSession": [(0, 0)],
    "ListSessions": [(0, 0), (3, 1)],
    "ListUsers": [(3, 0), (3, 1)],
    "GetUsage": [(0, 0)],
    "Search": [(mode, (mode + turn) % 4) for mode in range(4) for turn in (0, 1, 2)],
    "BuildContext": [(0, way) for way in range(3)],
    "ListFacts": [(0, 0)],
    "ListArtifacts": [(0, 0)],
    "ListDocuments": [(0, way) for way in range(3)],
    "SearchDocuments": [(0, 0), (1, 2)],
    "GetSummary": [(0, 0)],
    "GetPatterns": [(0, 0)],
}
"Reads, with the things and ways of their steps."


def read_steps(users: list[str], session_id: str) -> list[Step]:
    """Return reads of everything, with all variants."""
    return [
        Step(method, user_id, session_id, thing, way)
        for user_id in users
        for method, variants in READS.items()
        for thing, way in variants
    ]


def namespace_wide_steps(user_id: str, session_id: str) -> list[Step]:
    """Return writes with the widest effect: default policy, calibration, documents and facts of the namespace."""
    return [
        Step("SetPolicy", user_id, "", 1, 0),
        Step("ReportUsage", "", "", 3, 0),
        Step("Add", user_id, session_id, 3, 0),
        Step("PutDocument", user_id, session_id, 3, 2),
        Step("PutDocument", user_id, session_id, 3, 1),
        Step("PutFacts", user_id, session_id, 3, 0),
    ]
