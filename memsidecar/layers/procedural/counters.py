"""Usage counters of one user: running, bounded counts of what observations show, and the topics of open sessions."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, field
from heapq import nsmallest
from math import log2
from typing import NamedTuple

from memsidecar.layers.procedural.observations import OTHER, Length, Observation, question_key, term_key
from memsidecar.layers.procedural.style import LengthPreference

VERSION = 1
"""Version of the encoded state."""
HOURS = 24
_HOUR_US = 3_600_000_000
_DAY_US = HOURS * _HOUR_US
_MAX_RECENT_SESSIONS = 200
_MAX_DAYS = 120
_MAX_TOPICS, _MAX_QUESTIONS = 250, 60
_MAX_OPEN_SESSIONS = 8  # topics of older sessions are final: later messages there are not counted
_HALF_LIFE_CONVERSATIONS = 40  # after so many conversations without it, an item counts half at an eviction
_MAX_SESSION_TERMS, _MAX_SESSION_QUESTIONS = 60, 8
_TURNS_PER_MENTION = 3  # a prominent term is in every third message at least, or in two


class TopCount(NamedTuple):
    """Number of conversations with an item. `last` is the total number of conversations at its last occurrence."""

    shown: str
    conversations: int
    last: int


@dataclass(slots=True)
class TopCounter:
    """Bounded counter. A quarter above `limit`, the least frequent items are evicted.

    An evicted item that returns starts at 1, so a count may be too low but never too high.
    """

    limit: int
    counts: dict[str, TopCount] = field(default_factory=dict)

    def add(self, key: str, shown: str, now: int) -> None:
        """Count an item once for a conversation. `now` is the number of conversations so far."""
        before = self.counts.get(key) or TopCount(shown, 0, now)
        self.counts[key] = TopCount(before.shown, before.conversations + 1, now)
        if len(self.counts) > self.limit * 5 // 4:
            self._evict(now)

    def at_least(self, min_count: float) -> Iterator[TopCount]:
        """Yield the items of at least `min_count` conversations, most frequent first."""
        ranked = sorted(self.counts.values(), key=lambda count: (-count.conversations, count.shown))
        return (count for count in ranked if count.conversations >= min_count)

    def copy(self) -> "TopCounter":
        return TopCounter(self.limit, dict(self.counts))

    def rows(self) -> list[TopCount]:
        return list(self.counts.values())

    def restore(self, rows: Sequence[Sequence[object]], key_of: Callable[[str], str]) -> None:
        """Restore from `rows`. Keys are not stored: they follow from the shown text."""
        counts = (TopCount(*row) for row in rows)  # type: ignore[arg-type] # as `rows` made them
        self.counts = {key_of(count.shown): count for count in counts}

    def _evict(self, now: int) -> None:
        ranked = sorted(self.counts, key=lambda key: _worth(self.counts[key], now), reverse=True)
        kept = set(ranked[: self.limit])
        self.counts = {key: count for key, count in self.counts.items() if key in kept}


def _worth(count: TopCount, now: int) -> tuple[float, str]:
    return log2(count.conversations) - (now - count.last) / _HALF_LIFE_CONVERSATIONS, count.shown


@dataclass(slots=True)
class SessionTopics:
    """Terms of an open session with the number of messages that have them, and its questions, all as shown."""

    turns: int = 0
    terms: dict[str, int] = field(default_factory=dict)
    questions: list[str] = field(default_factory=list)

    def add(self, observation: Observation) -> None:
        self.turns += 1
        known = {term_key(term): term for term in self.terms}
        for term in observation.terms:
            shown = known.setdefault(term_key(term), term)
            self.terms[shown] = self.terms.get(shown, 0) + 1
        surplus = len(self.terms) - _MAX_SESSION_TERMS
        for rare in nsmallest(surplus, self.terms, key=self.terms.__getitem__) if surplus > 0 else ():
            del self.terms[rare]
        if observation.questions:
            wordings = [*self.questions, *(question.wording for question in observation.questions)]
            first = {key: wording for wording in reversed(wordings) if (key := question_key(wording))}
            self.questions = list(reversed(first.values()))[:_MAX_SESSION_QUESTIONS]

    def prominent_terms(self) -> Iterator[str]:
        needed = min(2, -(-self.turns // _TURNS_PER_MENTION))
        return (term for term, mentions in self.terms.items() if mentions >= needed)

    def add_to(self, topics: TopCounter, questions: TopCounter, now: int) -> None:
        for term in self.prominent_terms():
            topics.add(term_key(term), term, now)
        for wording in self.questions:
            questions.add(question_key(wording), wording, now)


@dataclass(slots=True)
class SessionCounts:
    """Counts of a recent session. `pending` is the length of the last answer while the user has not reacted to it.

    `topics_closed`: its topics are final. `resumed`: it continues a session whose counts were folded already.
    """

    session: int
    sequence: int
    turns: int = 0
    technical_turns: int = 0
    day: int = -1
    pending: int = Length.NONE
    preferences: int = LengthPreference.NONE
    topics_closed: bool = False
    resumed: bool = False

    @property
    def technical(self) -> bool:
        """Whether a third of the user's messages are technical: between two pieces of code people write prose."""
        return self.technical_turns > 0 and self.technical_turns * 3 >= self.turns


