import datetime

from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from memsidecar.v1 import context_pb2 as _context_pb2
from memsidecar.v1 import message_pb2 as _message_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FactType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FACT_TYPE_UNSPECIFIED: _ClassVar[FactType]
    FACT_TYPE_USER_PROFILE: _ClassVar[FactType]
    FACT_TYPE_INTEREST: _ClassVar[FactType]
    FACT_TYPE_PREFERENCE: _ClassVar[FactType]
    FACT_TYPE_ACTION_ITEM: _ClassVar[FactType]
    FACT_TYPE_SENTIMENT: _ClassVar[FactType]
    FACT_TYPE_QUESTION: _ClassVar[FactType]
    FACT_TYPE_DOMAIN: _ClassVar[FactType]
FACT_TYPE_UNSPECIFIED: FactType
FACT_TYPE_USER_PROFILE: FactType
FACT_TYPE_INTEREST: FactType
FACT_TYPE_PREFERENCE: FactType
FACT_TYPE_ACTION_ITEM: FactType
FACT_TYPE_SENTIMENT: FactType
FACT_TYPE_QUESTION: FactType
FACT_TYPE_DOMAIN: FactType

class Fact(_message.Message):
    __slots__ = ("id", "type", "key", "value", "confidence", "valid_from", "valid_until", "extracted_at", "last_updated", "session_id", "source_message_ids", "origin", "pinned")
    ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_FIELD_NUMBER: _ClassVar[int]
    VALID_UNTIL_FIELD_NUMBER: _ClassVar[int]
    EXTRACTED_AT_FIELD_NUMBER: _ClassVar[int]
    LAST_UPDATED_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_MESSAGE_IDS_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    PINNED_FIELD_NUMBER: _ClassVar[int]
    id: str
    type: FactType
    key: str
    value: str
    confidence: float
    valid_from: _timestamp_pb2.Timestamp
    valid_until: _timestamp_pb2.Timestamp
    extracted_at: _timestamp_pb2.Timestamp
    last_updated: _timestamp_pb2.Timestamp
    session_id: str
    source_message_ids: _containers.RepeatedScalarFieldContainer[str]
    origin: str
    pinned: bool
    def __init__(self, id: _Optional[str] = ..., type: _Optional[_Union[FactType, str]] = ..., key: _Optional[str] = ..., value: _Optional[str] = ..., confidence: _Optional[float] = ..., valid_from: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., valid_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., extracted_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_updated: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., session_id: _Optional[str] = ..., source_message_ids: _Optional[_Iterable[str]] = ..., origin: _Optional[str] = ..., pinned: _Optional[bool] = ...) -> None: ...

class PutFactsRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "facts")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    facts: _containers.RepeatedCompositeFieldContainer[Fact]
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., facts: _Optional[_Iterable[_Union[Fact, _Mapping]]] = ...) -> None: ...

class PutFactsResponse(_message.Message):
    __slots__ = ("facts",)
    FACTS_FIELD_NUMBER: _ClassVar[int]
    facts: _containers.RepeatedCompositeFieldContainer[Fact]
    def __init__(self, facts: _Optional[_Iterable[_Union[Fact, _Mapping]]] = ...) -> None: ...

class ListFactsRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "types", "include_history", "page_size", "page_token")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_HISTORY_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    types: _containers.RepeatedScalarFieldContainer[FactType]
    include_history: bool
    page_size: int
    page_token: str
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., types: _Optional[_Iterable[_Union[FactType, str]]] = ..., include_history: _Optional[bool] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListFactsResponse(_message.Message):
    __slots__ = ("facts", "next_page_token")
    FACTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    facts: _containers.RepeatedCompositeFieldContainer[Fact]
    next_page_token: str
    def __init__(self, facts: _Optional[_Iterable[_Union[Fact, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class DeleteFactRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "fact_id")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    fact_id: str
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., fact_id: _Optional[str] = ...) -> None: ...

class DeleteFactResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Artifact(_message.Message):
    __slots__ = ("id", "source", "content", "create_time", "expire_time", "metadata", "tokens", "message_id")
    ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    source: str
    content: str
    create_time: _timestamp_pb2.Timestamp
    expire_time: _timestamp_pb2.Timestamp
    metadata: _struct_pb2.Struct
    tokens: int
    message_id: str
    def __init__(self, id: _Optional[str] = ..., source: _Optional[str] = ..., content: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., tokens: _Optional[int] = ..., message_id: _Optional[str] = ...) -> None: ...

class PutArtifactRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "artifact", "offload_message_id", "preview_tokens")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_FIELD_NUMBER: _ClassVar[int]
    OFFLOAD_MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_TOKENS_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    artifact: Artifact
    offload_message_id: str
    preview_tokens: int
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., artifact: _Optional[_Union[Artifact, _Mapping]] = ..., offload_message_id: _Optional[str] = ..., preview_tokens: _Optional[int] = ...) -> None: ...

