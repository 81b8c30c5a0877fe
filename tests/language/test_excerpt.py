"""Shorter versions of a summary for small budgets, and passages of long messages."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsidecar.language.extractive.excerpt import LEFT_OUT, SummaryShortener, passage, shorten
from memsidecar.language.extractive.sentences import summary_sentences
from memsidecar.language.extractive.summarizer import ExtractiveSummarizer
from memsidecar.tokens.registry import CounterRegistry
from tests.language.conversations import PLANNING, utterances
from tests.support.work import costs_at_most

COUNTERS = CounterRegistry("o200k_base")
COUNT = COUNTERS.default.count
SUMMARY = ExtractiveSummarizer(COUNT).summarize("", PLANNING, 400)


def sentences(summary: str) -> list[tuple[str, str]]:
    return list(summary_sentences(summary, ()))


def test_a_summary_that_fits_is_unchanged() -> None:
    assert shorten(SUMMARY, COUNT(SUMMARY), COUNT) == SUMMARY
    assert shorten("", 0, COUNT) == ""


@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-5"])
@pytest.mark.parametrize("limit", [30, 40, 60, 90])
def test_a_shorter_version_has_whole_sentences_in_their_order(limit: int, model: str) -> None:
    count = COUNTERS.for_model(model).count
    shorter = shorten(SUMMARY, limit, count)
    assert shorter and count(shorter) <= limit
    kept = sentences(shorter)
    assert [sentence for sentence in sentences(SUMMARY) if sentence in kept] == kept


def test_a_remembered_choice_holds_for_the_same_summary_limit_and_counter_only() -> None:
    remembering = SummaryShortener()
    other = "\n".join(reversed(SUMMARY.splitlines()))
    for summary in (SUMMARY, other, SUMMARY, other):
        for limit in (40, 60, 40):
            for model in ("gpt-4o", "claude-sonnet-4-5"):
                count = COUNTERS.for_model(model).count
                assert remembering(summary, limit, count, model) == shorten(summary, limit, count)


def test_a_smaller_limit_shows_nothing_that_a_larger_one_does_not() -> None:
    larger = set(sentences(SUMMARY))
    for limit in range(COUNT(SUMMARY), -1, -1):
        smaller = set(sentences(shorten(SUMMARY, limit, COUNT)))
        assert smaller <= larger
        larger = smaller
    assert not larger


def test_decisions_stay_longer_than_small_talk() -> None:
    summary = (
        "User: Sounds good to me, I am looking forward to the weekend at the lake.\n"
        "Assistant: We decided that Amara leads the Zurich office from 1 October."
    )
    assert shorten(summary, 24, COUNT) == "Assistant: We decided that Amara leads the Zurich office from 1 October."


def test_a_question_stays_with_its_short_answer() -> None:
    talk = utterances(
        "We plan the Lisbon office.", "Which database will the Lisbon office use?", "Postgres 16.", "Fine."
    )
    summary = ExtractiveSummarizer(COUNT).summarize("", talk, 400)
    assert "Assistant: Which database will the Lisbon office use?\nUser: Postgres 16." in summary
    for limit in range(COUNT(summary)):
        shorter = shorten(summary, limit, COUNT)
        assert ("Which database" in shorter) == ("Postgres 16" in shorter)


def test_a_summary_without_speakers_is_shortened_too() -> None:
    summary = (
        "Ana plans the migration to Postgres 17. Billing has 400 GB and goes first. The window is Sunday at 02:00."
    )
    assert shorten(summary, 14, COUNT) in summary.replace(". ", ".\n").splitlines()


@settings(max_examples=100)
@given(text=st.text(max_size=400), limit=st.integers(0, 100))
def test_no_text_exceeds_the_limit(text: str, limit: int) -> None:
    assert COUNT(shorten(text, limit, COUNT)) <= limit


FLAGS = json.dumps(
    [{"key": f"flag_{at}", "enabled": True, "owner": f"team-{at % 7}", "salt": f"{at * 7919:x}"} for at in range(400)],
    indent=1,
)


@pytest.mark.parametrize(
    ("text", "limit"),
    [(FLAGS, 40), (FLAGS, 100), (FLAGS, 200), (FLAGS.replace("\n", ""), 100), (FLAGS.replace("\n", ""), 200)],
)
def test_a_passage_surrounds_the_rarest_term(text: str, limit: int) -> None:
    found = passage(text, {"flag_371", "owner"}, limit, COUNT)
    assert '"flag_371"' in found and f'"owner": "team-{371 % 7}"' in found
    assert found.startswith(LEFT_OUT) and found.endswith(LEFT_OUT)
    assert COUNT(found) <= limit + limit // 10


def test_a_passage_without_the_terms_is_the_beginning() -> None:
    found = passage("One sentence here. " * 50, {"absent"}, 20, COUNT)
    assert found == "One sentence here. " * (found.count("One")) + LEFT_OUT and found.count("One") >= 3


def test_a_passage_of_a_text_that_fits_is_the_text() -> None:
    assert passage("We deploy on Tuesday.\nAt ten.", {"deploy"}, 40, COUNT) == "We deploy on Tuesday.\nAt ten."


@given(st.lists(st.sampled_from("abcdefg"), max_size=60).map(" ".join), st.sampled_from([". ", "\n", "\u3002"]))
def test_a_larger_passage_contains_the_smaller_one(words: str, separator: str) -> None:
    text = separator.join(words[at : at + 9] for at in range(0, len(words), 9))
    previous: set[str] = set()
    for limit in range(6, 60, 6):
        pieces = {piece for piece in passage(text, {"a", "b"}, limit, COUNT).split(LEFT_OUT) if piece.strip()}
        assert all(any(piece.strip() in larger for larger in pieces) for piece in previous)
        previous = pieces


@pytest.mark.long
def test_the_time_of_a_passage_is_linear() -> None:
    def pick(repeats: int) -> None:
        passage(("x" * 150 + " september ") * repeats, {"september", "absent"}, 200, COUNT)

    pick(100)
    assert costs_at_most(40, lambda: pick(1_000), lambda: pick(8_000), slack_seconds=0.02)
