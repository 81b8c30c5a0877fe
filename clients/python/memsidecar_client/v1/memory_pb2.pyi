import datetime

from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from memsidecar_client.v1 import context_pb2 as _context_pb2
from memsidecar_client.v1 import message_pb2 as _message_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SearchMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SEARCH_MODE_UNSPECIFIED: _ClassVar[SearchMode]
    SEARCH_MODE_SUBSTRING: _ClassVar[SearchMode]
    SEARCH_MODE_KEYWORD: _ClassVar[SearchMode]
    SEARCH_MODE_SEMANTIC: _ClassVar[SearchMode]
    SEARCH_MODE_HYBRID: _ClassVar[SearchMode]

class PruneStrategy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PRUNE_STRATEGY_UNSPECIFIED: _ClassVar[PruneStrategy]
    PRUNE_STRATEGY_RECENCY: _ClassVar[PruneStrategy]
    PRUNE_STRATEGY_TURNS: _ClassVar[PruneStrategy]
    PRUNE_STRATEGY_WINDOW: _ClassVar[PruneStrategy]
    PRUNE_STRATEGY_IMPORTANCE: _ClassVar[PruneStrategy]
SEARCH_MODE_UNSPECIFIED: SearchMode
SEARCH_MODE_SUBSTRING: SearchMode
SEARCH_MODE_KEYWORD: SearchMode
SEARCH_MODE_SEMANTIC: SearchMode
SEARCH_MODE_HYBRID: SearchMode
PRUNE_STRATEGY_UNSPECIFIED: PruneStrategy
PRUNE_STRATEGY_RECENCY: PruneStrategy
PRUNE_STRATEGY_TURNS: PruneStrategy
PRUNE_STRATEGY_WINDOW: PruneStrategy
PRUNE_STRATEGY_IMPORTANCE: PruneStrategy

class AddRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "message", "expected_sequence", "return_session")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    RETURN_SESSION_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    message: _message_pb2.Message
    expected_sequence: int
    return_session: bool
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., message: _Optional[_Union[_message_pb2.Message, _Mapping]] = ..., expected_sequence: _Optional[int] = ..., return_session: _Optional[bool] = ...) -> None: ...

class AddResponse(_message.Message):
    __slots__ = ("message_id", "sequence", "tokens", "duplicate", "session")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    sequence: int
    tokens: int
    duplicate: bool
    session: _message_pb2.SessionStats
    def __init__(self, message_id: _Optional[str] = ..., sequence: _Optional[int] = ..., tokens: _Optional[int] = ..., duplicate: _Optional[bool] = ..., session: _Optional[_Union[_message_pb2.SessionStats, _Mapping]] = ...) -> None: ...

class AddBatchRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "messages", "expected_sequence")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    messages: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    expected_sequence: int
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., expected_sequence: _Optional[int] = ...) -> None: ...

class Added(_message.Message):
    __slots__ = ("message_id", "sequence", "tokens", "duplicate")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    sequence: int
    tokens: int
    duplicate: bool
    def __init__(self, message_id: _Optional[str] = ..., sequence: _Optional[int] = ..., tokens: _Optional[int] = ..., duplicate: _Optional[bool] = ...) -> None: ...

class AddBatchResponse(_message.Message):
    __slots__ = ("results", "session")
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[Added]
    session: _message_pb2.SessionStats
    def __init__(self, results: _Optional[_Iterable[_Union[Added, _Mapping]]] = ..., session: _Optional[_Union[_message_pb2.SessionStats, _Mapping]] = ...) -> None: ...

class AddStreamRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "message")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    message: _message_pb2.Message
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., message: _Optional[_Union[_message_pb2.Message, _Mapping]] = ...) -> None: ...

class AddStreamResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: Added
    def __init__(self, result: _Optional[_Union[Added, _Mapping]] = ...) -> None: ...

class StoreInteractionRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "user_message", "assistant_message", "interaction_id", "create_time", "metadata", "evaluation_score")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    USER_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    ASSISTANT_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    INTERACTION_ID_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_SCORE_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    user_message: str
    assistant_message: str
    interaction_id: str
    create_time: _timestamp_pb2.Timestamp
    metadata: _struct_pb2.Struct
    evaluation_score: float
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., user_message: _Optional[str] = ..., assistant_message: _Optional[str] = ..., interaction_id: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., evaluation_score: _Optional[float] = ...) -> None: ...

class StoreInteractionResponse(_message.Message):
    __slots__ = ("results", "session")
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[Added]
    session: _message_pb2.SessionStats
    def __init__(self, results: _Optional[_Iterable[_Union[Added, _Mapping]]] = ..., session: _Optional[_Union[_message_pb2.SessionStats, _Mapping]] = ...) -> None: ...

class AnnotateRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "message_id", "evaluation_score", "metadata")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_SCORE_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    message_id: str
    evaluation_score: float
    metadata: _struct_pb2.Struct
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., message_id: _Optional[str] = ..., evaluation_score: _Optional[float] = ..., metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class AnnotateResponse(_message.Message):
    __slots__ = ("message",)
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    message: _message_pb2.Message
    def __init__(self, message: _Optional[_Union[_message_pb2.Message, _Mapping]] = ...) -> None: ...

class GetAllRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "page_size", "page_token", "include_pruned", "metadata_filter")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_PRUNED_FIELD_NUMBER: _ClassVar[int]
    METADATA_FILTER_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    page_size: int
    page_token: str
    include_pruned: bool
    metadata_filter: _struct_pb2.Struct
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., include_pruned: _Optional[bool] = ..., metadata_filter: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class GetAllResponse(_message.Message):
    __slots__ = ("messages", "next_page_token")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    next_page_token: str
    def __init__(self, messages: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetRecentRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "n", "max_tokens")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    N_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    n: int
    max_tokens: int
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., n: _Optional[int] = ..., max_tokens: _Optional[int] = ...) -> None: ...

class GetRecentResponse(_message.Message):
    __slots__ = ("messages", "truncated")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    truncated: bool
    def __init__(self, messages: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., truncated: _Optional[bool] = ...) -> None: ...

class GetByRoleRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "role", "limit")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    role: _message_pb2.Role
    limit: int
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., role: _Optional[_Union[_message_pb2.Role, str]] = ..., limit: _Optional[int] = ...) -> None: ...

class GetByRoleResponse(_message.Message):
    __slots__ = ("messages", "truncated")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    truncated: bool
    def __init__(self, messages: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., truncated: _Optional[bool] = ...) -> None: ...

class SearchRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "query", "mode", "scope", "limit", "min_score", "roles", "metadata_filter", "after", "before", "page_token", "query_vector")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    MIN_SCORE_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    METADATA_FILTER_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    QUERY_VECTOR_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    query: str
    mode: SearchMode
    scope: _message_pb2.Scope
    limit: int
    min_score: float
    roles: _containers.RepeatedScalarFieldContainer[_message_pb2.Role]
    metadata_filter: _struct_pb2.Struct
    after: _timestamp_pb2.Timestamp
    before: _timestamp_pb2.Timestamp
    page_token: str
    query_vector: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., query: _Optional[str] = ..., mode: _Optional[_Union[SearchMode, str]] = ..., scope: _Optional[_Union[_message_pb2.Scope, str]] = ..., limit: _Optional[int] = ..., min_score: _Optional[float] = ..., roles: _Optional[_Iterable[_Union[_message_pb2.Role, str]]] = ..., metadata_filter: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., after: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., before: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., page_token: _Optional[str] = ..., query_vector: _Optional[_Iterable[float]] = ...) -> None: ...

class SearchHit(_message.Message):
    __slots__ = ("message", "session_id", "score", "scores", "relevance")
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_FIELD_NUMBER: _ClassVar[int]
    message: _message_pb2.Message
    session_id: str
    score: float
    scores: _message_pb2.ScoreParts
    relevance: float
    def __init__(self, message: _Optional[_Union[_message_pb2.Message, _Mapping]] = ..., session_id: _Optional[str] = ..., score: _Optional[float] = ..., scores: _Optional[_Union[_message_pb2.ScoreParts, _Mapping]] = ..., relevance: _Optional[float] = ...) -> None: ...