@dataclass(slots=True)
class UsageCounters:
    """All counts of one user. `engaged` and `left` count answers by length, after which the user went on or did not.

    Of sessions that are no longer recent, only sums remain (`technical`, `left`).
    """

    conversations: int = 0
    turns: int = 0
    technical: int = 0
    newest_folded: int = -1
    hours: list[int] = field(default_factory=lambda: [0] * HOURS)
    days: list[int] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    preferences: Counter[int] = field(default_factory=Counter)
    engaged: Counter[int] = field(default_factory=Counter)
    left: Counter[int] = field(default_factory=Counter)
    topics: TopCounter = field(default_factory=lambda: TopCounter(_MAX_TOPICS))
    questions: TopCounter = field(default_factory=lambda: TopCounter(_MAX_QUESTIONS))
    recent: dict[int, SessionCounts] = field(default_factory=dict)
    open: dict[int, SessionTopics] = field(default_factory=dict)

    def add(self, observations: Iterable[Observation]) -> None:
        """Count observations in the order of the messages; one that was counted before is skipped."""
        for observation in observations:
            known = self.recent.get(observation.session)
            if known is None or observation.sequence > known.sequence:
                self._count(observation, self._session(observation))
                self._fold_oldest()

    def _session(self, observation: Observation) -> SessionCounts:
        """Return the counts of the session and make it the newest. A session older than the folded ones is resumed."""
        session = self.recent.pop(observation.session, None)
        if session is None:
            resumed = observation.sequence > 1 and observation.session <= self.newest_folded
            session = SessionCounts(observation.session, observation.sequence, topics_closed=resumed, resumed=resumed)
        self.recent[observation.session] = session
        return session

    def _count(self, observation: Observation, session: SessionCounts) -> None:
        session.sequence = observation.sequence
        if observation.by_user:
            self._count_user_message(observation, session)
        elif session.turns:  # else it is a greeting, not an answer
            session.pending = observation.answer

    def _count_user_message(self, observation: Observation, session: SessionCounts) -> None:
        self.conversations += session.turns == 0 and not session.resumed
        self.turns += 1
        session.turns += 1
        session.technical_turns += observation.technical
        self._count_time(observation, session)
        self._count_engagement(observation, session)
        if not session.resumed:
            self._count_preference(observation, session)
            self._count_kinds(observation)
        if not session.topics_closed:
            self._count_topics(observation)

    def _count_time(self, observation: Observation, session: SessionCounts) -> None:
        """Count only the first message of a session on a day: the next ones follow within minutes."""
        day = observation.time_us // _DAY_US
        if day != session.day:
            session.day = day
            self.hours[observation.time_us // _HOUR_US % HOURS] += 1
            self.days = sorted({*self.days, day})[-_MAX_DAYS:]

    def _count_engagement(self, observation: Observation, session: SessionCounts) -> None:
        """Count the user's reaction to an answer. Thanks alone are none: the answer remains the last one."""
        if session.pending and observation.engages:
            self.engaged[session.pending] += 1
            session.pending = Length.NONE

    def _count_preference(self, observation: Observation, session: SessionCounts) -> None:
        preference = observation.length_preference
        if preference and not session.preferences & preference:
            session.preferences |= preference
            self.preferences[preference] += 1

    def _count_kinds(self, observation: Observation) -> None:
        for question in observation.questions:
            if question.kind != OTHER:
                self.kinds[question.kind] += 1

    def _count_topics(self, observation: Observation) -> None:
        """Make the session the newest open one; close the oldest if there are too many."""
        self.open[observation.session] = topics = self.open.pop(observation.session, SessionTopics())
        topics.add(observation)
        if len(self.open) > _MAX_OPEN_SESSIONS:
            oldest = next(iter(self.open))
            self._close(oldest)
            self.recent[oldest].topics_closed = True

    def _close(self, session: int) -> None:
        if topics := self.open.pop(session, None):
            topics.add_to(self.topics, self.questions, self.conversations)

    def topics_and_questions(self) -> tuple[TopCounter, TopCounter]:
        """Return the counts of topics and questions, those of the open sessions included."""
        topics, questions = self.topics.copy(), self.questions.copy()
        for session_topics in self.open.values():
            session_topics.add_to(topics, questions, self.conversations)
        return topics, questions

    def _fold_oldest(self) -> None:
        while len(self.recent) > _MAX_RECENT_SESSIONS:
            oldest = self.recent.pop(next(iter(self.recent)))
            self._close(oldest.session)
            self.newest_folded = max(self.newest_folded, oldest.session)
            self.technical += oldest.technical and not oldest.resumed
            if oldest.pending:
                self.left[oldest.pending] += 1

    def technical_conversations(self) -> int:
        return self.technical + sum(session.technical and not session.resumed for session in self.recent.values())

    def left_after(self, length: Length) -> int:
        """Return how many answers of this length were the last of a session; the newest session may still go on."""
        return self.left[length] + sum(session.pending == length for session in list(self.recent.values())[:-1])

    def to_bytes(self) -> bytes:
        state = {
            "version": VERSION,
            "sums": [self.conversations, self.turns, self.technical, self.newest_folded],
            "hours": self.hours,
            "days": self.days,
            "kinds": dict(self.kinds),
            "counts": [sorted(counter.items()) for counter in (self.preferences, self.engaged, self.left)],
            "topics": self.topics.rows(),
            "questions": self.questions.rows(),
            "open": [[session, topics.turns, topics.terms, topics.questions] for session, topics in self.open.items()],
            "recent": [[int(value) for value in astuple(session)] for session in self.recent.values()],
        }
        return json.dumps(state, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")

    @classmethod
    def from_bytes(cls, encoded: bytes) -> "UsageCounters | None":
        """Return the decoded counters; None if another version wrote them."""
        state = json.loads(encoded)
        if state["version"] != VERSION:
            return None
        counters = cls(hours=state["hours"], days=state["days"], kinds=Counter(state["kinds"]))
        counters.conversations, counters.turns, counters.technical, counters.newest_folded = state["sums"]
        counters.preferences, counters.engaged, counters.left = (Counter(dict(counts)) for counts in state["counts"])
        counters.topics.restore(state["topics"], term_key)
        counters.questions.restore(state["questions"], question_key)
        counters.open = {session: SessionTopics(*topics) for session, *topics in state["open"]}
        counters.recent = {row[0]: SessionCounts(*row) for row in state["recent"]}
        return counters
