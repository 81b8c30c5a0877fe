"""Two tenants who call everything the same, each with a word of its own in all that it says."""

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
from tests.access.calls import minimal
from tests.bad_input.rpcs import NOT_IMPLEMENTED
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
"Namespaces of two tenants that are easily taken for each other."

CANARIES = re.compile(rb"(?:left|right)[a-z]+canary", re.IGNORECASE)
SCOPES = (message.SCOPE_SESSION, message.SCOPE_USER, message.SCOPE_NAMESPACE, message.SCOPE_UNSPECIFIED)


@dataclass(frozen=True)
class Tenant:
    namespace: str
    canary: str
    grant: Grant

    def is_betrayed_by(self, seen: bytes) -> list[bytes]:
        """Words of others in what this one got to see."""
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
    """One call, whoever makes it. `thing` says which of a few things, `way` which way to ask."""

    method: str
    user_id: str
    session_id: str
    thing: int
    way: int


@dataclass(frozen=True)
class Asking:
    """A step as one tenant takes it. `query` may be a word of the other's; `fact_id` comes from an earlier answer."""

    step: Step
    tenant: Tenant
    query: str
    fact_id: str

    def requests(self) -> list[Proto]:
        """What to send; more than one to a stream."""
        if self.step.method in NOT_IMPLEMENTED:
            return [minimal(self.step.method, self.tenant.namespace, self.step.session_id)]
        made = _BUILDERS[self.step.method](self)
        return made if isinstance(made, list) else [made]

    @property
    def place(self) -> dict[str, Any]:
        step = self.step
        return {"namespace": self.tenant.namespace, "user_id": step.user_id, "session_id": step.session_id}

    @property
    def shelf(self) -> dict[str, Any]:
        """A document is for a session, for a user, or for everybody."""
        left_out = (None, "session_id", "user_id")[self.step.way % 3]
        chosen = {key: value for key, value in self.place.items() if key != left_out}
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

    def said(self, suffix: str = "", role: message.Role = message.ROLE_USER, **fields: Any) -> message.Message:
        return message.Message(
            id=f"{self.id[:200]}{suffix}",
            role=role,
            content=fields.pop("content", self.content),
            name=self.tenant.canary,
            metadata=self.tags,
            create_time=Timestamp(seconds=1_800_000_000 + self.step.thing),
            **fields,
        )


def _batch(ask: Asking) -> memory.AddBatchRequest:
    wanted = message.ToolCall(id="call", name=ask.tenant.canary, arguments_json=ask.content)
    called = ask.said("/call", message.ROLE_ASSISTANT, content="", tool_calls=[wanted])
    result = ask.said("/result", message.ROLE_TOOL, content=ask.content * 5, tool_call_id="call")
    return memory.AddBatchRequest(**ask.place, messages=[called, result])


def _stream(ask: Asking) -> list[Proto]:
    return [memory.AddStreamRequest(**ask.place, message=ask.said(f"/{at}")) for at in range(3)]


def _interaction(ask: Asking) -> Proto:
    return memory.StoreInteractionRequest(
        **ask.place,
        interaction_id=ask.id[:200],
        user_message=ask.content,
        assistant_message=ask.content,
        metadata=ask.tags,
    )


def _search(ask: Asking) -> Proto:
    mode = memory.SearchMode.Name(1 + ask.step.thing % 4)
    return memory.SearchRequest(**ask.place, query=ask.query, mode=mode, scope=ask.scope, limit=1 + ask.step.way)


def _context(ask: Asking) -> Proto:
    return context.BuildContextRequest(
        **ask.place, query=f"herons {ask.tenant.canary}", scope=ask.scope, max_tokens=2_000, debug=True
    )


def _facts(ask: Asking) -> Proto:
    kinds = (knowledge.FACT_TYPE_USER_PROFILE, knowledge.FACT_TYPE_INTEREST)
    facts = [
        knowledge.Fact(type=kind, key=f"key {ask.id[:200]}", value=ask.content, confidence=0.9 - at / 10, pinned=at > 0)
        for at, kind in enumerate(kinds)
    ]
    return knowledge.PutFactsRequest(**ask.place, facts=facts)


def _artifact(ask: Asking) -> Proto:
    moved = f"{ask.id[:200]}/result" if ask.step.way == 0 else ""
    content = "" if moved else ask.content
    made = knowledge.Artifact(id=ask.id, source=ask.tenant.canary, content=content, metadata=ask.tags)
    return knowledge.PutArtifactRequest(**ask.place, artifact=made, offload_message_id=moved)


def _document(ask: Asking) -> Proto:
    word = ask.tenant.canary
    text = knowledge.Document(id=ask.id, title=word, source=word, text=ask.content, metadata=ask.tags)
    return knowledge.PutDocumentRequest(**ask.shelf, document=text)


