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
    """One tool call by the assistant. Providers reuse ids, so a result belongs to the nearest earlier open call
    with its id. A call and its results form an exchange, which is never split: all of it is in the window, or
    none of it. A result that arrives after its call was pruned returns the call to the window. A call without a
    result is open.

    id: The provider's id, 1 to 256 bytes. Need not be unique in the session.
    name: The tool's name, 1 to 256 bytes.
    arguments_json: The arguments as the model wrote them. Stored as text, whether or not it is valid JSON.
    """

    id: str
    name: str
    arguments_json: str


class MessageDict(TypedDict, total=False):
    """One message of a conversation. Every text must be valid UTF-8. A whole message may have at most 1 MiB
    (setting max_message_bytes), else RESOURCE_EXHAUSTED with reason TOO_LARGE.

    id: Unique in its session, 1 to 256 bytes without control characters. Empty in a request: the server makes a
        UUIDv7. The id is the idempotency key: a second message with the same id, role, content, name, tool
        calls and tool_call_id is reported as a duplicate and changes nothing; with a different body it is
        ALREADY_EXISTS, reason ID_CONFLICT.
    role: Required.
    content: Plain text; the text of special tokens is treated as plain text. May be empty only for an assistant
        message with tool calls.
    name: The speaker, in a conversation with several. A query that contains the name ranks the speaker's
        messages higher.
    tool_calls: Assistant messages only. Several calls in one message are parallel calls.
    tool_call_id: Tool messages only: the id of the call. If empty, the tool message is stored without a call
        and is pruned with its neighbours.
    create_time: When the message was written. Set by the server when absent.
    metadata: At most 16 KiB, 8 levels deep. Numbers are doubles, as in JSON.
    evaluation_score: Quality of the exchange, 0 to 10. Usually set later, with Annotate. Absent means not
        rated, which differs from 0: the quality filter of episodic retrieval applies only to messages with a
        score.
    sequence: Output only. 1, 2, 3 ... in each session, in commit order; never reused, not even after Clear.
    tokens: Output only. Tokens of content, tool calls and role marker, as a provider counts them, by the
        server's default tokenizer.
    reasoning: The assistant's reasoning. Stored, not searched, and rendered into a context only with
        include_reasoning.
    vector: Input only: the message's vector from the caller's own embedder. Must have the configured dimensions
        (setting embedder_dimensions) and finite numbers, else INVALID_ARGUMENT. Need not be normalised. Empty:
        the server embeds the content and the tool calls.
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
    message: Required. Supply ids, so that an interrupted stream can be resent.
    """

    namespace: str
    user_id: str
    session_id: Required[str]
    message: Required[Message | MessageDict]


class SectionBudgetDict(TypedDict, total=False):
    """The caller's settings of one section. Absent fields keep their defaults.

    section: Required, and each section at most once. Tool schemas, output reserve and framing have no budget of
        their own: they are INVALID_ARGUMENT.
    max_tokens: Replaces the scaled default limit. 0 or more; 0 leaves no room. The system section is never
        truncated: above this limit the server logs a warning.
    top_k: Replaces the default number of items (turns, for the working section). 0 or more. At most 5 chunks
        are retrieved (setting documents_top_k_max).
    min_tokens: The lower bound for reductions of the section. 0 or more; absent means 0.
    disabled: The section is not filled at all.
    """

    section: Section | SectionName
    max_tokens: int | None
    top_k: int | None
    min_tokens: int | None
    disabled: bool


class SessionPolicyDict(TypedDict, total=False):
    """Policy for automatic pruning and summaries of a session.

    auto_prune_tokens: 0: no automatic pruning. Otherwise the window is pruned to 80 % of this number when it
        exceeds it, so that the prefix stays stable for many turns.
    strategy: For automatic pruning. Unspecified: recency.
    summarize: Update the rolling summary before automatic pruning, as with Prune. No effect without automatic
        pruning. The background task summarises sessions regardless of this field (setting
        summary_every_messages).
    model: The model of the session, which determines tokenizer and budget. Empty: the server's default
        tokenizer. "short", "normal" and "long" mean budgets of 4,000, 16,000 and 32,000 tokens with the default
        tokenizer.
    """

    auto_prune_tokens: int
    strategy: PruneStrategy | PruneStrategyName
    summarize: bool
    model: str


