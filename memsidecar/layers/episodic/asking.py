"""What is asked of episodic memory, and what it answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum, auto

import numpy as np
from numpy.typing import NDArray

from memsidecar.domain.fact import Parts
from memsidecar.domain.session import Head
from memsidecar.layers.episodic.ranking import Weights
from memsidecar.layers.episodic.shelves import documents_of, messages_of
from memsidecar.stores.contract import Heard, Owner, Scope


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
