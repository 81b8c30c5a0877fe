"""SearchQuery, SearchScope, Weights, RankedHit, Degradation; query analysis; partition ids."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum, auto
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from memsidecar.domain.fact import ScoreBreakdown
from memsidecar.domain.session import SessionHead
from memsidecar.layers.episodic.ranking import Weights
from memsidecar.layers.text_analysis import (
    bigram_characters,
    content_terms_or_all,
    drop_bigram_characters,
    is_unsegmented,
    tokenize,
)
from memsidecar.stores.contract import LogFilter, Owner, Scope

# Each word is looked up and weighed on its own: 10,000 of them took 0.75 s on 5,000 messages. A question has
# fewer than these; of a whole document that is pasted as a query, the beginning says what it is about.
MAX_QUERY_TERMS = 64


@dataclass(frozen=True, slots=True)
class AnalyzedQuery:
    """`words` are its first words, each once, and of characters without blanks the pairs; `names` those of them that
    name somebody who spoke; `content` the rest that says what is asked for, with the characters of its pairs, of which
    some are words; `vector` its meaning, None where there is none to be had."""

    words: tuple[str, ...]
    names: frozenset[str] = frozenset()
    content: tuple[str, ...] = field(default=())
    vector: NDArray[np.float32] | None = None


def analyze_query(
    text: str, speaker_words: Iterable[frozenset[str]], vector: NDArray[np.float32] | None
) -> AnalyzedQuery:
    """Whoever is named as a speaker is looked for among the speakers, and not in the texts."""
    words = tuple(_wanted(text)[:MAX_QUERY_TERMS])
    known = frozenset().union(*speaker_words)
    names = known.intersection(words)
    left = [word for word in words if word not in names] or words
    content = content_terms_or_all([*left, *bigram_characters(left)])
    return AnalyzedQuery(words, names, tuple(content), vector)


def _wanted(text: str) -> list[str]:
    return drop_bigram_characters(list(dict.fromkeys(tokenize(text))))


def remove_names(text: str, names: Iterable[str]) -> str:
    """The text with these words taken out, for its meaning alone."""
    gone = frozenset(names)
    left = [part for part in text.split() if not _names(part, gone)]
    return " ".join(left) or text


def _names(part: str, names: frozenset[str]) -> bool:
    """Whether it is somebody's name: where nothing is written apart, it may be a whole sentence with one in it."""
    words = frozenset(_wanted(part))
    return words <= names if any(map(is_unsegmented, words)) else not names.isdisjoint(words)


def message_partition(user_id: str, session: int) -> int:
    """The shelf of a session's messages; `session` is its number."""
    return _number("user", user_id) if user_id else _number("session", str(session))


def document_partition(owner: Owner) -> int:
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


class Degradation(IntEnum):
    """What was missing when this was answered. The numbers are the contract's degradations."""

    INDEX = 1
    EMBEDDER = 2
    STALE = 4


@dataclass(frozen=True, slots=True)
class SearchScope:
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
    exclude_from: tuple[int, int] | None = None
    include_repeats: bool = True
    as_of: int | None = None
    scope: Scope | None = None
    owners: Sequence[Owner] = ()
    heard: LogFilter | None = None
    "Whose messages stand on these shelves, so that what others say need not be read; None: anybody's."

    @classmethod
    def of_user(cls, namespace: str, user_id: str) -> "SearchScope":
        scope = Scope(namespace, user_id)
        return cls(namespace, [message_partition(user_id, 0)], scope=scope, heard=LogFilter(user_id))

    @classmethod
    def of_session(cls, head: SessionHead) -> "SearchScope":
        """On its user's shelf where there is one."""
        scope = Scope(head.key.namespace, session_id=head.key.session_id)
        heard = LogFilter(head.user_id) if head.user_id else LogFilter(session=head.row_id)
        return cls(
            scope.namespace, [message_partition(head.user_id, head.row_id)], head.row_id, scope=scope, heard=heard
        )

    @classmethod
    def of_owners(cls, owners: Sequence[Owner]) -> "SearchScope":
        """Their documents. Whatever anybody says is none."""
        return cls(
            owners[0].namespace, [document_partition(owner) for owner in owners], owners=owners, heard=LogFilter()
        )

    @property
    def chunks(self) -> bool:
        return self.scope is None


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """`now_us` and `half_life_us` are for the weight of recency."""

    text: str
    mode: Mode = Mode.HYBRID
    vector: NDArray[np.float32] | None = None
    weights: Weights = field(default_factory=Weights)
    now_us: int = 0
    half_life_us: int = 0


@dataclass(frozen=True, slots=True)
class RankedHit:
    """An episode that was found: where it stands in the log, and why. `cosine` is as it is, not relative to others."""

    lsn: int
    sequence: int
    session: int
    score: float
    parts: ScoreBreakdown
    cosine: float
    evaluation: float | None


@dataclass(frozen=True, slots=True)
class RankedHits:
    """Pointers, best first, and what was missing."""

    hits: Sequence[RankedHit]
    degraded: frozenset[Degradation] = frozenset()
    as_of: int = 0
    "Up to which entry of the log everything was considered."
    approximate: bool = False
    "All that was ranked is here, and asking again may name others: pages go on in this."