class FactDict(TypedDict, total=False):
    """One fact about a user.

    id: Output only.
    type: Required.
    key: For example "name", "company", "likes". A key has one current value, except for the types interest,
        action item and question. Required, 1 to 256 bytes without control characters.
    value: The value. Required, not only white space, at most 16 KiB.
    confidence: 0 to 1. 0 in PutFacts means unspecified and is stored as 1.
    valid_from: Start of validity. Absent in PutFacts: extracted_at.
    valid_until: Output only; set when the fact is superseded.
    extracted_at: Time of the first observation. Absent in PutFacts: now, or last_updated if that is earlier.
    last_updated: Time of the last observation. Absent in PutFacts: now.
    session_id: The session of the first observation. Empty in PutFacts: the request's session_id.
    source_message_ids: The messages of the first observation, in that session; at most 100. DeleteSession
        erases the fact together with these messages; Clear keeps it. A fact that was observed in another
        session since is erased with that session. A fact stored by a caller without messages is erased with no
        session.
    origin: "client", "rules" or the model's name. Output only.
    pinned: Always in the context, before other facts.
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
    """A rolling summary of a range of messages. The messages stay stored.

    id: Generated by the server.
    text: The summary.
    tokens: Tokens of the text, by the server's default tokenizer; at most 400 by default (setting
        summary_budget).
    first_sequence: The oldest message that the summary covers.
    last_sequence: The newest message that the summary covers, inclusive.
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
    """A compact tool result, such as a snippet of a web search.

    DeleteSession erases artifacts. Clear erases the artifacts of offloaded messages and keeps the others.

    id: Unique in its session. Empty in a request: made by the server; for an offloaded message, derived from
        the message. A stored artifact with the same id is replaced.
    source: The origin: a tool's name, a URL. At most 1,024 bytes. Empty for an offloaded message: the message's
        name.
    content: The text, at most 1 MiB (setting max_message_bytes). Required, unless a message is offloaded: then
        it must be empty, and the server copies the message's whole content.
    create_time: Set by the server when absent. Unchanged as long as the content is unchanged.
    expire_time: After this time the artifact is neither listed nor put into a context. Must be after
        create_time. Absent: never expires.
    metadata: At most 16 KiB, 8 levels deep.
    tokens: Output only. Tokens of the content, by the server's default tokenizer.
    message_id: Output only. The offloaded tool message. Empty for other artifacts.
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
    """A text for retrieval, stored in chunks.

    A chunk is a span of the text of at most 300 tokens (setting chunk_size), counted exactly. It ends at the
    last paragraph boundary in its second half, else at the last line, sentence or word boundary. A code block
    that fits is not split, and a heading stays with the text that follows it. A chunk starts with an overlap:
    as many whole sentences or lines from the end of the previous chunk as fit into 50 tokens (setting
    chunk_overlap). After a change of these settings, a document is chunked again when it is stored again.

    A document is visible to its owner only: the session if the request names one, else the user if it names
    one, else the whole namespace. The same id with another owner is another document. DeleteSession erases a
    session's documents; Clear keeps them.

    id: Required, 1 to 256 bytes without control characters. Chosen by the caller. A stored document with the
        same id is replaced.
    title: A display title, not searched. Optional, at most 1,024 bytes.
    text: Input only. Required, not only white space, at most 3 MiB (setting max_document_bytes).
    source: The origin: a file name, a URL. At most 1,024 bytes.
    metadata: At most 16 KiB, 8 levels deep.
    create_time: When the document was written or stored. Set by the server when absent. Unchanged as long as
        the text is unchanged.
    chunk_count: Output only. The number of chunks.
    tokens: Output only. Tokens of the text, by the server's default tokenizer.
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
    """One record of an archive.

    user_id: Empty for a record of the namespace.
    session_id: Empty for a record of the user or of the namespace.
    message: A message, in sequence order.
    fact: A fact, current or superseded.
    summary: A rolling summary.
    artifact: A tool artifact.
    document: A document with its text. Import makes its chunks again.
    policy: The policy of the session; without session_id, of the namespace.
    pruned: The message is pruned.
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

    namespace: Empty means "default". May differ from the exported namespace.
    record: Required.
    """

    namespace: str
    record: Required[ArchiveRecord | ArchiveRecordDict]
