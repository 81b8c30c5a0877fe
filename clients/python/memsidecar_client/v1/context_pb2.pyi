from memsidecar_client.v1 import message_pb2 as _message_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Section(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SECTION_UNSPECIFIED: _ClassVar[Section]
    SECTION_SYSTEM: _ClassVar[Section]
    SECTION_PROFILE: _ClassVar[Section]
    SECTION_FACTS: _ClassVar[Section]
    SECTION_HINTS: _ClassVar[Section]
    SECTION_SUMMARY: _ClassVar[Section]
    SECTION_DOCUMENTS: _ClassVar[Section]
    SECTION_EPISODIC: _ClassVar[Section]
    SECTION_ARTIFACTS: _ClassVar[Section]
    SECTION_WORKING: _ClassVar[Section]
    SECTION_TOOL_SCHEMAS: _ClassVar[Section]
    SECTION_OUTPUT_RESERVE: _ClassVar[Section]
    SECTION_FRAMING: _ClassVar[Section]

class Inclusion(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    INCLUSION_UNSPECIFIED: _ClassVar[Inclusion]
    INCLUSION_INCLUDED: _ClassVar[Inclusion]
    INCLUSION_SHORTENED: _ClassVar[Inclusion]
    INCLUSION_OVER_SECTION: _ClassVar[Inclusion]
    INCLUSION_OVER_TOTAL: _ClassVar[Inclusion]
    INCLUSION_BEYOND_TOP_K: _ClassVar[Inclusion]
    INCLUSION_BELOW_THRESHOLD: _ClassVar[Inclusion]
    INCLUSION_LOW_QUALITY: _ClassVar[Inclusion]
    INCLUSION_DUPLICATE: _ClassVar[Inclusion]
    INCLUSION_IN_WINDOW: _ClassVar[Inclusion]
    INCLUSION_EXPIRED: _ClassVar[Inclusion]
    INCLUSION_DISABLED: _ClassVar[Inclusion]
    INCLUSION_SUMMARIZED: _ClassVar[Inclusion]

class Degradation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DEGRADATION_UNSPECIFIED: _ClassVar[Degradation]
    DEGRADATION_INDEX_UNAVAILABLE: _ClassVar[Degradation]
    DEGRADATION_EMBEDDER_UNAVAILABLE: _ClassVar[Degradation]
    DEGRADATION_DEADLINE: _ClassVar[Degradation]
    DEGRADATION_STALE: _ClassVar[Degradation]
SECTION_UNSPECIFIED: Section
SECTION_SYSTEM: Section
SECTION_PROFILE: Section
SECTION_FACTS: Section
SECTION_HINTS: Section
SECTION_SUMMARY: Section
SECTION_DOCUMENTS: Section
SECTION_EPISODIC: Section
SECTION_ARTIFACTS: Section
SECTION_WORKING: Section
SECTION_TOOL_SCHEMAS: Section
SECTION_OUTPUT_RESERVE: Section
SECTION_FRAMING: Section
INCLUSION_UNSPECIFIED: Inclusion
INCLUSION_INCLUDED: Inclusion
INCLUSION_SHORTENED: Inclusion
INCLUSION_OVER_SECTION: Inclusion
INCLUSION_OVER_TOTAL: Inclusion
INCLUSION_BEYOND_TOP_K: Inclusion
INCLUSION_BELOW_THRESHOLD: Inclusion
INCLUSION_LOW_QUALITY: Inclusion
INCLUSION_DUPLICATE: Inclusion
INCLUSION_IN_WINDOW: Inclusion
INCLUSION_EXPIRED: Inclusion
INCLUSION_DISABLED: Inclusion
INCLUSION_SUMMARIZED: Inclusion
DEGRADATION_UNSPECIFIED: Degradation
DEGRADATION_INDEX_UNAVAILABLE: Degradation
DEGRADATION_EMBEDDER_UNAVAILABLE: Degradation
DEGRADATION_DEADLINE: Degradation
DEGRADATION_STALE: Degradation

class SectionBudget(_message.Message):
    __slots__ = ("section", "max_tokens", "top_k", "min_tokens", "disabled")
    SECTION_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    MIN_TOKENS_FIELD_NUMBER: _ClassVar[int]
    DISABLED_FIELD_NUMBER: _ClassVar[int]
    section: Section
    max_tokens: int
    top_k: int
    min_tokens: int
    disabled: bool
    def __init__(self, section: _Optional[_Union[Section, str]] = ..., max_tokens: _Optional[int] = ..., top_k: _Optional[int] = ..., min_tokens: _Optional[int] = ..., disabled: _Optional[bool] = ...) -> None: ...

class BuildContextRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "query", "model", "max_tokens", "system_prompt", "profile", "tool_schemas_json", "reserve_output_tokens", "documents", "sections", "scope", "append_query", "debug", "query_vector", "include_reasoning", "context_fill", "dry_run")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_PROMPT_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    TOOL_SCHEMAS_JSON_FIELD_NUMBER: _ClassVar[int]
    RESERVE_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    SECTIONS_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    APPEND_QUERY_FIELD_NUMBER: _ClassVar[int]
    DEBUG_FIELD_NUMBER: _ClassVar[int]
    QUERY_VECTOR_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_REASONING_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FILL_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    query: str
    model: str
    max_tokens: int
    system_prompt: str
    profile: str
    tool_schemas_json: str
    reserve_output_tokens: int
    documents: _containers.RepeatedScalarFieldContainer[str]
    sections: _containers.RepeatedCompositeFieldContainer[SectionBudget]
    scope: _message_pb2.Scope
    append_query: bool
    debug: bool
    query_vector: _containers.RepeatedScalarFieldContainer[float]
    include_reasoning: bool
    context_fill: float
    dry_run: bool
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., query: _Optional[str] = ..., model: _Optional[str] = ..., max_tokens: _Optional[int] = ..., system_prompt: _Optional[str] = ..., profile: _Optional[str] = ..., tool_schemas_json: _Optional[str] = ..., reserve_output_tokens: _Optional[int] = ..., documents: _Optional[_Iterable[str]] = ..., sections: _Optional[_Iterable[_Union[SectionBudget, _Mapping]]] = ..., scope: _Optional[_Union[_message_pb2.Scope, str]] = ..., append_query: _Optional[bool] = ..., debug: _Optional[bool] = ..., query_vector: _Optional[_Iterable[float]] = ..., include_reasoning: _Optional[bool] = ..., context_fill: _Optional[float] = ..., dry_run: _Optional[bool] = ...) -> None: ...

