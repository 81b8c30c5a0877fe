"""SearchQuery, SearchScope, Weights, RankedHit, Degradation; query analysis; partition ids."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum, auto
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from memsidecar.domain.fact import Parts
from memsidecar.domain.session import Head
from memsidecar.layers.episodic.ranking import Weights
from memsidecar.layers.text_analysis import characters_of, content_words, is_unspaced, without_characters, words_of
from memsidecar.stores.contract import Heard, Owner, Scope

# Each word is looked up and weighed on its own: 10,000 of them took 0.75 s on 5,000 messages. A question has
# fewer than these; of a whole document that is pasted as a query, the beginning says what it is about.
WORDS_COUNTED = 64


@dataclass(frozen=True, slots=True)
class Query:
    """`words` are its first words, each once, and of characters without blanks the pairs; `names` those of them that
    name somebody who spoke; `content` the rest that says what is asked for, with the characters of its pairs, of which
    some are words; `vector` its meaning, None where there is none to be had."""

    words: tuple[str, ...]
    names: frozenset[str] = frozenset()
    content: tuple[str, ...] = field(default=())
    vector: NDArray[np.float32] | None = None


def analysed(text: str, speaker_words: Iterable[frozenset[str]], vector: NDArray[np.float32] | None) -> Query:
    """Whoever is named as a speaker is looked for among the speakers, and not in the texts."""
    words = tuple(_wanted(text)[:WORDS_COUNTED])
    known = frozenset().union(*speaker_words)
    names = known.intersection(words)
    left = [word for word in words if word not in names] or words
    content = content_words([*left, *characters_of(left)])
    return Query(words, names, tuple(content), vector)


def _wanted(text: str) -> list[str]:
    return without_characters(list(dict.fromkeys(words_of(text))))


def without(text: str, names: Iterable[str]) -> str:
    """The text with these words taken out, for its meaning alone."""
    gone = frozenset(names)
    left = [part for part in text.split() if not _names(part, gone)]
    return " ".join(left) or text


def _names(part: str, names: frozenset[str]) -> bool:
    """Whether it is somebody's name: where nothing is written apart, it may be a whole sentence with one in it."""
    words = frozenset(_wanted(part))
    return words <= names if any(map(is_unspaced, words)) else not names.isdisjoint(words)


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


class Mode(Enum):
    KEYWORD = auto()
    SEMANTIC = auto()
    HYBRID = auto()


class Lack(IntEnum):
    """What was missing when this was answered. The numbers are the contract's degradations."""

    INDEX = 1
    EMBEDDER = 2
    STALE = 4


@dataclass(frozen=True, slots=True)
class Range:
    """Where to look: on these shelves, or with none in the whole namespace; in one session of them if it is named.

    `scope` says the same of messages in names, `owners` of documents: by them the journal is asked, and every hit
    compared. `hidden` is a session and a sequence: what was said there from then on is nobody's hit, though it may be a
    neighbour; whoever asks reads it already. `repeats` says whether the same question, asked before, may be a hit: it
    is like itself more than any answer is, and tells nothing. `as_of` leaves out what came after that entry of the log,
    so that pages fit together.
    """

    namespace: str
    shelves: Sequence[int] = ()
    session: int | None = None
    roles: frozenset[int] = frozenset()
    after_us: int | None = None
    before_us: int | None = None
    hidden: tuple[int, int] | None = None
    repeats: bool = True
    as_of: int | None = None
    scope: Scope | None = None
    owners: Sequence[Owner] = ()
    heard: Heard | None = None
    "Whose messages stand on these shelves, so that what others say need not be read; None: anybody's."

    @classmethod
    def of_user(cls, namespace: str, user_id: str) -> "Range":
        scope = Scope(namespace, user_id)
        return cls(namespace, [messages_of(user_id, 0)], scope=scope, heard=Heard(user_id))

    @classmethod
    def of_session(cls, head: Head) -> "Range":
        """On its user's shelf where there is one."""
        scope = Scope(head.key.namespace, session_id=head.key.session_id)
        heard = Heard(head.user_id) if head.user_id else Heard(session=head.number)
        return cls(scope.namespace, [messages_of(head.user_id, head.number)], head.number, scope=scope, heard=heard)

    @classmethod
    def of_owners(cls, owners: Sequence[Owner]) -> "Range":
        """Their documents. Whatever anybody says is none."""
        return cls(owners[0].namespace, [documents_of(owner) for owner in owners], owners=owners, heard=Heard())

    @property
    def chunks(self) -> bool:
        return self.scope is None


@dataclass(frozen=True, slots=True)
class Question:
    """`now_us` and `half_life_us` are for the weight of recency."""

    text: str
    mode: Mode = Mode.HYBRID
    vector: NDArray[np.float32] | None = None
    weights: Weights = field(default_factory=Weights)
    now_us: int = 0
    half_life_us: int = 0


@dataclass(frozen=True, slots=True)
class Pointer:
    """An episode that was found: where it stands in the log, and why. `cosine` is as it is, not relative to others."""

    lsn: int
    sequence: int
    session: int
    score: float
    parts: Parts
    cosine: float
    evaluation: float | None


@dataclass(frozen=True, slots=True)
class Findings:
    """Pointers, best first, and what was missing."""

    pointers: Sequence[Pointer]
    lacks: frozenset[Lack] = frozenset()
    as_of: int = 0
    "Up to which entry of the log everything was considered."
    by_candidates: bool = False
    "All that was ranked is here, and asking again may name others: pages go on in this."
