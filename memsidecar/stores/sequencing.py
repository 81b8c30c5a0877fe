"""A stored body is the draft's with its sequence behind it: protobuf takes fields in any order."""

_SEQUENCE_TAG = b"\x50"  # field 10 of Message, a varint


def with_sequence(body: bytes, sequence: int) -> bytes:
    encoded = bytearray(_SEQUENCE_TAG)
    while sequence > 0x7F:
        encoded.append(sequence & 0x7F | 0x80)
        sequence >>= 7
    encoded.append(sequence)
    return body + encoded