class SearchResponse(_message.Message):
    __slots__ = ("hits", "next_page_token", "degraded")
    HITS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[SearchHit]
    next_page_token: str
    degraded: _containers.RepeatedScalarFieldContainer[_context_pb2.Degradation]
    def __init__(self, hits: _Optional[_Iterable[_Union[SearchHit, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., degraded: _Optional[_Iterable[_Union[_context_pb2.Degradation, str]]] = ...) -> None: ...

class CountRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "model")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    model: str
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., model: _Optional[str] = ...) -> None: ...

class CountResponse(_message.Message):
    __slots__ = ("stats",)
    STATS_FIELD_NUMBER: _ClassVar[int]
    stats: _message_pb2.SessionStats
    def __init__(self, stats: _Optional[_Union[_message_pb2.SessionStats, _Mapping]] = ...) -> None: ...

class PruneRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "max_tokens", "strategy", "window", "min_messages", "dry_run", "summarize", "overflow", "model")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    MIN_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    SUMMARIZE_FIELD_NUMBER: _ClassVar[int]
    OVERFLOW_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    max_tokens: int
    strategy: PruneStrategy
    window: int
    min_messages: int
    dry_run: bool
    summarize: bool
    overflow: bool
    model: str
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., max_tokens: _Optional[int] = ..., strategy: _Optional[_Union[PruneStrategy, str]] = ..., window: _Optional[int] = ..., min_messages: _Optional[int] = ..., dry_run: _Optional[bool] = ..., summarize: _Optional[bool] = ..., overflow: _Optional[bool] = ..., model: _Optional[str] = ...) -> None: ...

class PruneResponse(_message.Message):
    __slots__ = ("removed_count", "removed_ids", "tokens_before", "tokens_after", "remaining_count", "over_budget", "shortened_ids", "summary_id")
    REMOVED_COUNT_FIELD_NUMBER: _ClassVar[int]
    REMOVED_IDS_FIELD_NUMBER: _ClassVar[int]
    TOKENS_BEFORE_FIELD_NUMBER: _ClassVar[int]
    TOKENS_AFTER_FIELD_NUMBER: _ClassVar[int]
    REMAINING_COUNT_FIELD_NUMBER: _ClassVar[int]
    OVER_BUDGET_FIELD_NUMBER: _ClassVar[int]
    SHORTENED_IDS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_ID_FIELD_NUMBER: _ClassVar[int]
    removed_count: int
    removed_ids: _containers.RepeatedScalarFieldContainer[str]
    tokens_before: int
    tokens_after: int
    remaining_count: int
    over_budget: bool
    shortened_ids: _containers.RepeatedScalarFieldContainer[str]
    summary_id: str
    def __init__(self, removed_count: _Optional[int] = ..., removed_ids: _Optional[_Iterable[str]] = ..., tokens_before: _Optional[int] = ..., tokens_after: _Optional[int] = ..., remaining_count: _Optional[int] = ..., over_budget: _Optional[bool] = ..., shortened_ids: _Optional[_Iterable[str]] = ..., summary_id: _Optional[str] = ...) -> None: ...

class ClearRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ...) -> None: ...

class ClearResponse(_message.Message):
    __slots__ = ("removed_count",)
    REMOVED_COUNT_FIELD_NUMBER: _ClassVar[int]
    removed_count: int
    def __init__(self, removed_count: _Optional[int] = ...) -> None: ...

class ReportUsageRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "model", "estimated_tokens", "actual_tokens")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    ESTIMATED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    ACTUAL_TOKENS_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    model: str
    estimated_tokens: int
    actual_tokens: int
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., model: _Optional[str] = ..., estimated_tokens: _Optional[int] = ..., actual_tokens: _Optional[int] = ...) -> None: ...

class ReportUsageResponse(_message.Message):
    __slots__ = ("factor",)
    FACTOR_FIELD_NUMBER: _ClassVar[int]
    factor: float
    def __init__(self, factor: _Optional[float] = ...) -> None: ...