class PutArtifactResponse(_message.Message):
    __slots__ = ("artifact",)
    ARTIFACT_FIELD_NUMBER: _ClassVar[int]
    artifact: Artifact
    def __init__(self, artifact: _Optional[_Union[Artifact, _Mapping]] = ...) -> None: ...

class ListArtifactsRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "page_size", "page_token")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    page_size: int
    page_token: str
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListArtifactsResponse(_message.Message):
    __slots__ = ("artifacts", "next_page_token")
    ARTIFACTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    artifacts: _containers.RepeatedCompositeFieldContainer[Artifact]
    next_page_token: str
    def __init__(self, artifacts: _Optional[_Iterable[_Union[Artifact, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class DeleteArtifactRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "artifact_id")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_ID_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    artifact_id: str
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., artifact_id: _Optional[str] = ...) -> None: ...

class DeleteArtifactResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Document(_message.Message):
    __slots__ = ("id", "title", "text", "source", "metadata", "create_time", "chunk_count", "tokens", "sha256")
    ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    CHUNK_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    id: str
    title: str
    text: str
    source: str
    metadata: _struct_pb2.Struct
    create_time: _timestamp_pb2.Timestamp
    chunk_count: int
    tokens: int
    sha256: str
    def __init__(self, id: _Optional[str] = ..., title: _Optional[str] = ..., text: _Optional[str] = ..., source: _Optional[str] = ..., metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., chunk_count: _Optional[int] = ..., tokens: _Optional[int] = ..., sha256: _Optional[str] = ...) -> None: ...

class DocumentChunk(_message.Message):
    __slots__ = ("document_id", "chunk_index", "text", "tokens")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    CHUNK_INDEX_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    chunk_index: int
    text: str
    tokens: int
    def __init__(self, document_id: _Optional[str] = ..., chunk_index: _Optional[int] = ..., text: _Optional[str] = ..., tokens: _Optional[int] = ...) -> None: ...

class PutDocumentRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "document")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    document: Document
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., document: _Optional[_Union[Document, _Mapping]] = ...) -> None: ...

class PutDocumentResponse(_message.Message):
    __slots__ = ("document", "unchanged")
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    UNCHANGED_FIELD_NUMBER: _ClassVar[int]
    document: Document
    unchanged: bool
    def __init__(self, document: _Optional[_Union[Document, _Mapping]] = ..., unchanged: _Optional[bool] = ...) -> None: ...

class ListDocumentsRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "page_size", "page_token")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    page_size: int
    page_token: str
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDocumentsResponse(_message.Message):
    __slots__ = ("documents", "next_page_token")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[Document]
    next_page_token: str
    def __init__(self, documents: _Optional[_Iterable[_Union[Document, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class DeleteDocumentRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "document_id")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    document_id: str
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., document_id: _Optional[str] = ...) -> None: ...

class DeleteDocumentResponse(_message.Message):
    __slots__ = ("removed_chunks",)
    REMOVED_CHUNKS_FIELD_NUMBER: _ClassVar[int]
    removed_chunks: int
    def __init__(self, removed_chunks: _Optional[int] = ...) -> None: ...

class SearchDocumentsRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "query", "limit", "min_score")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    MIN_SCORE_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    query: str
    limit: int
    min_score: float
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., query: _Optional[str] = ..., limit: _Optional[int] = ..., min_score: _Optional[float] = ...) -> None: ...

