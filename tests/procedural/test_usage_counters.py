"""Usage counters: the same in batches or at once, idempotent, and of bounded size."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsidecar.domain.message import Role
from memsidecar.layers.procedural.counters import UsageCounters
from memsidecar.layers.procedural.observations import ObservedMessage, observe
from memsidecar.layers.procedural.patterns import Patterns, render_hints
from tests.procedural.histories import START_US, conversation, counters_of, random_history

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


def add_in_batches(messages: list[ObservedMessage], sizes: list[int]) -> UsageCounters:
    """Add the messages in batches; serialize the counters in between."""
    counters, begin = UsageCounters(), 0
    for size in [*sizes, len(messages)]:
        counters.add(seen for message in messages[begin : begin + size] if (seen := observe(message)))
        begin += size
        counters = again(counters)
    return counters


def again(counters: UsageCounters) -> UsageCounters:
    read = UsageCounters.from_bytes(counters.to_bytes())
    assert read is not None
    return read


@given(st.lists(HEARD, max_size=40), st.lists(st.integers(1, 10), max_size=10))
def test_batches_give_the_same_counters(messages: list[ObservedMessage], sizes: list[int]) -> None:
    assert add_in_batches(messages, sizes) == counters_of(messages)


@pytest.mark.parametrize("seed", range(3))
def test_batches_of_a_long_history_give_the_same_counters(seed: int) -> None:
    messages, random = interleaved(random_history(seed, 260), seed), Random(seed)
    assert add_in_batches(messages, [random.randint(1, 400) for _ in range(30)]) == counters_of(messages)


def interleaved(messages: list[ObservedMessage], seed: int) -> list[ObservedMessage]:
    """Interleave sessions; the order within a session stays."""
    random = Random(seed)
    delays = {message.session: random.random() * 6 for message in messages}
    return sorted(messages, key=lambda one: one.session + delays[one.session] + one.sequence / 4)


@given(st.lists(HEARD, max_size=30))
def test_what_was_added_is_not_added_twice(messages: list[ObservedMessage]) -> None:
    once, twice = counters_of(messages), counters_of(messages)
    twice.add(seen for message in messages if (seen := observe(message)))
    assert twice == once


def test_a_continued_conversation_is_counted_once() -> None:
    talk = conversation(1, START_US, [("Tell me about sailing.", "Sure."), ("And about sailing boats?", "Well.")])
    counters = add_in_batches(talk, [1, 1, 1])
    assert (counters.conversations, counters.turns) == (1, 2)


def test_an_old_conversation_that_is_continued_is_counted_once() -> None:
    talks = [conversation(session, START_US, [("Tell me about sailing.", "Sure.")]) for session in range(1, 400)]
    counters = counters_of(message for talk in talks for message in talk)
    before = counters.conversations
    counters.add(filter(None, [observe(ObservedMessage(3, 9, int(Role.USER), START_US, "More about sailing."))]))
    assert (counters.conversations, before) == (399, 399)


@settings(max_examples=100)
@given(st.lists(HEARD, max_size=12))
def test_any_text_can_be_counted(messages: list[ObservedMessage]) -> None:
    counters = counters_of(messages)
    assert again(counters) == counters
    patterns = Patterns(counters)
    assert all(pattern.evidence > 0 for pattern in patterns.all())
    assert render_hints(patterns).isprintable() or "\n" in render_hints(patterns)


@pytest.mark.parametrize(
    "letters", ["abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщ", "的一是不了人我在有他这中大来上"]
)
def test_the_size_of_the_state_is_bounded(letters: str) -> None:
    random, counters = Random(letters), UsageCounters()
    for session in range(10_000_000, 10_000_260):
        words = ["".join(random.choices(letters, k=random.randint(3, 24))) for _ in range(120)]
        text = "? how do i ".join(" ".join(words[begin : begin + 12]) for begin in range(0, 120, 12)) + "?"
        counters.add(
            filter(None, [observe(ObservedMessage(session, n, int(Role.USER), session * 10**10, text)) for n in (1, 2)])
        )
    assert len(counters.to_bytes()) < MOST_BYTES
    assert again(counters) == counters


def test_a_state_of_another_version_is_ignored() -> None:
    assert UsageCounters.from_bytes(UsageCounters().to_bytes().replace(b'"version":1', b'"version":2')) is None