def _policy(ask: Asking) -> Proto:
    place = {**ask.place, "session_id": "" if ask.step.way == 0 else ask.step.session_id}
    return session.SetPolicyRequest(
        **place, policy=session.SessionPolicy(auto_prune_tokens=200 * ask.step.thing, model="normal")
    )


_BUILDERS: dict[str, Callable[[Asking], Proto | list[Proto]]] = {
    "Add": lambda ask: memory.AddRequest(**ask.place, message=ask.said(), return_session=True),
    "AddBatch": _batch,
    "AddStream": _stream,
    "StoreInteraction": _interaction,
    "Annotate": lambda ask: memory.AnnotateRequest(
        **ask.place, message_id=ask.id, evaluation_score=8, metadata=ask.tags
    ),
    "GetAll": lambda ask: memory.GetAllRequest(**ask.place, include_pruned=ask.step.way > 1),
    "GetRecent": lambda ask: memory.GetRecentRequest(**ask.place, n=5),
    "GetByRole": lambda ask: memory.GetByRoleRequest(**ask.place, role=message.ROLE_TOOL),
    "Search": _search,
    "Count": lambda ask: memory.CountRequest(**ask.place, model="m" if ask.step.way else ""),
    "Prune": lambda ask: memory.PruneRequest(**ask.place, max_tokens=60, dry_run=ask.step.way > 1, overflow=True),
    "Clear": lambda ask: memory.ClearRequest(**ask.place),
    "BuildContext": _context,
    "ReportUsage": lambda ask: memory.ReportUsageRequest(
        **ask.place, model="m", estimated_tokens=100, actual_tokens=100 + 10 * ask.step.thing
    ),
    "ListSessions": lambda ask: session.ListSessionsRequest(
        namespace=ask.tenant.namespace, user_id=ask.step.user_id if ask.step.way else "", page_size=1 + ask.step.thing
    ),
    "GetSession": lambda ask: session.GetSessionRequest(**ask.place),
    "SetPolicy": _policy,
    "DeleteSession": lambda ask: session.DeleteSessionRequest(**ask.place, dry_run=ask.step.way > 1),
    "PutFacts": _facts,
    "ListFacts": lambda ask: knowledge.ListFactsRequest(**ask.place, include_history=True),
    "DeleteFact": lambda ask: knowledge.DeleteFactRequest(**ask.place, fact_id=ask.fact_id),
    "PutArtifact": _artifact,
    "ListArtifacts": lambda ask: knowledge.ListArtifactsRequest(**ask.place),
    "DeleteArtifact": lambda ask: knowledge.DeleteArtifactRequest(**ask.place, artifact_id=ask.id),
    "PutDocument": _document,
    "ListDocuments": lambda ask: knowledge.ListDocumentsRequest(**ask.shelf),
    "DeleteDocument": lambda ask: knowledge.DeleteDocumentRequest(**ask.shelf, document_id=ask.id),
    "SearchDocuments": lambda ask: knowledge.SearchDocumentsRequest(**ask.place, query=ask.query, limit=5),
    "GetSummary": lambda ask: knowledge.GetSummaryRequest(**ask.place),
    "Summarize": lambda ask: knowledge.SummarizeRequest(**ask.place),
    "GetPatterns": lambda ask: knowledge.GetPatternsRequest(**ask.place, refresh=True),
}

LOOKS = {
    "GetAll": [(0, 2)],
    "Count": [(0, 0), (0, 1)],
    "GetSession": [(0, 0)],
    "ListSessions": [(0, 0), (3, 1)],
    "Search": [(mode, (mode + turn) % 4) for mode in range(4) for turn in (0, 1, 2)],
    "BuildContext": [(0, way) for way in range(3)],
    "ListFacts": [(0, 0)],
    "ListArtifacts": [(0, 0)],
    "ListDocuments": [(0, way) for way in range(3)],
    "SearchDocuments": [(0, 0), (1, 2)],
    "GetSummary": [(0, 0)],
    "GetPatterns": [(0, 0)],
}
"Reads, with the things and ways in which to ask for them."


def looking_around(users: list[str], session_id: str) -> list[Step]:
    """Reads of all there is, in many ways."""
    return [
        Step(method, user_id, session_id, thing, way)
        for user_id in users
        for method, asked in LOOKS.items()
        for thing, way in asked
    ]


def spreading_out(user_id: str, session_id: str) -> list[Step]:
    """What reaches as far as it can: the policy, the calibration, documents and facts for all of a namespace."""
    return [
        Step("SetPolicy", user_id, "", 1, 0),
        Step("ReportUsage", "", "", 3, 0),
        Step("Add", user_id, session_id, 3, 0),
        Step("PutDocument", user_id, session_id, 3, 2),
        Step("PutDocument", user_id, session_id, 3, 1),
        Step("PutFacts", user_id, session_id, 3, 0),
    ]
