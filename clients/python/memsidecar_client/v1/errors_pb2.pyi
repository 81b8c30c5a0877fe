from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from typing import ClassVar as _ClassVar

DESCRIPTOR: _descriptor.FileDescriptor

class ErrorReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ERROR_REASON_UNSPECIFIED: _ClassVar[ErrorReason]
    ERROR_REASON_INVALID_FIELD: _ClassVar[ErrorReason]
    ERROR_REASON_NO_SUCH_THING: _ClassVar[ErrorReason]
    ERROR_REASON_ID_CONFLICT: _ClassVar[ErrorReason]
    ERROR_REASON_SEQUENCE_MISMATCH: _ClassVar[ErrorReason]
    ERROR_REASON_NOT_YOUR_SESSION: _ClassVar[ErrorReason]
    ERROR_REASON_BUDGET_TOO_SMALL: _ClassVar[ErrorReason]
    ERROR_REASON_TOO_LARGE: _ClassVar[ErrorReason]
    ERROR_REASON_RATE_LIMITED: _ClassVar[ErrorReason]
    ERROR_REASON_QUOTA_EXCEEDED: _ClassVar[ErrorReason]
    ERROR_REASON_DISK_FULL: _ClassVar[ErrorReason]
    ERROR_REASON_BAD_CREDENTIALS: _ClassVar[ErrorReason]
    ERROR_REASON_NOT_ALLOWED: _ClassVar[ErrorReason]
    ERROR_REASON_STARTING: _ClassVar[ErrorReason]
    ERROR_REASON_SHUTTING_DOWN: _ClassVar[ErrorReason]
    ERROR_REASON_INDEX_UNAVAILABLE: _ClassVar[ErrorReason]
    ERROR_REASON_BUSY: _ClassVar[ErrorReason]
    ERROR_REASON_DAMAGED_FILE: _ClassVar[ErrorReason]
    ERROR_REASON_NOT_BUILT: _ClassVar[ErrorReason]
    ERROR_REASON_BUG: _ClassVar[ErrorReason]
ERROR_REASON_UNSPECIFIED: ErrorReason
ERROR_REASON_INVALID_FIELD: ErrorReason
ERROR_REASON_NO_SUCH_THING: ErrorReason
ERROR_REASON_ID_CONFLICT: ErrorReason
ERROR_REASON_SEQUENCE_MISMATCH: ErrorReason
ERROR_REASON_NOT_YOUR_SESSION: ErrorReason
ERROR_REASON_BUDGET_TOO_SMALL: ErrorReason
ERROR_REASON_TOO_LARGE: ErrorReason
ERROR_REASON_RATE_LIMITED: ErrorReason
ERROR_REASON_QUOTA_EXCEEDED: ErrorReason
ERROR_REASON_DISK_FULL: ErrorReason
ERROR_REASON_BAD_CREDENTIALS: ErrorReason
ERROR_REASON_NOT_ALLOWED: ErrorReason
ERROR_REASON_STARTING: ErrorReason
ERROR_REASON_SHUTTING_DOWN: ErrorReason
ERROR_REASON_INDEX_UNAVAILABLE: ErrorReason
ERROR_REASON_BUSY: ErrorReason
ERROR_REASON_DAMAGED_FILE: ErrorReason
ERROR_REASON_NOT_BUILT: ErrorReason
ERROR_REASON_BUG: ErrorReason
