"""Running counts per user, bounded; topics of a session."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, field
from heapq import nsmallest
from math import log2
from typing import NamedTuple

from memsidecar.layers.procedural.observations import OTHER, Length, Observation, question_key, term_key
from memsidecar.layers.procedural.style import LengthPreference

_HALF_LIFE_CONVERSATIONS = 40  # so long a thing is missed before it counts half when room is made

_MAX_SESSION_TERMS, _MAX_SESSION_QUESTIONS = 60, 8
_TURNS_A_MENTION = 3  # said in every third message at least, or twice

VERSION = 1
HOURS = 24
_HOUR_US = 3_600_000_000
_DAY_US = HOURS * _HOUR_US
_RECENT_SESSIONS = 200
_DAYS_KEPT = 120
_MOST_TOPICS, _MOST_QUESTIONS = 250, 60
_OPEN_SESSIONS = 8  # what was said in others is over, and what is said there later is not listened to


class TopCount(NamedTuple):
    """`last` is the number of conversations when it occurred last."""

    shown: str
    conversations: int
    last: int


@dataclass(slots=True)
class TopCounter:
    """Bounded: when there are a quarter too many, the least goes. What comes back later begins anew, so that a count
    may be too low and is never too high."""

    most: int
    counts: dict[str, TopCount] = field(default_factory=dict)

    def add(self, key: str, shown: str, now: int) -> None:
        """Once for each conversation. `now` is the number of conversations so far."""
        before = self.counts.get(key) or TopCount(shown, 0, now)
        self.counts[key] = TopCount(before.shown, before.conversations + 1, now)
        if len(self.counts) > self.most * 5 // 4:
            self._make_room(now)

    def often(self, fewest: float) -> Iterator[TopCount]:
        """Those that occurred in so many conversations, most first."""
        ranked = sorted(self.counts.values(), key=lambda count: (-count.conversations, count.shown))
        return (count for count in ranked if count.conversations >= fewest)

    def copy(self) -> "TopCounter":
        return TopCounter(self.most, dict(self.counts))

    def rows(self) -> list[TopCount]:
        return list(self.counts.values())

    def restore(self, rows: Sequence[Sequence[object]], key_of: Callable[[str], str]) -> None:
        """The keys are not kept: what is shown has the same one."""
        counts = (TopCount(*row) for row in rows)  # type: ignore[arg-type] # as `rows` made them
        self.counts = {key_of(count.shown): count for count in counts}

    def _make_room(self, now: int) -> None:
        ranked = sorted(self.counts, key=lambda key: _worth(self.counts[key], now), reverse=True)
        kept = set(ranked[: self.most])
        self.counts = {key: count for key, count in self.counts.items() if key in kept}


def _worth(count: TopCount, now: int) -> tuple[float, str]:
    return log2(count.conversations) - (now - count.last) / _HALF_LIFE_CONVERSATIONS, count.shown


@dataclass(slots=True)
class SessionTopics:
    """Of one session that goes on. Terms and questions as they are shown; terms with the messages that have them."""

    turns: int = 0
    terms: dict[str, int] = field(default_factory=dict)
    questions: list[str] = field(default_factory=list)

    def add(self, one: Observation) -> None:
        self.turns += 1
        known = {term_key(term): term for term in self.terms}
        for term in one.terms:
            shown = known.setdefault(term_key(term), term)
            self.terms[shown] = self.terms.get(shown, 0) + 1
        too_many = len(self.terms) - _MAX_SESSION_TERMS
        for rare in nsmallest(too_many, self.terms, key=self.terms.__getitem__) if too_many > 0 else ():
            del self.terms[rare]
        if one.questions:
            asked = [*self.questions, *(question.wording for question in one.questions)]
            first = {key: wording for wording in reversed(asked) if (key := question_key(wording))}
            self.questions = list(reversed(first.values()))[:_MAX_SESSION_QUESTIONS]

    def prominent(self) -> Iterator[str]:
        needed = min(2, -(-self.turns // _TURNS_A_MENTION))
        return (term for term, mentions in self.terms.items() if mentions >= needed)

    def count_in(self, topics: TopCounter, questions: TopCounter, now: int) -> None:
        for term in self.prominent():
            topics.add(term_key(term), term, now)
        for wording in self.questions:
            questions.add(question_key(wording), wording, now)


@dataclass(slots=True)
class SessionCounts:
    """What is to be known of a session while it may go on. `pending` is the length of an answer not answered yet."""

    session: int
    sequence: int
    turns: int = 0
    technical_turns: int = 0
    day: int = -1
    pending: int = Length.NONE
    wishes: int = LengthPreference.NONE
    over: bool = False
    resumed: bool = False

    @property
    def technical(self) -> bool:
        """At least a third of the user's messages: between two pieces of code people write prose."""
        return self.technical_turns > 0 and self.technical_turns * 3 >= self.turns


