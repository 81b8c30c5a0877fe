"""Properties of the extractive summary of any text."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsidecar.domain.message import Role, speaker_label
from memsidecar.language.contract import Utterance
from memsidecar.language.extractive.sentences import summary_sentences
from memsidecar.language.extractive.summarizer import ExtractiveSummarizer
from memsidecar.tokens.registry import CounterRegistry

EXACT, ESTIMATE = (CounterRegistry(name).default.count for name in ("o200k_base", "chars4"))
MIN_TOKENS_OF_ANY_CHARACTER = 8

WORDS = st.sampled_from(
    [
        "I",
        "decided",
        "Paris",
        "42",
        "thanks",
        "the",
        "moved",
        "hello",
        "May",
        "turbine",
        "。",
        "東京",
        "?",
        ".",
        "!",
        "\n",
    ]
)
texts = st.one_of(st.text(max_size=400), st.lists(WORDS, max_size=60).map(" ".join))
roles = st.sampled_from([int(role) for role in Role])
names = st.one_of(st.just(""), st.sampled_from(["Ann", "Bo Li", "jo smith"]), st.text(max_size=50))
utterances = st.lists(st.builds(Utterance, st.just("m"), roles, names, texts, st.just(0)), max_size=8)
limits = st.one_of(st.integers(1, 12), st.integers(1, 400))
counts = st.sampled_from([EXACT, ESTIMATE])


@settings(max_examples=100)
@given(texts, utterances, limits, counts)
def test_it_is_never_longer_than_allowed(
    before: str, said: list[Utterance], limit: int, count: Callable[[str], int]
) -> None:
    assert count(ExtractiveSummarizer(count).summarize(before, said, limit)) <= limit


@settings(max_examples=100)
@given(texts, utterances, limits)
def test_it_says_only_what_was_said_and_in_that_order(before: str, said: list[Utterance], limit: int) -> None:
    summary = ExtractiveSummarizer(EXACT).summarize(before, said, limit)
    sources = [before, *(utterance.text for utterance in said)]
    at = offset = 0
    for line in summary.splitlines():
        for sentence in _sentences(line, {speaker_label(utterance.name, utterance.role) for utterance in said}):
            at, offset = _next(sources, sentence, at, offset)


def _sentences(line: str, labels: set[str]) -> list[str]:
    """Parse a line; one that was cut short may have no label, and words that look like a label are then its text."""
    return [said.text for said in summary_sentences(line, labels)]


def _next(sources: list[str], sentence: str, at: int, offset: int) -> tuple[int, int]:
    for source in range(at, len(sources)):
        if (found := sources[source].find(sentence, offset if source == at else 0)) >= 0:
            return source, found + len(sentence)
    raise AssertionError(f"{sentence!r} was not said behind {at}:{offset}")


@given(texts, limits)
def test_without_new_utterances_a_summary_that_fits_is_kept(before: str, limit: int) -> None:
    if EXACT(before) <= limit:
        assert ExtractiveSummarizer(EXACT).summarize(before, [], limit) == before


@given(utterances, limits)
def test_a_summary_of_a_summary_is_the_summary(said: list[Utterance], limit: int) -> None:
    summarizer = ExtractiveSummarizer(EXACT)
    summary = summarizer.summarize("", said, limit)
    assert summarizer.summarize(summary, [], limit) == summary


@given(texts, utterances, limits)
def test_it_is_deterministic(before: str, said: list[Utterance], limit: int) -> None:
    first = ExtractiveSummarizer(EXACT).summarize(before, said, limit)
    assert ExtractiveSummarizer(EXACT).summarize(before, list(said), limit) == first


@given(st.lists(st.text(st.characters(categories=["L"]), min_size=1, max_size=30), min_size=1, max_size=6))
def test_it_is_empty_only_where_nothing_was_said(words: list[str]) -> None:
    said = [Utterance("m", int(Role.USER), "", word, 0) for word in words]
    assert ExtractiveSummarizer(EXACT).summarize("", said, MIN_TOKENS_OF_ANY_CHARACTER)


@pytest.mark.parametrize("text", ["a" * 100_000, "a. " * 50_000, "` " * 50_000, "。" * 100_000, "\ud800 lone"])
def test_no_text_takes_long_or_fails(text: str) -> None:
    said = [Utterance("m", int(Role.USER), "", text, 0)]
    assert ESTIMATE(ExtractiveSummarizer(ESTIMATE).summarize("", said, 50)) <= 50
