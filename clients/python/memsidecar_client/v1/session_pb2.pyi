import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from memsidecar_client.v1 import knowledge_pb2 as _knowledge_pb2
from memsidecar_client.v1 import memory_pb2 as _memory_pb2
from memsidecar_client.v1 import message_pb2 as _message_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class EventKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EVENT_KIND_UNSPECIFIED: _ClassVar[EventKind]
    EVENT_KIND_ADDED: _ClassVar[EventKind]
    EVENT_KIND_PRUNED: _ClassVar[EventKind]
    EVENT_KIND_CLEARED: _ClassVar[EventKind]
    EVENT_KIND_ANNOTATED: _ClassVar[EventKind]
    EVENT_KIND_INDEXED: _ClassVar[EventKind]
    EVENT_KIND_FACT: _ClassVar[EventKind]
    EVENT_KIND_SUMMARY: _ClassVar[EventKind]
    EVENT_KIND_FORGOTTEN: _ClassVar[EventKind]
    EVENT_KIND_HEARTBEAT: _ClassVar[EventKind]
EVENT_KIND_UNSPECIFIED: EventKind
EVENT_KIND_ADDED: EventKind
EVENT_KIND_PRUNED: EventKind
EVENT_KIND_CLEARED: EventKind
EVENT_KIND_ANNOTATED: EventKind
EVENT_KIND_INDEXED: EventKind
EVENT_KIND_FACT: EventKind
EVENT_KIND_SUMMARY: EventKind
EVENT_KIND_FORGOTTEN: EventKind
EVENT_KIND_HEARTBEAT: EventKind

class SessionPolicy(_message.Message):
    __slots__ = ("auto_prune_tokens", "strategy", "summarize", "model", "retention")
    AUTO_PRUNE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    SUMMARIZE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    RETENTION_FIELD_NUMBER: _ClassVar[int]
    auto_prune_tokens: int
    strategy: _memory_pb2.PruneStrategy
    summarize: bool
    model: str
    retention: Retention
    def __init__(self, auto_prune_tokens: _Optional[int] = ..., strategy: _Optional[_Union[_memory_pb2.PruneStrategy, str]] = ..., summarize: _Optional[bool] = ..., model: _Optional[str] = ..., retention: _Optional[_Union[Retention, _Mapping]] = ...) -> None: ...

class RetentionLimits(_message.Message):
    __slots__ = ("max_age_seconds", "max_count")
    MAX_AGE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    MAX_COUNT_FIELD_NUMBER: _ClassVar[int]
    max_age_seconds: int
    max_count: int
    def __init__(self, max_age_seconds: _Optional[int] = ..., max_count: _Optional[int] = ...) -> None: ...

class Retention(_message.Message):
    __slots__ = ("messages", "facts", "artifacts", "documents")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    ARTIFACTS_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    messages: RetentionLimits
    facts: RetentionLimits
    artifacts: RetentionLimits
    documents: RetentionLimits
    def __init__(self, messages: _Optional[_Union[RetentionLimits, _Mapping]] = ..., facts: _Optional[_Union[RetentionLimits, _Mapping]] = ..., artifacts: _Optional[_Union[RetentionLimits, _Mapping]] = ..., documents: _Optional[_Union[RetentionLimits, _Mapping]] = ...) -> None: ...

class Session(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "create_time", "last_active", "stats", "policy", "watermarks", "retention")
    class WatermarksEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    LAST_ACTIVE_FIELD_NUMBER: _ClassVar[int]
    STATS_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    WATERMARKS_FIELD_NUMBER: _ClassVar[int]
    RETENTION_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    create_time: _timestamp_pb2.Timestamp
    last_active: _timestamp_pb2.Timestamp
    stats: _message_pb2.SessionStats
    policy: SessionPolicy
    watermarks: _containers.ScalarMap[str, int]
    retention: Retention
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_active: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., stats: _Optional[_Union[_message_pb2.SessionStats, _Mapping]] = ..., policy: _Optional[_Union[SessionPolicy, _Mapping]] = ..., watermarks: _Optional[_Mapping[str, int]] = ..., retention: _Optional[_Union[Retention, _Mapping]] = ...) -> None: ...

class ListSessionsRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "page_size", "page_token")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    page_size: int
    page_token: str
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSessionsResponse(_message.Message):
    __slots__ = ("sessions", "next_page_token")
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    sessions: _containers.RepeatedCompositeFieldContainer[Session]
    next_page_token: str
    def __init__(self, sessions: _Optional[_Iterable[_Union[Session, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetSessionRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ...) -> None: ...

class GetSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: Session
    def __init__(self, session: _Optional[_Union[Session, _Mapping]] = ...) -> None: ...

class User(_message.Message):
    __slots__ = ("user_id", "session_count", "last_active")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_COUNT_FIELD_NUMBER: _ClassVar[int]
    LAST_ACTIVE_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    session_count: int
    last_active: _timestamp_pb2.Timestamp
    def __init__(self, user_id: _Optional[str] = ..., session_count: _Optional[int] = ..., last_active: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListUsersRequest(_message.Message):
    __slots__ = ("namespace", "user_id_prefix", "page_size", "page_token")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_PREFIX_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id_prefix: str
    page_size: int
    page_token: str
    def __init__(self, namespace: _Optional[str] = ..., user_id_prefix: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListUsersResponse(_message.Message):
    __slots__ = ("users", "next_page_token")
    USERS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    users: _containers.RepeatedCompositeFieldContainer[User]
    next_page_token: str
    def __init__(self, users: _Optional[_Iterable[_Union[User, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetUsageRequest(_message.Message):
    __slots__ = ("namespace",)
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    def __init__(self, namespace: _Optional[str] = ...) -> None: ...

class NamespaceUsage(_message.Message):
    __slots__ = ("sessions", "messages", "bytes")
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    sessions: int
    messages: int
    bytes: int
    def __init__(self, sessions: _Optional[int] = ..., messages: _Optional[int] = ..., bytes: _Optional[int] = ...) -> None: ...

class NamespaceQuota(_message.Message):
    __slots__ = ("sessions", "messages", "bytes")
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    sessions: int
    messages: int
    bytes: int
    def __init__(self, sessions: _Optional[int] = ..., messages: _Optional[int] = ..., bytes: _Optional[int] = ...) -> None: ...

class GetUsageResponse(_message.Message):
    __slots__ = ("usage", "quota")
    USAGE_FIELD_NUMBER: _ClassVar[int]
    QUOTA_FIELD_NUMBER: _ClassVar[int]
    usage: NamespaceUsage
    quota: NamespaceQuota
    def __init__(self, usage: _Optional[_Union[NamespaceUsage, _Mapping]] = ..., quota: _Optional[_Union[NamespaceQuota, _Mapping]] = ...) -> None: ...

class SetPolicyRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "policy")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    policy: SessionPolicy
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., policy: _Optional[_Union[SessionPolicy, _Mapping]] = ...) -> None: ...

class SetPolicyResponse(_message.Message):
    __slots__ = ("policy",)
    POLICY_FIELD_NUMBER: _ClassVar[int]
    policy: SessionPolicy
    def __init__(self, policy: _Optional[_Union[SessionPolicy, _Mapping]] = ...) -> None: ...

class ErasureReceipt(_message.Message):
    __slots__ = ("messages", "index_rows", "facts", "summaries", "artifacts", "documents", "sessions", "dry_run")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    INDEX_ROWS_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    SUMMARIES_FIELD_NUMBER: _ClassVar[int]
    ARTIFACTS_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    messages: int
    index_rows: int
    facts: int
    summaries: int
    artifacts: int
    documents: int
    sessions: int
    dry_run: bool
    def __init__(self, messages: _Optional[int] = ..., index_rows: _Optional[int] = ..., facts: _Optional[int] = ..., summaries: _Optional[int] = ..., artifacts: _Optional[int] = ..., documents: _Optional[int] = ..., sessions: _Optional[int] = ..., dry_run: _Optional[bool] = ...) -> None: ...

class DeleteSessionRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "dry_run")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    dry_run: bool
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., dry_run: _Optional[bool] = ...) -> None: ...

class DeleteSessionResponse(_message.Message):
    __slots__ = ("receipt",)
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    receipt: ErasureReceipt
    def __init__(self, receipt: _Optional[_Union[ErasureReceipt, _Mapping]] = ...) -> None: ...

class ForgetMessageRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "message_id", "dry_run")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    message_id: str
    dry_run: bool
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., message_id: _Optional[str] = ..., dry_run: _Optional[bool] = ...) -> None: ...

class ForgetMessageResponse(_message.Message):
    __slots__ = ("receipt",)
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    receipt: ErasureReceipt
    def __init__(self, receipt: _Optional[_Union[ErasureReceipt, _Mapping]] = ...) -> None: ...

class ForgetUserRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "dry_run")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    dry_run: bool
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., dry_run: _Optional[bool] = ...) -> None: ...

class ForgetUserResponse(_message.Message):
    __slots__ = ("receipt",)
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    receipt: ErasureReceipt
    def __init__(self, receipt: _Optional[_Union[ErasureReceipt, _Mapping]] = ...) -> None: ...

class ArchivedSession(_message.Message):
    __slots__ = ("create_time", "last_active", "last_sequence")
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    LAST_ACTIVE_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    create_time: _timestamp_pb2.Timestamp
    last_active: _timestamp_pb2.Timestamp
    last_sequence: int
    def __init__(self, create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_active: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_sequence: _Optional[int] = ...) -> None: ...

class Calibration(_message.Message):
    __slots__ = ("model", "factor", "reports")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    FACTOR_FIELD_NUMBER: _ClassVar[int]
    REPORTS_FIELD_NUMBER: _ClassVar[int]
    model: str
    factor: float
    reports: int
    def __init__(self, model: _Optional[str] = ..., factor: _Optional[float] = ..., reports: _Optional[int] = ...) -> None: ...

class ArchiveRecord(_message.Message):
    __slots__ = ("user_id", "session_id", "message", "fact", "summary", "artifact", "document", "policy", "calibration", "session", "pruned", "version", "displayed", "learned")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    FACT_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    CALIBRATION_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    PRUNED_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    DISPLAYED_FIELD_NUMBER: _ClassVar[int]
    LEARNED_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    session_id: str
    message: _message_pb2.Message
    fact: _knowledge_pb2.Fact
    summary: _knowledge_pb2.Summary
    artifact: _knowledge_pb2.Artifact
    document: _knowledge_pb2.Document
    policy: SessionPolicy
    calibration: Calibration
    session: ArchivedSession
    pruned: bool
    version: int
    displayed: _message_pb2.Message
    learned: bool
    def __init__(self, user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., message: _Optional[_Union[_message_pb2.Message, _Mapping]] = ..., fact: _Optional[_Union[_knowledge_pb2.Fact, _Mapping]] = ..., summary: _Optional[_Union[_knowledge_pb2.Summary, _Mapping]] = ..., artifact: _Optional[_Union[_knowledge_pb2.Artifact, _Mapping]] = ..., document: _Optional[_Union[_knowledge_pb2.Document, _Mapping]] = ..., policy: _Optional[_Union[SessionPolicy, _Mapping]] = ..., calibration: _Optional[_Union[Calibration, _Mapping]] = ..., session: _Optional[_Union[ArchivedSession, _Mapping]] = ..., pruned: _Optional[bool] = ..., version: _Optional[int] = ..., displayed: _Optional[_Union[_message_pb2.Message, _Mapping]] = ..., learned: _Optional[bool] = ...) -> None: ...

class ExportRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "cursor")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    cursor: str
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., cursor: _Optional[str] = ...) -> None: ...