@dataclass(slots=True)
class UsageCounters:
    """All counts of one user. `engaged` and `left`: answers by their length, after which the user went on or did not.

    Of conversations that are no longer recent only the sums are left (`technical`, `left`).
    """

    conversations: int = 0
    turns: int = 0
    technical: int = 0
    newest_folded: int = -1
    hours: list[int] = field(default_factory=lambda: [0] * HOURS)
    days: list[int] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    wishes: Counter[int] = field(default_factory=Counter)
    engaged: Counter[int] = field(default_factory=Counter)
    left: Counter[int] = field(default_factory=Counter)
    topics: TopCounter = field(default_factory=lambda: TopCounter(_MOST_TOPICS))
    questions: TopCounter = field(default_factory=lambda: TopCounter(_MOST_QUESTIONS))
    recent: dict[int, SessionCounts] = field(default_factory=dict)
    open: dict[int, SessionTopics] = field(default_factory=dict)

    def add(self, observations: Iterable[Observation]) -> None:
        """In the order of the messages. One that was added before, by its session and sequence, is passed over."""
        for one in observations:
            known = self.recent.get(one.session)
            if known is None or one.sequence > known.sequence:
                self._take(one, self._record(one))
                self._fold()

    def _take(self, one: Observation, record: SessionCounts) -> None:
        record.sequence = one.sequence
        if one.by_user:
            self._hear(one, record)
        elif record.turns:  # else it greets, and answers nothing
            record.pending = one.answer

    def _record(self, one: Observation) -> SessionCounts:
        """The session's, which is now the newest. A session of before the folded ones goes on, it does not begin."""
        record = self.recent.pop(one.session, None)
        if record is None:
            resumed = one.sequence > 1 and one.session <= self.newest_folded
            record = SessionCounts(one.session, one.sequence, over=resumed, resumed=resumed)
        self.recent[one.session] = record
        return record

    def _hear(self, one: Observation, record: SessionCounts) -> None:
        self.conversations += record.turns == 0 and not record.resumed
        self.turns += 1
        record.turns += 1
        record.technical_turns += one.technical
        self._note_time(one, record)
        self._note_engagement(one, record)
        if not record.resumed:
            self._note_wish(one, record)
            self._note_kinds(one)
        if not record.over:
            self._note_matter(one)

    def _note_time(self, one: Observation, record: SessionCounts) -> None:
        """The first message of a session on a day: those that follow it within minutes say nothing more."""
        day = one.time_us // _DAY_US
        if day != record.day:
            record.day = day
            self.hours[one.time_us // _HOUR_US % HOURS] += 1
            self.days = sorted({*self.days, day})[-_DAYS_KEPT:]

    def _note_engagement(self, one: Observation, record: SessionCounts) -> None:
        """Thanks alone are no engagement: the answer stays the last one."""
        if record.pending and one.engages:
            self.engaged[record.pending] += 1
            record.pending = Length.NONE

    def _note_wish(self, one: Observation, record: SessionCounts) -> None:
        if one.length_preference and not record.wishes & one.length_preference:
            record.wishes |= one.length_preference
            self.wishes[one.length_preference] += 1

    def _note_kinds(self, one: Observation) -> None:
        for question in one.questions:
            if question.kind != OTHER:
                self.kinds[question.kind] += 1

    def _note_matter(self, one: Observation) -> None:
        """The session is the newest of the open ones now; the oldest of too many is over."""
        self.open[one.session] = matter = self.open.pop(one.session, SessionTopics())
        matter.add(one)
        if len(self.open) > _OPEN_SESSIONS:
            oldest = next(iter(self.open))
            self._close(oldest)
            self.recent[oldest].over = True

    def _close(self, session: int) -> None:
        if matter := self.open.pop(session, None):
            matter.count_in(self.topics, self.questions, self.conversations)

    def matters(self) -> tuple[TopCounter, TopCounter]:
        """Topics and questions, those of the open sessions among them."""
        topics, questions = self.topics.copy(), self.questions.copy()
        for matter in self.open.values():
            matter.count_in(topics, questions, self.conversations)
        return topics, questions

    def _fold(self) -> None:
        while len(self.recent) > _RECENT_SESSIONS:
            oldest = self.recent.pop(next(iter(self.recent)))
            self._close(oldest.session)
            self.newest_folded = max(self.newest_folded, oldest.session)
            self.technical += oldest.technical and not oldest.resumed
            if oldest.pending:
                self.left[oldest.pending] += 1

    def technical_conversations(self) -> int:
        return self.technical + sum(one.technical and not one.resumed for one in self.recent.values())

    def left_after(self, length: Length) -> int:
        """Answers of this length that were the last of their conversation; the newest one may still go on."""
        return self.left[length] + sum(one.pending == length for one in list(self.recent.values())[:-1])

    def to_bytes(self) -> bytes:
        state = {
            "version": VERSION,
            "sums": [self.conversations, self.turns, self.technical, self.newest_folded],
            "hours": self.hours,
            "days": self.days,
            "kinds": dict(self.kinds),
            "counts": [sorted(counter.items()) for counter in (self.wishes, self.engaged, self.left)],
            "topics": self.topics.rows(),
            "questions": self.questions.rows(),
            "open": [[session, one.turns, one.terms, one.questions] for session, one in self.open.items()],
            "recent": [[int(value) for value in astuple(one)] for one in self.recent.values()],
        }
        return json.dumps(state, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")

    @classmethod
    def from_bytes(cls, kept: bytes) -> "UsageCounters | None":
        """None where another version made it: then all is to be counted anew."""
        state = json.loads(kept)
        if state["version"] != VERSION:
            return None
        habits = cls(hours=state["hours"], days=state["days"], kinds=Counter(state["kinds"]))
        habits.conversations, habits.turns, habits.technical, habits.newest_folded = state["sums"]
        habits.wishes, habits.engaged, habits.left = (Counter(dict(counts)) for counts in state["counts"])
        habits.topics.restore(state["topics"], term_key)
        habits.questions.restore(state["questions"], question_key)
        habits.open = {session: SessionTopics(*matter) for session, *matter in state["open"]}
        habits.recent = {row[0]: SessionCounts(*row) for row in state["recent"]}
        return habits
