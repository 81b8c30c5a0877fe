"""Mutations of the encoding of a valid request."""

from collections.abc import Callable
from random import Random

DEEP_LEVELS = 20_000
# Overlong, a surrogate, beyond Unicode, cut off, and a lone continuation.
BROKEN_UTF8 = (b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\x80", b"\xff\xfe")
LENGTH_DELIMITED, GROUP_START = 2, 3


def varint(number: int) -> bytes:
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def tag(number: int, wire_type: int) -> bytes:
    return varint(number << 3 | wire_type)


def delimited(number: int, content: bytes) -> bytes:
    return tag(number, LENGTH_DELIMITED) + varint(len(content)) + content


def flip_bits(data: bytes, random: Random) -> bytes:
    flipped = bytearray(data)
    for _ in range(random.randint(1, 4)):
        flipped[random.randrange(len(flipped))] ^= 1 << random.randrange(8)
    return bytes(flipped)


def truncate(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data))]


def duplicate(data: bytes, random: Random) -> bytes:
    return data * random.randint(2, 5)


def insert(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + random.randbytes(random.randint(1, 8)) + data[at:]


def remove(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data))
    return data[:at] + data[at + random.randint(1, 4) :]


def add_unknown_field(data: bytes, random: Random) -> bytes:
    return data + delimited(random.randint(100, 2**29 - 1), random.randbytes(random.randint(0, 50)))


def add_wrong_wire_type(data: bytes, random: Random) -> bytes:
    number = random.randint(1, 16)
    wire_type = random.choice((0, 1, 5))
    content = {0: varint(random.getrandbits(64)), 1: random.randbytes(8), 5: random.randbytes(4)}[wire_type]
    return data + tag(number, wire_type) + content


def add_random_field(data: bytes, random: Random) -> bytes:
    return data + delimited(random.randint(0, 16), random.randbytes(random.randint(0, 30)))


def add_broken_text(data: bytes, random: Random) -> bytes:
    return data + delimited(random.randint(1, 16), b"a" + random.choice(BROKEN_UTF8))


def add_huge_length(data: bytes, random: Random) -> bytes:
    return data + tag(random.randint(1, 16), LENGTH_DELIMITED) + varint(random.choice((2**31 - 1, 2**32, 2**63)))


def add_nesting(data: bytes, random: Random) -> bytes:
    """Append nested messages, or groups that never close."""
    if random.random() < 0.5:
        return data + tag(random.randint(1, 16), GROUP_START) * DEEP_LEVELS
    nested = b""
    for _ in range(random.choice((50, 120))):
        nested = delimited(random.randint(1, 16), nested)
    return data + nested


def add_deep_metadata(data: bytes, random: Random) -> bytes:
    """Append a Struct nested too deeply, at a field number that requests use for metadata."""
    struct = b""
    for _ in range(random.choice((8, 30, 60))):
        struct = delimited(1, delimited(1, b"a") + delimited(2, delimited(5, struct)))
    return data + delimited(random.choice((6, 7, 8, 10)), struct)


Mutation = Callable[[bytes, Random], bytes]
BYTE_MUTATIONS: tuple[Mutation, ...] = (flip_bits, truncate, duplicate, insert, remove)
"Of any bytes."
MUTATIONS: tuple[Mutation, ...] = (
    *BYTE_MUTATIONS,
    add_unknown_field,
    add_wrong_wire_type,
    add_random_field,
    add_broken_text,
    add_huge_length,
    add_nesting,
    add_deep_metadata,
)


def mutated(data: bytes, random: Random) -> bytes:
    for _ in range(random.randint(1, 3)):
        data = random.choice(MUTATIONS)(data or b"\0", random)
    return data
