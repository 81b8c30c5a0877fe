"""Patterns and hints from the counts."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import ceil
from statistics import fmean, median
from typing import NamedTuple

from memsidecar.layers.procedural.counters import HOURS, UsageCounters
from memsidecar.layers.procedural.observations import Length
from memsidecar.layers.procedural.significance import beyond_coincidence, standing_out, surely_at_least, tail
from memsidecar.layers.procedural.style import LengthPreference

CONCISE, DETAILED, TECHNICAL, GENERAL = "concise", "detailed", "technical", "general"
DAILY, WEEKLY, OCCASIONAL = "daily", "weekly", "occasional"

_RECURRING_CONVERSATIONS = 3
_FREQUENCY_CONVERSATIONS, _FREQUENCY_DAYS = 5, 3
_WEEKLY_GAP_DAYS = 10
_HOUR_OBSERVATIONS, _HOUR_CHANCE = 10, 1e-5
_WISHED_SHARE, _WISHED_TIMES_AS_OFTEN, _WISHED_CHANCE = 0.15, 3, 1e-3
_KIND_QUESTIONS, _MOST = 20, 0.5
_GENERAL_CONVERSATIONS, _GENERAL_SHARE = 10, 0.1
_LENGTH_ANSWERS, _LENGTH_DIFFERENCE = 20, 0.2
_MOST_OF_A_KIND = 10

MAX_HINT_TOKENS = 100
_TOPICS, _QUESTIONS = 3, 2
_TOPIC_SHARE, _TOPIC_CONVERSATIONS = 0.2, 6  # what comes up less often says little about the next conversation
_QUESTION_SHARE, _OFTEN = 0.08, 10  # one in twelve conversations, but ten times are often in any case
_HOURS_SHARE, _MOST_HOURS = 0.5, 8


class Pattern(NamedTuple):
    """Something that recurs, and how many observations stand behind it."""

    kind: str
    value: str
    evidence: int


class Engagement(NamedTuple):
    """After answers of which length the user goes on more often: counts of those, and of the others."""

    length: str
    went_on: int
    answers: int
    other_went_on: int
    other_answers: int


@dataclass(frozen=True)
class Patterns:
    """All that can be said of some habits. Every answer is empty where there is not enough evidence."""

    habits: UsageCounters

    @property
    def mean_turns(self) -> float:
        return self.habits.turns / self.habits.conversations if self.habits.conversations else 0.0

    def all(self) -> list[Pattern]:
        """Most evidence first."""
        found = [*self.questions(), *self.topics(), *self.kinds(), *self.hours(), *self._manners()]
        return sorted(found, key=lambda pattern: (-pattern.evidence, pattern.kind, pattern.value))

    def _manners(self) -> Iterator[Pattern]:
        if self.frequency:
            yield Pattern("frequency", self.frequency, len(self.habits.days))
        if wished := self.wished():
            yield wished
        if self.technical_depth:
            technical = self.habits.technical_conversations()
            evidence = technical if self.technical_depth == TECHNICAL else self.habits.conversations - technical
            yield Pattern("technical_depth", self.technical_depth, evidence)
        if engagement := self.engagement():
            yield Pattern("engagement", f"{engagement.length} answers", engagement.went_on)

    def questions(self) -> list[Pattern]:
        _, questions = self.habits.matters()
        counts = [count.conversations for count in questions.counts.values()]
        often = questions.often(beyond_coincidence(counts, _RECURRING_CONVERSATIONS))
        return [Pattern("common_question", one.shown, one.conversations) for one in often][:_MOST_OF_A_KIND]

    def topics(self) -> list[Pattern]:
        """A pair of words stands for each of the two, where one hardly comes without the other."""
        topics, _ = self.habits.matters()
        counts = [count.conversations for count in topics.counts.values()]
        often = list(topics.often(standing_out(counts, _RECURRING_CONVERSATIONS)))
        pairs = [(one.shown.split(), one.conversations) for one in often if " " in one.shown]
        said = [
            one
            for one in often
            if " " in one.shown
            or not any(one.shown in words and count >= 0.7 * one.conversations for words, count in pairs)
        ]
        return [Pattern("topic", one.shown, one.conversations) for one in said][:_MOST_OF_A_KIND]

    def kinds(self) -> list[Pattern]:
        often = (one for one in self.habits.kinds.most_common() if one[1] >= _RECURRING_CONVERSATIONS)
        return [Pattern("question_kind", kind, count) for kind, count in often]

    def main_kind(self) -> Pattern | None:
        """The kind that most questions are of."""
        total = sum(self.habits.kinds.values())
        enough = total >= _KIND_QUESTIONS
        return next((one for one in self.kinds() if enough and surely_at_least(one.evidence, total) > _MOST), None)

    def hours(self) -> list[Pattern]:
        """UTC hours with clearly more than their share."""
        total = sum(self.habits.hours)
        if total < _HOUR_OBSERVATIONS:
            return []
        active = ((hour, count) for hour, count in enumerate(self.habits.hours) if count * HOURS > total)
        return [Pattern("active_hour", f"{h:02}", n) for h, n in active if tail(n, total, 1 / HOURS) < _HOUR_CHANCE]

    @property
    def frequency(self) -> str:
        days = self.habits.days
        if self.habits.conversations < _FREQUENCY_CONVERSATIONS or len(days) < _FREQUENCY_DAYS:
            return ""
        gaps = [later - earlier for earlier, later in pairwise(days)]
        if median(gaps) == 1 and fmean(gaps) <= 2:
            return DAILY
        return WEEKLY if fmean(gaps) <= _WEEKLY_GAP_DAYS else OCCASIONAL

    def wished(self) -> Pattern | None:
        """What was asked for in so many words: often, and far more often than the other."""
        concise, detailed = self.habits.wishes[LengthPreference.CONCISE], self.habits.wishes[LengthPreference.DETAILED]
        for count, other, name in ((concise, detailed, CONCISE), (detailed, concise, DETAILED)):
            if self._is_wished(count, other):
                return Pattern("answer_length", name, count)
        return None

    def _is_wished(self, count: int, other: int) -> bool:
        """In one of seven conversations; or seldom, as by one who is heard, but then as good as never the other."""
        often = count >= max(_RECURRING_CONVERSATIONS, _WISHED_SHARE * self.habits.conversations)
        return (often and count >= _WISHED_TIMES_AS_OFTEN * other) or tail(count, count + other, 0.5) < _WISHED_CHANCE

    @property
    def answer_length(self) -> str:
        """As asked for; else after which answers the user goes on."""
        if wished := self.wished():
            return wished.value
        engagement = self.engagement()
        return {"short": CONCISE, "long": DETAILED}[engagement.length] if engagement else ""

    def engagement(self) -> Engagement | None:
        """Only where the two lengths surely differ: each conversation ends after some answer, whatever its length."""
        short, long = self._went_on(Length.SHORT), self._went_on(Length.LONG)
        for name, more, less in (("short", short, long), ("long", long, short)):
            if min(more[1], less[1]) >= _LENGTH_ANSWERS and _surely_more(more, less) > _LENGTH_DIFFERENCE:
                return Engagement(name, *more, *less)
        return None

    def _went_on(self, length: Length) -> tuple[int, int]:
        engaged = self.habits.engaged[length]
        return engaged, engaged + self.habits.left_after(length)

    @property
    def technical_depth(self) -> str:
        technical, total = self.habits.technical_conversations(), self.habits.conversations
        if surely_at_least(technical, total) > _MOST:
            return TECHNICAL
        return GENERAL if total >= _GENERAL_CONVERSATIONS and technical <= _GENERAL_SHARE * total else ""


def _surely_more(more: tuple[int, int], less: tuple[int, int]) -> float:
    """By how much the first share is greater than the second, at the least."""
    at_most = 1 - surely_at_least(less[1] - less[0], less[1])
    return surely_at_least(*more) - at_most


def render_hints(patterns: Patterns) -> str:
    """Most useful first, as many lines as fit."""
    kept: list[str] = []
    tokens = 0
    for line in _lines(patterns):
        if tokens + (cost := _tokens(line)) <= MAX_HINT_TOKENS:
            kept.append(line)
            tokens += cost
    return "\n".join(kept)


def _lines(patterns: Patterns) -> Iterator[str]:
    conversations = patterns.habits.conversations
    yield from _answer_length(patterns)
    if patterns.technical_depth == TECHNICAL:
        technical = patterns.habits.technical_conversations()
        yield f"Writes in technical terms (in {technical} of {conversations} conversations)"
    if topics := [one for one in patterns.topics() if _is_usual(one, conversations)][:_TOPICS]:
        named = ", ".join(f"{one.value} ({one.evidence})" for one in topics)
        yield f"Often talks about {named} in {conversations} conversations"
    fewest = min(_OFTEN, _QUESTION_SHARE * conversations)
    for one in [one for one in patterns.questions() if one.evidence >= fewest][:_QUESTIONS]:
        yield f'Often asks "{one.value}" (in {one.evidence} conversations)'
    if kind := patterns.main_kind():
        yield f"Mostly asks {kind.value} questions ({kind.evidence} of {sum(patterns.habits.kinds.values())})"
    yield from _hours(patterns)


def _is_usual(topic: Pattern, conversations: int) -> bool:
    return topic.evidence >= _TOPIC_CONVERSATIONS and surely_at_least(topic.evidence, conversations) > _TOPIC_SHARE


def _answer_length(patterns: Patterns) -> Iterator[str]:
    """Either what was asked for, or what was seen: not the second as if it were the first."""
    if wished := patterns.wished():
        yield f"Prefers {wished.value} answers (asked in {wished.evidence} conversations)"
    elif seen := patterns.engagement():
        other = f"{seen.other_went_on} of {seen.other_answers}"
        yield f"Goes on more often after {seen.length} answers ({seen.went_on} of {seen.answers}; else {other})"


def _hours(patterns: Patterns) -> Iterator[str]:
    hours, total = patterns.hours(), sum(patterns.habits.hours)
    active = sum(one.evidence for one in hours)
    if hours and len(hours) <= _MOST_HOURS and active >= _HOURS_SHARE * total:
        yield f"Mostly active at {_ranges(hours)} UTC ({active} of {total} times)"


def _ranges(hours: list[Pattern]) -> str:
    numbers = sorted(int(one.value) for one in hours)
    runs = ([hour for _, hour in run] for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]))
    return ", ".join(f"{run[0]:02}:00-{run[-1] + 1:02}:00" for run in runs)


def _tokens(line: str) -> int:
    """A guess from above: four letters of English make a token, and a sign of other scripts makes one or two."""
    ascii_signs = sum(sign.isascii() for sign in line)
    return ceil(ascii_signs / 4 + 1.5 * (len(line) - ascii_signs)) + 1