class DocumentHit(_message.Message):
    __slots__ = ("chunk", "score", "scores", "relevance")
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_FIELD_NUMBER: _ClassVar[int]
    chunk: DocumentChunk
    score: float
    scores: _message_pb2.ScoreParts
    relevance: float
    def __init__(self, chunk: _Optional[_Union[DocumentChunk, _Mapping]] = ..., score: _Optional[float] = ..., scores: _Optional[_Union[_message_pb2.ScoreParts, _Mapping]] = ..., relevance: _Optional[float] = ...) -> None: ...

class SearchDocumentsResponse(_message.Message):
    __slots__ = ("hits", "degraded")
    HITS_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[DocumentHit]
    degraded: _containers.RepeatedScalarFieldContainer[_context_pb2.Degradation]
    def __init__(self, hits: _Optional[_Iterable[_Union[DocumentHit, _Mapping]]] = ..., degraded: _Optional[_Iterable[_Union[_context_pb2.Degradation, str]]] = ...) -> None: ...

class Summary(_message.Message):
    __slots__ = ("id", "text", "tokens", "first_sequence", "last_sequence", "create_time", "origin")
    ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    FIRST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    id: str
    text: str
    tokens: int
    first_sequence: int
    last_sequence: int
    create_time: _timestamp_pb2.Timestamp
    origin: str
    def __init__(self, id: _Optional[str] = ..., text: _Optional[str] = ..., tokens: _Optional[int] = ..., first_sequence: _Optional[int] = ..., last_sequence: _Optional[int] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., origin: _Optional[str] = ...) -> None: ...

class GetSummaryRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ...) -> None: ...

class GetSummaryResponse(_message.Message):
    __slots__ = ("summary",)
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    summary: Summary
    def __init__(self, summary: _Optional[_Union[Summary, _Mapping]] = ...) -> None: ...

class SummarizeRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "max_tokens")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    max_tokens: int
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., max_tokens: _Optional[int] = ...) -> None: ...

class SummarizeResponse(_message.Message):
    __slots__ = ("summary",)
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    summary: Summary
    def __init__(self, summary: _Optional[_Union[Summary, _Mapping]] = ...) -> None: ...

class Pattern(_message.Message):
    __slots__ = ("kind", "value", "evidence")
    KIND_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    kind: str
    value: str
    evidence: int
    def __init__(self, kind: _Optional[str] = ..., value: _Optional[str] = ..., evidence: _Optional[int] = ...) -> None: ...

class GetPatternsRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "refresh")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    REFRESH_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    refresh: bool
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., refresh: _Optional[bool] = ...) -> None: ...

class GetPatternsResponse(_message.Message):
    __slots__ = ("patterns", "conversations", "mean_turns", "answer_length", "technical_depth", "frequency", "hints", "computed_at")
    PATTERNS_FIELD_NUMBER: _ClassVar[int]
    CONVERSATIONS_FIELD_NUMBER: _ClassVar[int]
    MEAN_TURNS_FIELD_NUMBER: _ClassVar[int]
    ANSWER_LENGTH_FIELD_NUMBER: _ClassVar[int]
    TECHNICAL_DEPTH_FIELD_NUMBER: _ClassVar[int]
    FREQUENCY_FIELD_NUMBER: _ClassVar[int]
    HINTS_FIELD_NUMBER: _ClassVar[int]
    COMPUTED_AT_FIELD_NUMBER: _ClassVar[int]
    patterns: _containers.RepeatedCompositeFieldContainer[Pattern]
    conversations: int
    mean_turns: float
    answer_length: str
    technical_depth: str
    frequency: str
    hints: str
    computed_at: _timestamp_pb2.Timestamp
    def __init__(self, patterns: _Optional[_Iterable[_Union[Pattern, _Mapping]]] = ..., conversations: _Optional[int] = ..., mean_turns: _Optional[float] = ..., answer_length: _Optional[str] = ..., technical_depth: _Optional[str] = ..., frequency: _Optional[str] = ..., hints: _Optional[str] = ..., computed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