class ExportResponse(_message.Message):
    __slots__ = ("record", "cursor")
    RECORD_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    record: ArchiveRecord
    cursor: str
    def __init__(self, record: _Optional[_Union[ArchiveRecord, _Mapping]] = ..., cursor: _Optional[str] = ...) -> None: ...

class ImportRequest(_message.Message):
    __slots__ = ("namespace", "record", "override_erasures")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    RECORD_FIELD_NUMBER: _ClassVar[int]
    OVERRIDE_ERASURES_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    record: ArchiveRecord
    override_erasures: bool
    def __init__(self, namespace: _Optional[str] = ..., record: _Optional[_Union[ArchiveRecord, _Mapping]] = ..., override_erasures: _Optional[bool] = ...) -> None: ...

class ImportResponse(_message.Message):
    __slots__ = ("durable_count", "duplicate_count", "forgotten_count")
    DURABLE_COUNT_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_COUNT_FIELD_NUMBER: _ClassVar[int]
    FORGOTTEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    durable_count: int
    duplicate_count: int
    forgotten_count: int
    def __init__(self, durable_count: _Optional[int] = ..., duplicate_count: _Optional[int] = ..., forgotten_count: _Optional[int] = ...) -> None: ...

class WatchRequest(_message.Message):
    __slots__ = ("namespace", "user_id", "session_id", "cursor")
    NAMESPACE_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    namespace: str
    user_id: str
    session_id: str
    cursor: str
    def __init__(self, namespace: _Optional[str] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., cursor: _Optional[str] = ...) -> None: ...

class WatchResponse(_message.Message):
    __slots__ = ("kind", "user_id", "session_id", "sequence", "id", "cursor", "time")
    KIND_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    kind: EventKind
    user_id: str
    session_id: str
    sequence: int
    id: str
    cursor: str
    time: _timestamp_pb2.Timestamp
    def __init__(self, kind: _Optional[_Union[EventKind, str]] = ..., user_id: _Optional[str] = ..., session_id: _Optional[str] = ..., sequence: _Optional[int] = ..., id: _Optional[str] = ..., cursor: _Optional[str] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
