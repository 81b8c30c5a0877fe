"""Tombstones: what was forgotten, as keyed digests of its names.

A tombstone must not tell whom it is about. Its digest is keyed with random bytes that the journal holds, so that the
digests of two journals cannot be compared, and no table of digests can be prepared. A program that reads the
journal's file has the key, too, and can ask whether a name that it knows was forgotten. That cannot be avoided: an
import asks it.
"""

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b

from memsidecar.stores.contract import Origin, Tombstone, TombstoneKind

KEY_BYTES = 32
_DIGEST_BYTES = 16

FindTombstone = Callable[[str, Tombstone], int | None]
"Returns the time of a tombstone of a namespace; None if there is none."


def digest_of(key: bytes, tombstone: Tombstone) -> bytes:
    # Lengths before texts, so that different names never give the same bytes.
    text = "".join(f"{len(name)};{name}" for name in tombstone.names)
    return blake2b(text.encode(), key=key, person=b"tombstone", digest_size=_DIGEST_BYTES).digest()


def user_tombstones(user_id: str, session_ids: Sequence[str]) -> list[Tombstone]:
    """Return the tombstones of a user: also of the user's sessions, which a record may name without the user."""
    sessions = [Tombstone(TombstoneKind.SESSION, (session_id,)) for session_id in session_ids]
    return [Tombstone(TombstoneKind.USER, (user_id,)), *sessions]


def message_tombstones(session_id: str, message_ids: Sequence[str]) -> list[Tombstone]:
    """Return the tombstones of messages: also of the summaries that may quote them."""
    messages = [message_tombstone(session_id, message_id) for message_id in message_ids]
    return [*messages, Tombstone(TombstoneKind.SUMMARY, (session_id,))]


def message_tombstone(session_id: str, message_id: str) -> Tombstone:
    return Tombstone(TombstoneKind.MESSAGE, (session_id, message_id))


def is_forgotten(origin: Origin, find: FindTombstone) -> bool:
    """Tell whether an item was forgotten, and did not come to be after that."""

    def covers(tombstone: Tombstone) -> bool:
        time_us = find(origin.namespace, tombstone)
        return time_us is not None and time_us >= origin.time_us

    messages = [message_tombstone(origin.message_session, message_id) for message_id in origin.message_ids]
    return any(map(covers, _owners(origin))) or (bool(messages) and all(map(covers, messages)))


def tombstones_of(origin: Origin) -> list[Tombstone]:
    """Return the tombstones that `is_forgotten` may ask for."""
    messages = [message_tombstone(origin.message_session, message_id) for message_id in origin.message_ids]
    return [*_owners(origin), *messages]


def _owners(origin: Origin) -> Iterator[Tombstone]:
    if origin.user_id:
        yield Tombstone(TombstoneKind.USER, (origin.user_id,))
    if origin.session_id:
        yield Tombstone(TombstoneKind.SESSION, (origin.session_id,))
    if origin.is_summary:
        yield Tombstone(TombstoneKind.SUMMARY, (origin.session_id,))
