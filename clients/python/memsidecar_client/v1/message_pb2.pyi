import datetime

from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Role(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ROLE_UNSPECIFIED: _ClassVar[Role]
    ROLE_SYSTEM: _ClassVar[Role]
    ROLE_USER: _ClassVar[Role]
    ROLE_ASSISTANT: _ClassVar[Role]
    ROLE_TOOL: _ClassVar[Role]

class Scope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SCOPE_UNSPECIFIED: _ClassVar[Scope]
    SCOPE_SESSION: _ClassVar[Scope]
    SCOPE_USER: _ClassVar[Scope]
    SCOPE_NAMESPACE: _ClassVar[Scope]
ROLE_UNSPECIFIED: Role
ROLE_SYSTEM: Role
ROLE_USER: Role
ROLE_ASSISTANT: Role
ROLE_TOOL: Role
SCOPE_UNSPECIFIED: Scope
SCOPE_SESSION: Scope
SCOPE_USER: Scope
SCOPE_NAMESPACE: Scope

class ToolCall(_message.Message):
    __slots__ = ("id", "name", "arguments_json")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_JSON_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    arguments_json: str
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., arguments_json: _Optional[str] = ...) -> None: ...

class Message(_message.Message):
    __slots__ = ("id", "role", "content", "name", "tool_calls", "tool_call_id", "create_time", "metadata", "evaluation_score", "sequence", "tokens", "reasoning", "vector", "synthetic")
    ID_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    EVALUATION_SCORE_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    REASONING_FIELD_NUMBER: _ClassVar[int]
    VECTOR_FIELD_NUMBER: _ClassVar[int]
    SYNTHETIC_FIELD_NUMBER: _ClassVar[int]
    id: str
    role: Role
    content: str
    name: str
    tool_calls: _containers.RepeatedCompositeFieldContainer[ToolCall]
    tool_call_id: str
    create_time: _timestamp_pb2.Timestamp
    metadata: _struct_pb2.Struct
    evaluation_score: float
    sequence: int
    tokens: int
    reasoning: str
    vector: _containers.RepeatedScalarFieldContainer[float]
    synthetic: bool
    def __init__(self, id: _Optional[str] = ..., role: _Optional[_Union[Role, str]] = ..., content: _Optional[str] = ..., name: _Optional[str] = ..., tool_calls: _Optional[_Iterable[_Union[ToolCall, _Mapping]]] = ..., tool_call_id: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., evaluation_score: _Optional[float] = ..., sequence: _Optional[int] = ..., tokens: _Optional[int] = ..., reasoning: _Optional[str] = ..., vector: _Optional[_Iterable[float]] = ..., synthetic: _Optional[bool] = ...) -> None: ...

class RoleNumbers(_message.Message):
    __slots__ = ("system", "user", "assistant", "tool")
    SYSTEM_FIELD_NUMBER: _ClassVar[int]
    USER_FIELD_NUMBER: _ClassVar[int]
    ASSISTANT_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    system: int
    user: int
    assistant: int
    tool: int
    def __init__(self, system: _Optional[int] = ..., user: _Optional[int] = ..., assistant: _Optional[int] = ..., tool: _Optional[int] = ...) -> None: ...

class SessionStats(_message.Message):
    __slots__ = ("message_count", "pruned_count", "tokens", "count_by_role", "tokens_by_role", "last_sequence", "budget_tokens", "budget_used")
    MESSAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    PRUNED_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    COUNT_BY_ROLE_FIELD_NUMBER: _ClassVar[int]
    TOKENS_BY_ROLE_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    BUDGET_TOKENS_FIELD_NUMBER: _ClassVar[int]
    BUDGET_USED_FIELD_NUMBER: _ClassVar[int]
    message_count: int
    pruned_count: int
    tokens: int
    count_by_role: RoleNumbers
    tokens_by_role: RoleNumbers
    last_sequence: int
    budget_tokens: int
    budget_used: float
    def __init__(self, message_count: _Optional[int] = ..., pruned_count: _Optional[int] = ..., tokens: _Optional[int] = ..., count_by_role: _Optional[_Union[RoleNumbers, _Mapping]] = ..., tokens_by_role: _Optional[_Union[RoleNumbers, _Mapping]] = ..., last_sequence: _Optional[int] = ..., budget_tokens: _Optional[int] = ..., budget_used: _Optional[float] = ...) -> None: ...

class ScoreParts(_message.Message):
    __slots__ = ("keyword", "semantic", "neighbours", "speaker", "session", "recency")
    KEYWORD_FIELD_NUMBER: _ClassVar[int]
    SEMANTIC_FIELD_NUMBER: _ClassVar[int]
    NEIGHBOURS_FIELD_NUMBER: _ClassVar[int]
    SPEAKER_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    RECENCY_FIELD_NUMBER: _ClassVar[int]
    keyword: float
    semantic: float
    neighbours: float
    speaker: float
    session: float
    recency: float
    def __init__(self, keyword: _Optional[float] = ..., semantic: _Optional[float] = ..., neighbours: _Optional[float] = ..., speaker: _Optional[float] = ..., session: _Optional[float] = ..., recency: _Optional[float] = ...) -> None: ...
