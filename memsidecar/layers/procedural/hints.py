"""Habits as a few lines for a context: each says what was seen and how often, and asks for nothing."""

from collections.abc import Iterator
from itertools import groupby
from math import ceil

from memsidecar.layers.procedural.chance import surely_at_least
from memsidecar.layers.procedural.patterns import TECHNICAL, Pattern, Patterns

MOST_TOKENS = 100
_TOPICS, _QUESTIONS = 3, 2
_TOPIC_SHARE, _TOPIC_CONVERSATIONS = 0.2, 6  # what comes up less often says little about the next conversation
_QUESTION_SHARE, _OFTEN = 0.08, 10  # one in twelve conversations, but ten times are often in any case
_HOURS_SHARE, _MOST_HOURS = 0.5, 8


def hints(patterns: Patterns) -> str:
    """Most useful first, as many lines as fit."""
    kept: list[str] = []
    tokens = 0
    for line in _lines(patterns):
        if tokens + (cost := _tokens(line)) <= MOST_TOKENS:
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
