"""Patterns and hints of a user: what is significant in the usage counters."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, exp, factorial, lgamma, log, log1p, sqrt
from statistics import fmean, median
from typing import NamedTuple

from memsidecar.layers.procedural.counters import HOURS, UsageCounters
from memsidecar.layers.procedural.observations import Length
from memsidecar.layers.procedural.style import LengthPreference

_MAX_EXPECTED_COINCIDENCES = 0.01
_Z = 2.6  # one in two hundred: many shares are tested


def wilson_lower_bound(count: int, total: int) -> float:
    """Return the lower bound of the share behind `count` of `total`."""
    if not total:
        return 0.0
    share, square = count / total, _Z * _Z
    spread = _Z * sqrt(share * (1 - share) / total + square / (4 * total * total))
    return (share + square / (2 * total) - spread) / (1 + square / total)


def binomial_tail(count: int, total: int, share: float) -> float:
    """Return the probability of `count` or more of `total` by chance, each with this share."""
    return min(1.0, sum(exp(_log_binomial(hits, total, share)) for hits in range(count, total + 1)))


def _log_binomial(count: int, total: int, share: float) -> float:
    combinations = lgamma(total + 1) - lgamma(count + 1) - lgamma(total - count + 1)
    return combinations + count * log(share) + (total - count) * log1p(-share)


def min_recurring_count(counts: Sequence[int], min_count: int) -> int:
    """Return the count from which on an item did not recur by coincidence, at least `min_count`.

    The numbers of items seen once and twice estimate the size of the set that they are drawn from (Good-Turing), and so
    how many items would recur without a reason.
    """
    once, twice = counts.count(1), counts.count(2)
    recurrence = min(1.0, 2 * twice / once) if once else 0.0
    while once * recurrence ** (min_count - 1) / factorial(min_count) > _MAX_EXPECTED_COINCIDENCES:
        min_count += 1
    return min_count


def outlier_threshold(counts: Sequence[int], min_count: int) -> float:
    """Return the count from which on an item stands out of the rest, at least `min_count`.

    The rest are the lower three quarters. If they occur once each, `min_count` is the threshold. If all items recur, as
    the words of a narrow subject do, it is far above their mean.
    """
    rest = sorted(counts)[: len(counts) * 3 // 4]
    mean = fmean(rest) if rest else 1.0
    return max(min_count, mean + 6 * sqrt(max(0.0, mean - 1)))


CONCISE, DETAILED, TECHNICAL, GENERAL = "concise", "detailed", "technical", "general"
DAILY, WEEKLY, OCCASIONAL = "daily", "weekly", "occasional"

_MAX_PATTERNS_OF_A_KIND = 10
_MIN_CONVERSATIONS = 3
_MAJORITY = 0.5
_PAIR_SHARE = 0.7
_FREQUENCY_MIN_CONVERSATIONS, _FREQUENCY_MIN_DAYS = 5, 3
_WEEKLY_MAX_GAP_DAYS = 10
_HOUR_MIN_OBSERVATIONS, _HOUR_MAX_CHANCE = 10, 1e-5
_PREFERENCE_MIN_SHARE, _PREFERENCE_MIN_RATIO, _PREFERENCE_MAX_CHANCE = 0.15, 3, 1e-3
_GENERAL_MIN_CONVERSATIONS, _GENERAL_MAX_SHARE = 10, 0.1
_ENGAGEMENT_MIN_ANSWERS, _ENGAGEMENT_MIN_DIFFERENCE = 20, 0.2

MAX_HINT_TOKENS = 100
_HINT_TOPICS, _HINT_QUESTIONS = 3, 2
_TOPIC_MIN_SHARE, _TOPIC_MIN_CONVERSATIONS = 0.2, 6  # a rarer topic says little about the next conversation
_QUESTION_MIN_SHARE, _QUESTION_ENOUGH = 0.08, 10  # one in twelve conversations, but ten are enough in any case


class Pattern(NamedTuple):
    """Recurring behaviour, and the number of observations behind it."""

    kind: str
    value: str
    evidence: int


class Engagement(NamedTuple):
    """Answer length after which the user continues more often, and how often."""

    length: str
    continued: int


@dataclass(frozen=True)
class Patterns:
    """Patterns of one user. Each result is empty without enough evidence."""

    counters: UsageCounters

    @property
    def mean_turns(self) -> float:
        return self.counters.turns / self.counters.conversations if self.counters.conversations else 0.0

    def all(self) -> list[Pattern]:
        """Return all patterns, most evidence first."""
        found = [*self.questions(), *self.topics(), *self.kinds(), *self.hours(), *self._style_patterns()]
        return sorted(found, key=lambda pattern: (-pattern.evidence, pattern.kind, pattern.value))

    def _style_patterns(self) -> Iterator[Pattern]:
        if self.frequency:
            yield Pattern("frequency", self.frequency, len(self.counters.days))
        if requested := self.requested_length():
            yield requested
        if self.technical_depth:
            technical = self.counters.technical_conversations()
            evidence = technical if self.technical_depth == TECHNICAL else self.counters.conversations - technical
            yield Pattern("technical_depth", self.technical_depth, evidence)
        if engagement := self.engagement():
            yield Pattern("engagement", f"{engagement.length} answers", engagement.continued)

    def questions(self) -> list[Pattern]:
        _, questions = self.counters.topics_and_questions()
        counts = [count.conversations for count in questions.counts.values()]
        frequent = questions.at_least(min_recurring_count(counts, _MIN_CONVERSATIONS))
        patterns = [Pattern("common_question", count.shown, count.conversations) for count in frequent]
        return patterns[:_MAX_PATTERNS_OF_A_KIND]

    def topics(self) -> list[Pattern]:
        """Return frequent topics. A pair of words replaces each of its words that rarely occurs without the other."""
        topics, _ = self.counters.topics_and_questions()
        counts = [count.conversations for count in topics.counts.values()]
        frequent = list(topics.at_least(outlier_threshold(counts, _MIN_CONVERSATIONS)))
        pairs = [(count.shown.split(), count.conversations) for count in frequent if " " in count.shown]

        def is_in_pair(word: str, conversations: int) -> bool:
            return any(word in words and together >= _PAIR_SHARE * conversations for words, together in pairs)

        chosen = (count for count in frequent if " " in count.shown or not is_in_pair(count.shown, count.conversations))
        return [Pattern("topic", count.shown, count.conversations) for count in chosen][:_MAX_PATTERNS_OF_A_KIND]

    def kinds(self) -> list[Pattern]:
        counts = self.counters.kinds.most_common()
        return [Pattern("question_kind", kind, count) for kind, count in counts if count >= _MIN_CONVERSATIONS]

    def hours(self) -> list[Pattern]:
        """Return the UTC hours with significantly more than their share."""
        total = sum(self.counters.hours)
        if total < _HOUR_MIN_OBSERVATIONS:
            return []
        return [
            Pattern("active_hour", f"{hour:02}", count)
            for hour, count in enumerate(self.counters.hours)
            if count * HOURS > total and binomial_tail(count, total, 1 / HOURS) < _HOUR_MAX_CHANCE
        ]

    @property
    def frequency(self) -> str:
        days = self.counters.days
        if self.counters.conversations < _FREQUENCY_MIN_CONVERSATIONS or len(days) < _FREQUENCY_MIN_DAYS:
            return ""
        gaps = [later - earlier for earlier, later in pairwise(days)]
        if median(gaps) == 1 and fmean(gaps) <= 2:
            return DAILY
        return WEEKLY if fmean(gaps) <= _WEEKLY_MAX_GAP_DAYS else OCCASIONAL

    def requested_length(self) -> Pattern | None:
        """Return the answer length that the user asks for often, and far more often than for the other."""
        concise = self.counters.preferences[LengthPreference.CONCISE]
        detailed = self.counters.preferences[LengthPreference.DETAILED]
        for count, other, name in ((concise, detailed, CONCISE), (detailed, concise, DETAILED)):
            if self._is_preferred(count, other):
                return Pattern("answer_length", name, count)
        return None

    def _is_preferred(self, count: int, other: int) -> bool:
        """Whether the length is requested in one of seven conversations; or rarely, but then almost never the other.

        The second case is a user whose requests are followed.
        """
        is_frequent = count >= max(_MIN_CONVERSATIONS, _PREFERENCE_MIN_SHARE * self.counters.conversations)
        if is_frequent and count >= _PREFERENCE_MIN_RATIO * other:
            return True
        return binomial_tail(count, count + other, 0.5) < _PREFERENCE_MAX_CHANCE

    @property
    def answer_length(self) -> str:
        """Requested answer length, else the one after which the user continues more often."""
        if requested := self.requested_length():
            return requested.value
        engagement = self.engagement()
        return {"short": CONCISE, "long": DETAILED}[engagement.length] if engagement else ""

    def engagement(self) -> Engagement | None:
        """Return the more engaging length if the difference is significant: each conversation ends after an answer."""
        short, long = self._continued(Length.SHORT), self._continued(Length.LONG)
        for name, more, less in (("short", short, long), ("long", long, short)):
            has_enough = min(more[1], less[1]) >= _ENGAGEMENT_MIN_ANSWERS
            if has_enough and _min_difference(more, less) > _ENGAGEMENT_MIN_DIFFERENCE:
                return Engagement(name, more[0])
        return None

    def _continued(self, length: Length) -> tuple[int, int]:
        engaged = self.counters.engaged[length]
        return engaged, engaged + self.counters.left_after(length)

    @property
    def technical_depth(self) -> str:
        technical, total = self.counters.technical_conversations(), self.counters.conversations
        if wilson_lower_bound(technical, total) > _MAJORITY:
            return TECHNICAL
        is_general = total >= _GENERAL_MIN_CONVERSATIONS and technical <= _GENERAL_MAX_SHARE * total
        return GENERAL if is_general else ""


def _min_difference(more: tuple[int, int], less: tuple[int, int]) -> float:
    """Return a lower bound of the difference between two shares."""
    upper_bound = 1 - wilson_lower_bound(less[1] - less[0], less[1])
    return wilson_lower_bound(*more) - upper_bound


def render_hints(patterns: Patterns) -> str:
    """Return the hints, most useful first, as many lines as fit into MAX_HINT_TOKENS."""
    lines: list[str] = []
    tokens = 0
    for line in _hint_lines(patterns):
        if tokens + (cost := _estimate_tokens(line)) <= MAX_HINT_TOKENS:
            lines.append(line)
            tokens += cost
    return "\n".join(lines)


def _hint_lines(patterns: Patterns) -> Iterator[str]:
    """Yield the patterns that can change an answer. Hours, kinds of questions and engagement cannot."""
    counters = patterns.counters
    conversations = counters.conversations
    if requested := patterns.requested_length():
        yield f"Prefers {requested.value} answers (asked in {requested.evidence} conversations)"
    if patterns.technical_depth == TECHNICAL:
        yield f"Writes in technical terms (in {counters.technical_conversations()} of {conversations} conversations)"
    if topics := [topic for topic in patterns.topics() if _is_usual(topic, conversations)][:_HINT_TOPICS]:
        named = ", ".join(f"{topic.value} ({topic.evidence})" for topic in topics)
        yield f"Often talks about {named} in {conversations} conversations"
    min_evidence = min(_QUESTION_ENOUGH, _QUESTION_MIN_SHARE * conversations)
    questions = [question for question in patterns.questions() if question.evidence >= min_evidence]
    for question in questions[:_HINT_QUESTIONS]:
        yield f'Often asks "{question.value}" (in {question.evidence} conversations)'


def _is_usual(topic: Pattern, conversations: int) -> bool:
    is_frequent = topic.evidence >= _TOPIC_MIN_CONVERSATIONS
    return is_frequent and wilson_lower_bound(topic.evidence, conversations) > _TOPIC_MIN_SHARE


def _estimate_tokens(line: str) -> int:
    """Return an upper estimate: a token has four ASCII characters; another character has one or two tokens."""
    ascii_characters = sum(character.isascii() for character in line)
    return ceil(ascii_characters / 4 + 1.5 * (len(line) - ascii_characters)) + 1
