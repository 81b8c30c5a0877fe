"""A stored body is the draft's with its sequence behind it: protobuf takes fields in any order."""

from memsidecar.domain.message import varint

_SEQUENCE_TAG = b"\x50"  # field 10 of Message, a varint


def with_sequence(body: bytes, sequence: int) -> bytes:
    return body + _SEQUENCE_TAG + varint(sequence)
