"""Habits are counted once, in parts or at once, and stay small."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsidecar.domain.message import Role
from memsidecar.layers.procedural.counters import UsageCounters
from memsidecar.layers.procedural.observations import ObservedMessage, observe
from memsidecar.layers.procedural.patterns import Patterns, render_hints
from tests.procedural.histories import START_US, by_chance, conversation, habits_of

MOST_BYTES = 64 * 1024
TEXTS = st.one_of(
    st.text(max_size=200),
    st.sampled_from(
        ["How do I reset it?", "shorter please", "Tell me about sailing boats.", "```\nx\n```", "thanks", "何ですか？"]
    ),
)
HEARD = st.builds(
    ObservedMessage,
    st.integers(1, 12),
    st.integers(1, 40),
    st.sampled_from([int(role) for role in Role]),
    st.integers(0, 2**52),
    TEXTS,
)


def add_in_parts(messages: list[ObservedMessage], sizes: list[int]) -> UsageCounters:
    """Kept and read again between the parts."""
    habits, begin = UsageCounters(), 0
    for size in [*sizes, len(messages)]:
        habits.add(seen for message in messages[begin : begin + size] if (seen := observe(message)))
        begin += size
        habits = again(habits)
    return habits


def again(habits: UsageCounters) -> UsageCounters:
    read = UsageCounters.from_bytes(habits.to_bytes())
    assert read is not None
    return read


@given(st.lists(HEARD, max_size=40), st.lists(st.integers(1, 10), max_size=10))
def test_in_parts_it_is_the_same_as_at_once(messages: list[ObservedMessage], sizes: list[int]) -> None:
    assert add_in_parts(messages, sizes) == habits_of(messages)


@pytest.mark.parametrize("seed", range(3))
def test_a_long_history_in_parts_is_the_same_as_at_once(seed: int) -> None:
    messages, random = interleaved(by_chance(seed, 260), seed), Random(seed)
    assert add_in_parts(messages, [random.randint(1, 400) for _ in range(30)]) == habits_of(messages)


def interleaved(messages: list[ObservedMessage], seed: int) -> list[ObservedMessage]:
    """Sessions mixed with their neighbours; within one the order stays."""
    random = Random(seed)
    delays = {message.session: random.random() * 6 for message in messages}
    return sorted(messages, key=lambda one: one.session + delays[one.session] + one.sequence / 4)


@given(st.lists(HEARD, max_size=30))
def test_what_was_added_is_not_added_twice(messages: list[ObservedMessage]) -> None:
    once, twice = habits_of(messages), habits_of(messages)
    twice.add(seen for message in messages if (seen := observe(message)))
    assert twice == once


def test_a_conversation_that_goes_on_is_one() -> None:
    talk = conversation(1, START_US, [("Tell me about sailing.", "Sure."), ("And about sailing boats?", "Well.")])
    habits = add_in_parts(talk, [1, 1, 1])
    assert (habits.conversations, habits.turns) == (1, 2)


def test_a_conversation_from_long_ago_that_goes_on_is_not_a_new_one() -> None:
    talks = [conversation(session, START_US, [("Tell me about sailing.", "Sure.")]) for session in range(1, 400)]
    habits = habits_of(message for talk in talks for message in talk)
    before = habits.conversations
    habits.add(filter(None, [observe(ObservedMessage(3, 9, int(Role.USER), START_US, "More about sailing."))]))
    assert (habits.conversations, before) == (399, 399)


@settings(max_examples=100)
@given(st.lists(HEARD, max_size=12))
def test_no_text_is_too_strange(messages: list[ObservedMessage]) -> None:
    habits = habits_of(messages)
    assert again(habits) == habits
    patterns = Patterns(habits)
    assert all(one.evidence > 0 for one in patterns.all())
    assert render_hints(patterns).isprintable() or "\n" in render_hints(patterns)


@pytest.mark.long
@pytest.mark.parametrize(
    "letters", ["abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщ", "的一是不了人我在有他这中大来上"]
)
def test_the_state_stays_small_whatever_comes(letters: str) -> None:
    random, habits = Random(letters), UsageCounters()
    for session in range(10_000_000, 10_000_260):
        words = ["".join(random.choices(letters, k=random.randint(3, 24))) for _ in range(120)]
        text = "? how do i ".join(" ".join(words[begin : begin + 12]) for begin in range(0, 120, 12)) + "?"
        habits.add(
            filter(None, [observe(ObservedMessage(session, n, int(Role.USER), session * 10**10, text)) for n in (1, 2)])
        )
    assert len(habits.to_bytes()) < MOST_BYTES
    assert again(habits) == habits


def test_another_version_is_not_read() -> None:
    assert UsageCounters.from_bytes(UsageCounters().to_bytes().replace(b'"version":1', b'"version":2')) is None
