"""Utterances that wait for the extraction of facts, by session, and the position of a namespace in the log."""

from collections.abc import Collection
from dataclasses import dataclass, field

from memsidecar.domain.message import Role
from memsidecar.domain.session import SessionKey
from memsidecar.language.contract import Utterance
from memsidecar.stores.contract import Owner


@dataclass
class PendingUtterances:
    """Utterances of a session since its last extraction. `last_enqueued` is a time of the monotonic clock."""

    session: int
    key: SessionKey
    user_id: str
    first_lsn: int
    utterances: list[Utterance] = field(default_factory=list)
    turns: int = 0
    size_bytes: int = 0
    last_enqueued: float = 0.0
    lsns: list[int] = field(default_factory=list)
    sequences: list[int] = field(default_factory=list)

    def keep(self, sequences: Collection[int]) -> None:
        """Drop the utterances of all other messages."""
        kept = [place for place, sequence in enumerate(self.sequences) if sequence in sequences]
        self.utterances = [self.utterances[place] for place in kept]
        self.lsns = [self.lsns[place] for place in kept]
        self.sequences = [self.sequences[place] for place in kept]
        self.turns = sum(utterance.role == Role.USER for utterance in self.utterances)
        self.size_bytes = sum(len(utterance.text.encode()) for utterance in self.utterances)

    @property
    def owner(self) -> Owner:
        if self.user_id:
            return Owner(self.key.namespace, self.user_id)
        return Owner(self.key.namespace, session_id=self.key.session_id)


@dataclass
class NamespaceCursor:
    """Position in the log of a namespace, and the utterances that wait for extraction, by session."""

    position: int
    pending: dict[int, PendingUtterances] = field(default_factory=dict)
    model_unavailable: bool = False

    @property
    def completed_lsn(self) -> int:
        """The lsn up to which all facts are extracted."""
        return self.completed_lsn_after(None)

    def completed_lsn_after(self, extracted: PendingUtterances | None) -> int:
        """Return the completed lsn once these utterances are extracted."""
        others = (pending for pending in self.pending.values() if pending is not extracted)
        return min([pending.first_lsn - 1 for pending in others], default=self.position)
