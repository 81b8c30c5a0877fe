"""Made by clients/python/generate.py out of the contract; do not edit.

What a request takes in place of a message: a dict, with a key for each field that is given. And what it takes in place
of an enumeration's value: its name.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal, Required, TypedDict

from google.protobuf.timestamp_pb2 import Timestamp

from memsidecar_client.v1.context_pb2 import (
    Section,
)
from memsidecar_client.v1.knowledge_pb2 import (
    Artifact,
    Document,
    Fact,
    FactType,
    Summary,
)
from memsidecar_client.v1.memory_pb2 import (
    PruneStrategy,
)
from memsidecar_client.v1.message_pb2 import Message, Role, ToolCall
from memsidecar_client.v1.session_pb2 import (
    ArchiveRecord,
    SessionPolicy,
)

RoleName = Literal["system", "user", "assistant", "tool"]
SearchModeName = Literal["substring", "keyword", "semantic", "hybrid"]
ScopeName = Literal["session", "user", "namespace"]
PruneStrategyName = Literal["recency", "turns", "window", "importance"]
SectionName = Literal[
    "system",
    "profile",
    "facts",
    "hints",
    "summary",
    "documents",
    "episodic",
    "artifacts",
    "working",
    "tool_schemas",
    "output_reserve",
    "framing",
]
FactTypeName = Literal["user_profile", "interest", "preference", "action_item", "sentiment", "question", "domain"]


class ToolCallDict(TypedDict, total=False):
    """One call of a tool by the assistant. Providers reuse ids, so an answer belongs to the nearest earlier open
    call with its id. A call and its answers form an exchange, which is never split: they are in the window
    together or out of it together. An answer that arrives after its call was pruned brings the call back into
    the window. A call without an answer is open.

    id: As the provider gave it, 1 to 256 bytes. Need not be unique in the session.
    name: The tool's name, 1 to 256 bytes.
    arguments_json: The arguments as the model wrote them; stored as text, valid JSON or not.
    """

    id: str
    name: str
    arguments_json: str


class MessageDict(TypedDict, total=False):
    """One message of a conversation. Content and every other text must be valid UTF-8. All of a message together
    may have at most 1 MiB (setting max_message_bytes), else RESOURCE_EXHAUSTED with reason TOO_LARGE.

    id: Unique in its session, 1 to 256 bytes without control characters. Empty in a request: the server makes a
        UUIDv7. Given: the idempotency key. The same id with the same role, content, name, tool calls and
        tool_call_id again is answered as a duplicate and changes nothing; with another body it is
        ALREADY_EXISTS, reason ID_CONFLICT.
    role: Required.
    content: Plain text; special-token text in it is text. May be empty only for an assistant message with tool
        calls.
    name: The speaker, where there are several. A query that names the speaker ranks what they said higher.
    tool_calls: Assistant messages only. Several calls in one message are parallel calls.
    tool_call_id: Tool messages only: the call that this answers. A tool message may lack it; it is then an
        answer without a call, which is stored and leaves the window with its neighbours.
    create_time: When it was said. Set by the server when absent.
    metadata: Tags: at most 16 KiB, 8 levels deep. Numbers are doubles, as in JSON.
    evaluation_score: How good the exchange was, 0 to 10. Usually set later, with Annotate. Absent means not
        judged, which is not 0: the quality filter of episodic retrieval looks only at messages that have a
        score.
    sequence: Output only. 1, 2, 3 ... in each session, in the order of acknowledgement; never reused, not even
        after Clear.
    tokens: Output only. As a provider counts it: content, tool calls and role marker, by the server's default
        tokenizer.
    reasoning: The assistant's thinking. Stored and searchable on request; never rendered into a context unless
        asked for.
    vector: Input only: a vector for this message from the caller's own embedder, of the configured dimensions
        (setting embedder_dimensions), each number finite, else INVALID_ARGUMENT. Need not have length 1. Empty:
        the server embeds the content and the tool calls itself.
    synthetic: Output only: this message was composed by the sidecar (a memory block, a shortened tool result),
        not stored. The original of a shortened tool result stays stored and searchable.
    """

    id: str
    role: Required[Role | RoleName]
    content: str
    name: str
    tool_calls: Iterable[ToolCall | ToolCallDict]
    tool_call_id: str
    create_time: datetime | Timestamp | None
    metadata: Mapping[str, Any] | None
    evaluation_score: float | None
    sequence: int
    tokens: int
    reasoning: str
    vector: Iterable[float]
    synthetic: bool


class AddStreamRequestDict(TypedDict, total=False):
    """One message of a stream.

    namespace: Empty means "default".
    user_id: Optional, as in AddRequest.
    session_id: Required.
    message: Required. Give ids, so that an interrupted stream can be sent again.
    """

    namespace: str
    user_id: str
    session_id: Required[str]
    message: Required[Message | MessageDict]


class SectionBudgetDict(TypedDict, total=False):
    """What the caller changes about one section. What is absent stays at its default.

    section: Required, and each section at most once. Tool schemas, output reserve and framing have no budget of
        their own: they are INVALID_ARGUMENT.
    max_tokens: In place of the scaled default cap. From 0 on; 0 leaves no room. The system section is never
        cut: of it the log warns above this.
    top_k: In place of the default number of items (turns, for the working section). From 0 on. Of retrieved
        chunks there are never more than 5 (setting documents_top_k_max).
    min_tokens: Reductions stop here; 0 where not given. From 0 on.
    disabled: The section is not filled at all.
    """

    section: Section | SectionName
    max_tokens: int | None
    top_k: int | None
    min_tokens: int | None
    disabled: bool


class SessionPolicyDict(TypedDict, total=False):
    """How a session keeps itself in bounds.

    auto_prune_tokens: 0: never prune by itself. Else, when the window passes this many tokens, it is pruned to
        80 % of them, so that the prefix stays the same for many turns and not for one.
    strategy: For automatic pruning. Unspecified: recency.
    summarize: Bring the rolling summary up to what is pruned first, as with Prune. Of no effect where nothing
        is pruned automatically; a session is summarised in the background all the same (setting
        summary_every_messages).
    model: The model that the session talks to, for counting and its budget. Empty: the server's default
        tokenizer. "short", "normal" and "long" stand for budgets of 4,000, 16,000 and 32,000 tokens with the
        default tokenizer.
    """

    auto_prune_tokens: int
    strategy: PruneStrategy | PruneStrategyName
    summarize: bool
    model: str


class FactDict(TypedDict, total=False):
    """Something known about a user.

    id: Output only.
    type: Required.
    key: For example "name", "company", "likes". A key holds one current value, unless the fact's type is a list
        by nature (interests, action items, questions). Required, 1 to 256 bytes without control characters.
    value: What is known. Required, not only white space, at most 16 KiB.
    confidence: 0 to 1. 0 in PutFacts means that nothing is said about it, and is taken as 1.
    valid_from: Since when it holds. Absent in PutFacts: since it was first seen.
    valid_until: Output only; set when superseded.
    extracted_at: When it was first seen. Absent in PutFacts: now, or last_updated if that is earlier.
    last_updated: When it was last seen. Absent in PutFacts: now.
    session_id: The session that it first came from. Absent in PutFacts: the request's.
    source_message_ids: The messages that it first came from, in that session; at most 100. When all of them are
        erased, so is the fact: with DeleteSession, while Clear leaves it. Seen in another session since, it
        goes with that one; told by a caller without messages, with none.
    origin: "client", "rules" or the model's name. Output only.
    pinned: Always in the context, before the others.
    """

    id: str
    type: Required[FactType | FactTypeName]
    key: Required[str]
    value: Required[str]
    confidence: float
    valid_from: datetime | Timestamp | None
    valid_until: datetime | Timestamp | None
    extracted_at: datetime | Timestamp | None
    last_updated: datetime | Timestamp | None
    session_id: str
    source_message_ids: Iterable[str]
    origin: str
    pinned: bool


class SummaryDict(TypedDict, total=False):
    """A rolling summary: what was said in a range of messages. The messages themselves stay.

    id: Made by the server.
    text: The summary.
    tokens: Of the text, by the server's default tokenizer; at most 400 by default (setting summary_budget).
    first_sequence: The messages it covers.
    last_sequence: The newest message that it covers, itself included.
    create_time: When it was made.
    origin: "extractive" or the model's name.
    """

    id: str
    text: str
    tokens: int
    first_sequence: int
    last_sequence: int
    create_time: datetime | Timestamp | None
    origin: str


class ArtifactDict(TypedDict, total=False):
    """A compact result of a tool: a snippet of a web search, say.

    Artifacts are erased with DeleteSession. Clear erases those that hold a message, and leaves the others.

    id: Unique in its session. Empty in a request: made by the server; of an offloaded message always the same.
        Given: putting it again replaces it.
    source: Where it came from: a tool's name, a URL. At most 1,024 bytes. Of an offloaded message, its name if
        empty.
    content: The text, at most 1 MiB (setting max_message_bytes). Required, unless a message is offloaded: then
        it must be empty, and becomes the message's whole content.
    create_time: Set by the server when absent. As long as the content stays the same, so does this.
    expire_time: After this it is neither listed nor put into a context. Must be after create_time. Absent:
        never.
    metadata: Tags: at most 16 KiB, 8 levels deep.
    tokens: Output only. Of the content, by the server's default tokenizer.
    message_id: Output only. The tool message whose large result this is, if it was offloaded.
    """

    id: str
    source: str
    content: str
    create_time: datetime | Timestamp | None
    expire_time: datetime | Timestamp | None
    metadata: Mapping[str, Any] | None
    tokens: int
    message_id: str


class DocumentDict(TypedDict, total=False):
    """A text to retrieve from, kept in chunks.

    A chunk is a stretch of the text of at most 300 tokens (setting chunk_size), counted exactly. It ends at the
    last paragraph in its second half, else at the last line, else sentence, else word. A code block that fits
    is kept whole, and a heading stays with what follows it. A chunk begins with the end of the one before: as
    many whole sentences or lines of it as fit into 50 tokens (setting chunk_overlap), so that what stands on
    the border is found. After a change of these settings a document is cut anew when it is put again.

    A document is put for somebody, and found by nobody else: for a session where the request names one, else
    for a user where it names one, else for everybody in the namespace. The same id put for another is another
    document. A session's documents are erased with DeleteSession; Clear leaves them.

    id: Required, 1 to 256 bytes without control characters. Chosen by the caller; putting it again replaces it.
    title: For people; not required, not searched. At most 1,024 bytes.
    text: Input only. Required, not only white space, at most 3 MiB (setting max_document_bytes).
    source: Where it came from: a file name, a URL. At most 1,024 bytes.
    metadata: Tags: at most 16 KiB, 8 levels deep.
    create_time: When it was written, or put. Set by the server when absent. As long as the text stays the same,
        so does this.
    chunk_count: Output only. How many chunks it has.
    tokens: Output only. Of the text, by the server's default tokenizer.
    sha256: Output only. Lower-case hex SHA-256 of the text.
    """

    id: Required[str]
    title: str
    text: Required[str]
    source: str
    metadata: Mapping[str, Any] | None
    create_time: datetime | Timestamp | None
    chunk_count: int
    tokens: int
    sha256: str


class ArchiveRecordDict(TypedDict, total=False):
    """One line of an archive.

    user_id: Empty for what belongs to the namespace.
    session_id: Empty for what belongs to the user or to the namespace.
    message: A message, at its place in the session.
    fact: A fact, current or superseded.
    summary: A rolling summary.
    artifact: A tool artifact.
    document: A document with its text; its chunks are made anew on import.
    policy: The policy of the session, or without session_id of the namespace.
    pruned: The message is out of the window.
    """

    user_id: str
    session_id: str
    message: Message | MessageDict | None
    fact: Fact | FactDict | None
    summary: Summary | SummaryDict | None
    artifact: Artifact | ArtifactDict | None
    document: Document | DocumentDict | None
    policy: SessionPolicy | SessionPolicyDict | None
    pruned: bool


class ImportRequestDict(TypedDict, total=False):
    """One record to store.

    namespace: Empty means "default". May differ from the one that was exported.
    record: Required.
    """

    namespace: str
    record: Required[ArchiveRecord | ArchiveRecordDict]
