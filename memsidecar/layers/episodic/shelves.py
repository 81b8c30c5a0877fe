"""Whose an episode is, as a number: the index knows no names.

Everything a user said stands on one shelf, across sessions; a session without a user has a shelf of its own. Documents
stand on other shelves than messages, by the same rule. That two names share a number is an accident of 1 in 2^63, and
shows nobody anything: a hit is fetched from the journal and compared with the name itself.
"""

from hashlib import blake2b

from memsidecar.stores.contract import Owner


def messages_of(user_id: str, session: int) -> int:
    """The shelf of a session's messages; `session` is its number."""
    return _number("user", user_id) if user_id else _number("session", str(session))


def documents_of(owner: Owner) -> int:
    if owner.session_id:
        return _number("session's documents", owner.session_id)
    return _number("user's documents", owner.user_id) if owner.user_id else _number("everybody's documents", "")


def _number(kind: str, name: str) -> int:
    digest = blake2b(name.encode(), digest_size=8, person=kind.encode()[:16]).digest()
    return int.from_bytes(digest, "big") >> 1
