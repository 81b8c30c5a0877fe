"""The kinds of log entries, the same in each store on disk."""

from enum import IntEnum

from memsidecar.stores.contract import RecordKind


class LogKind(IntEnum):
    """Kinds of log entries. The numbers are stored on disk."""

    MESSAGE = 1
    ANNOTATION = 2
    PRUNE = 3
    SHORTENING = 4
    CLAIM = 5
    CLEAR = 6
    DELETE = 7
    DOCUMENT = 8
    DOCUMENT_DELETE = 9
    FACT = 10
    SUMMARY = 11
    MESSAGE_ERASURE = 12


KIND_OF_RECORD = {RecordKind.FACT: LogKind.FACT, RecordKind.SUMMARY: LogKind.SUMMARY}
"""Changed records of other kinds have no entry."""