class BuildContextResponse(_message.Message):
    __slots__ = ("messages", "memory_text", "total_tokens", "max_tokens", "receipt", "stable_prefix_count", "stable_prefix_sha256", "degraded")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_TEXT_FIELD_NUMBER: _ClassVar[int]
    TOTAL_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    STABLE_PREFIX_COUNT_FIELD_NUMBER: _ClassVar[int]
    STABLE_PREFIX_SHA256_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    memory_text: str
    total_tokens: int
    max_tokens: int
    receipt: Receipt
    stable_prefix_count: int
    stable_prefix_sha256: str
    degraded: _containers.RepeatedScalarFieldContainer[Degradation]
    def __init__(self, messages: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., memory_text: _Optional[str] = ..., total_tokens: _Optional[int] = ..., max_tokens: _Optional[int] = ..., receipt: _Optional[_Union[Receipt, _Mapping]] = ..., stable_prefix_count: _Optional[int] = ..., stable_prefix_sha256: _Optional[str] = ..., degraded: _Optional[_Iterable[_Union[Degradation, str]]] = ...) -> None: ...

class ItemReceipt(_message.Message):
    __slots__ = ("id", "message_ids", "session_id", "tokens", "included", "reason", "score", "scores", "preview", "relevance", "origin")
    ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_IDS_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    INCLUDED_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    id: str
    message_ids: _containers.RepeatedScalarFieldContainer[str]
    session_id: str
    tokens: int
    included: bool
    reason: Inclusion
    score: float
    scores: _message_pb2.ScoreParts
    preview: str
    relevance: float
    origin: str
    def __init__(self, id: _Optional[str] = ..., message_ids: _Optional[_Iterable[str]] = ..., session_id: _Optional[str] = ..., tokens: _Optional[int] = ..., included: _Optional[bool] = ..., reason: _Optional[_Union[Inclusion, str]] = ..., score: _Optional[float] = ..., scores: _Optional[_Union[_message_pb2.ScoreParts, _Mapping]] = ..., preview: _Optional[str] = ..., relevance: _Optional[float] = ..., origin: _Optional[str] = ...) -> None: ...

class SectionReceipt(_message.Message):
    __slots__ = ("section", "limit_tokens", "used_tokens", "items", "left_out_count", "share_tokens", "summarized_count")
    SECTION_FIELD_NUMBER: _ClassVar[int]
    LIMIT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    USED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_COUNT_FIELD_NUMBER: _ClassVar[int]
    SHARE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SUMMARIZED_COUNT_FIELD_NUMBER: _ClassVar[int]
    section: Section
    limit_tokens: int
    used_tokens: int
    items: _containers.RepeatedCompositeFieldContainer[ItemReceipt]
    left_out_count: int
    share_tokens: int
    summarized_count: int
    def __init__(self, section: _Optional[_Union[Section, str]] = ..., limit_tokens: _Optional[int] = ..., used_tokens: _Optional[int] = ..., items: _Optional[_Iterable[_Union[ItemReceipt, _Mapping]]] = ..., left_out_count: _Optional[int] = ..., share_tokens: _Optional[int] = ..., summarized_count: _Optional[int] = ...) -> None: ...

class Receipt(_message.Message):
    __slots__ = ("sections", "tokenizer", "exact", "query", "warnings", "nearest_model")
    SECTIONS_FIELD_NUMBER: _ClassVar[int]
    TOKENIZER_FIELD_NUMBER: _ClassVar[int]
    EXACT_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    NEAREST_MODEL_FIELD_NUMBER: _ClassVar[int]
    sections: _containers.RepeatedCompositeFieldContainer[SectionReceipt]
    tokenizer: str
    exact: bool
    query: str
    warnings: _containers.RepeatedScalarFieldContainer[str]
    nearest_model: str
    def __init__(self, sections: _Optional[_Iterable[_Union[SectionReceipt, _Mapping]]] = ..., tokenizer: _Optional[str] = ..., exact: _Optional[bool] = ..., query: _Optional[str] = ..., warnings: _Optional[_Iterable[str]] = ..., nearest_model: _Optional[str] = ...) -> None: ...
