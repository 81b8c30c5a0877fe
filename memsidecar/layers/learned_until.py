"""How far facts are extracted: one task reads the large messages of a namespace, and another one all others."""

from typing import NamedTuple

from memsidecar.domain.message import StoredMessage

LARGE_MESSAGE_BYTES = 16 << 10
"""Larger messages have a task, a watermark and a thread of their own: they may take a second of CPU time each, and a
user who sends them without end must not delay what others say."""


class LearnedUntil(NamedTuple):
    """The lsns up to which the facts of large messages, and of all others, are extracted."""

    others_lsn: int
    large_lsn: int

    def has_learned(self, lsn: int, message: StoredMessage) -> bool:
        return lsn <= (self.large_lsn if is_large(message) else self.others_lsn)


def is_large(message: StoredMessage) -> bool:
    return len(message.body) > LARGE_MESSAGE_BYTES
