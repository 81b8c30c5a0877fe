"""The one piece of protobuf's encoding that we write ourselves, where bytes are joined instead of encoded again."""


def varint(number: int) -> bytes:
    """An unsigned number in groups of seven bits, the lowest first."""
    if number <= 0x7F:
        return bytes((number,))
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
