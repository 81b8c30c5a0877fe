"""Search requests and results; analysis of the query text; partition ids."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum, auto
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memsidecar.domain.fact import ScoreBreakdown
from memsidecar.domain.session import SessionHead
from memsidecar.layers.episodic.dates import DatesInText, NamedDate, NamedDays, read_dates
from memsidecar.layers.text_analysis import (
    MAX_QUERY_TERMS,
    bigram_characters,
    content_terms,
    content_terms_or_all,
    drop_bigram_characters,
    is_unsegmented,
    tokenize,
)
from memsidecar.stores.contract import LogFilter, Owner, Scope


class Mode(Enum):
    KEYWORD = auto()
    SEMANTIC = auto()
    HYBRID = auto()


class Degradation(IntEnum):
    """Why a response may be incomplete. The values are those of the wire's Degradation."""

    INDEX = 1
    EMBEDDER = 2
    STALE = 4


@dataclass(frozen=True, slots=True)
class Weights:
    """Weight of each signal in a hybrid ranking; 0 disables the signal."""

    keyword_context: float = 2.0
    semantic: float = 1.0
    semantic_context: float = 2.0
    speaker: float = 1.5
    session: float = 1.0
    recency: float = 0.0


@dataclass(frozen=True)
class SearchQuery:
    """The text or vector to search for. Recency and dates such as "last week" are relative to `now_us`."""

    text: str
    mode: Mode = Mode.HYBRID
    vector: NDArray[np.float32] | None = None
    weights: Weights = field(default_factory=Weights)
    now_us: int = 0
    half_life_us: int = 0

    @cached_property
    def tokens(self) -> list[str]:
        return tokenize(self.text)


@dataclass(frozen=True, slots=True)
class SearchScope:
    """The rows that may be hits: those of `partitions`, or of the whole namespace if there are none.

    `message_scope` (for messages) and `owners` (for documents) name the same scope by ids. The journal is read by them,
    and every hit is checked against them.
    """

    namespace: str
    partitions: Sequence[int] = ()
    session: int | None = None
    "Only this session, by its number in the journal."
    roles: frozenset[int] = frozenset()
    after_us: int | None = None
    before_us: int | None = None
    exclude_from: tuple[int, int] | None = None
    """(session, sequence): messages of the session from this sequence on are no hits, because the caller has them in
    its window. They still count as neighbours of hits."""
    include_repeats: bool = True
    "Whether earlier messages that ask the same question may be hits. They match best and answer nothing."
    as_of: int | None = None
    "Ignore log entries after this lsn, so that all pages of a search see the same messages."
    message_scope: Scope | None = None
    owners: Sequence[Owner] = ()
    log_filter: LogFilter | None = None
    "Restricts reads of the change feed to entries of this scope; None reads all entries."

    @classmethod
    def of_user(cls, namespace: str, user_id: str) -> "SearchScope":
        return cls(
            namespace,
            [message_partition(user_id, 0)],
            message_scope=Scope(namespace, user_id),
            log_filter=LogFilter(user_id),
        )

    @classmethod
    def of_session(cls, head: SessionHead) -> "SearchScope":
        """Return the scope of one session. Its rows are in the partition of its user, if it has one."""
        scope = Scope(head.key.namespace, session_id=head.key.session_id)
        return cls(
            scope.namespace,
            [message_partition(head.user_id, head.row_id)],
            head.row_id,
            message_scope=scope,
            log_filter=LogFilter(head.user_id) if head.user_id else LogFilter(session=head.row_id),
        )

    @classmethod
    def of_owners(cls, owners: Sequence[Owner]) -> "SearchScope":
        """Return the scope of the owners' documents; it has no messages."""
        partitions = [document_partition(owner) for owner in owners]
        return cls(owners[0].namespace, partitions, owners=owners, log_filter=LogFilter())

    @property
    def chunks(self) -> bool:
        """Whether the hits are chunks of documents; else they are messages."""
        return self.message_scope is None


class RankedHit(NamedTuple):
    """Reference to an episode, with its score.

    `score` and `parts` are relative to other hits. `relevance` is absolute: the probability that the memory helps with
    the query, less for episodes that match it less well than the best one. Recency has no part in it.
    """

    lsn: int
    sequence: int
    session: int
    score: float
    parts: ScoreBreakdown
    relevance: float
    evaluation: float | None


@dataclass(frozen=True, slots=True)
class RankedHits:
    """Hits, best first."""

    hits: Sequence[RankedHit]
    degraded: frozenset[Degradation] = frozenset()
    as_of: int = 0
    "The last log entry that was considered."
    approximate: bool = False
    "Only candidates were ranked, and another search may choose others: later pages must reuse these hits."


@dataclass(frozen=True, slots=True)
class AnalyzedQuery:
    """Terms and vector of a query.

    `words` are its first distinct terms. `names` are those of them that name a speaker. `content` are the other terms
    without stop words, with the single characters of CJK bigrams, because some of these are words. `vector` is None if
    there is no embedding; `embedder` is the identity of the embedder whose vectors it is compared with, and
    `unrelated_cosine` is that embedder's. `dates` are those that the text names. The tokens of each of `written_dates`
    are matched together, because the numbers of a date say nothing alone.
    """

    words: tuple[str, ...]
    names: frozenset[str] = frozenset()
    content: tuple[str, ...] = field(default=())
    vector: NDArray[np.float32] | None = None
    embedder: str = ""
    unrelated_cosine: float = 0.0
    dates: tuple[NamedDate | NamedDays, ...] = ()
    written_dates: tuple[tuple[str, ...], ...] = ()


def analyze_query(
    query: SearchQuery, speaker_words: Iterable[frozenset[str]], vector: NDArray[np.float32] | None
) -> AnalyzedQuery:
    """Return the terms of a query. Names of speakers are matched against speakers and not against texts.

    The same holds for dates and times, but in keyword mode they are terms like any other.
    """
    words = tuple(_distinct(query.tokens)[:MAX_QUERY_TERMS])
    names = frozenset().union(*speaker_words).intersection(words)
    dates = DatesInText() if query.mode is Mode.KEYWORD else read_dates(query.text, query.now_us)
    elsewhere = Counter(query.tokens)
    elsewhere.subtract(dates.numbers)
    others = [word for word in words if word not in names] or words
    undated = [word for word in others if elsewhere[word] > 0]
    terms_of = content_terms if dates.numbers else content_terms_or_all
    content = terms_of([*undated, *bigram_characters(undated)])
    return AnalyzedQuery(words, names, tuple(content), vector, dates=dates.dates, written_dates=dates.written)


def remove_names(text: str, names: Iterable[str]) -> str:
    """Return the text without these names, to be embedded; the whole text if nothing else is in it."""
    removed, parts = frozenset(names), text.split()
    if removed:
        named = {part for part in set(parts) if _is_name(part, removed)}
        parts = [part for part in parts if part not in named]
    return " ".join(parts) or text


def _is_name(part: str, names: frozenset[str]) -> bool:
    """Return whether a part of the text is a name. In an unsegmented script it may be a sentence that contains one."""
    words = frozenset(_distinct(tokenize(part)))
    return words <= names if any(map(is_unsegmented, words)) else not names.isdisjoint(words)


def _distinct(tokens: Sequence[str]) -> list[str]:
    return drop_bigram_characters(list(dict.fromkeys(tokens)))


def message_partition(user_id: str, session: int) -> int:
    """Return the partition of a session's messages; `session` is its number in the journal."""
    return _partition_id("user", user_id) if user_id else _partition_id("session", str(session))


def document_partition(owner: Owner) -> int:
    if owner.session_id:
        return _partition_id("session's documents", owner.session_id)
    if owner.user_id:
        return _partition_id("user's documents", owner.user_id)
    return _partition_id("everybody's documents", "")


def _partition_id(kind: str, name: str) -> int:
    """Return a stable 63-bit id. It is stored in the tables, so `kind` and `name` must not change."""
    digest = blake2b(name.encode(), digest_size=8, person=kind.encode()[:16]).digest()
    return int.from_bytes(digest, "big") >> 1
