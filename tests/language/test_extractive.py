"""Content of the extractive summary of realistic conversations."""

import pytest

from memsidecar.domain.message import Role
from memsidecar.language.contract import Utterance
from memsidecar.language.extractive.sentences import MAX_SENTENCE_CHARACTERS, prose_sentences
from memsidecar.language.extractive.summarizer import ExtractiveSummarizer
from memsidecar.tokens.registry import CounterRegistry
from tests.language.conversations import PLANNING, chatter, utterances
from tests.support.work import calls_during

COUNTER = CounterRegistry("o200k_base").default
summarizer = ExtractiveSummarizer(COUNTER.count)


def rolled(utterances: list[Utterance], max_tokens: int) -> str:
    """Summarize a few messages at a time, as the summary task does."""
    summary = ""
    for begin in range(0, len(utterances), 12):
        summary = summarizer.summarize(summary, utterances[begin : begin + 12], max_tokens)
    return summary


def test_names_decisions_and_numbers_are_kept() -> None:
    summary = summarizer.summarize("", PLANNING, 120)
    for kept in ("Priya", "Northwind", "45,000", "14 days", "decided to go with Redpanda", "30 September", "80,000"):
        assert kept in summary


def test_small_talk_code_and_data_are_not() -> None:
    summary = summarizer.summarize("", PLANNING, 400)
    for left_out in ("How are you", "Haha", "welcome", "Bye", "retention_hours", "eu-north-1", "```", "Anything else"):
        assert left_out not in summary


def test_what_is_said_twice_is_kept_once() -> None:
    assert summarizer.summarize("", PLANNING, 400).count("80,000 euros") == 1


def test_a_date_that_moved_is_no_repetition() -> None:
    summary = summarizer.summarize("", utterances("The launch is on May 5.", "Fine.", "The launch is on May 12."), 100)
    assert "May 5" in summary and "May 12" in summary


def test_the_speaker_is_named_when_it_changes() -> None:
    talk = utterances(
        "I adopted a puppy named Biscuit. We hike in Yosemite on Sundays.",
        "My sister opened a bakery in Lisbon.",
        names=("Caroline", "Melanie"),
    )
    assert summarizer.summarize("", talk, 100) == (
        "Caroline: I adopted a puppy named Biscuit. We hike in Yosemite on Sundays.\n"
        "Melanie: My sister opened a bakery in Lisbon."
    )


def test_without_a_name_the_role_stands_for_the_speaker() -> None:
    summary = summarizer.summarize(
        "", utterances("I moved to Bergen in March.", "Bergen gets 240 rainy days a year."), 100
    )
    assert summary == "User: I moved to Bergen in March.\nAssistant: Bergen gets 240 rainy days a year."


@pytest.mark.parametrize("name", ["a: b", "x\ny", "-", "n" * 300, ": ", "\u2028"])
def test_a_strange_name_does_not_spoil_the_lines(name: str) -> None:
    first = summarizer.summarize(
        "", utterances("I moved to Bergen in March. I work for Equinor.", names=(name, "")), 100
    )
    assert len(first.splitlines()) == 1
    again = summarizer.summarize(first, utterances("My brother Olav lives in Trondheim.", names=(name, "")), 100)
    assert again == f"{first} My brother Olav lives in Trondheim."


def test_small_talk_is_better_than_nothing() -> None:
    assert summarizer.summarize("", utterances("Hi there!"), 50) == "User: Hi there!"


def test_nothing_said_is_nothing_summarised() -> None:
    assert summarizer.summarize("", [], 50) == ""
    assert summarizer.summarize("", utterances("  ", "...", "```\nx = 1\n```"), 50) == ""


def test_a_tool_result_is_kept_only_where_there_is_room() -> None:
    tool = Utterance("t", int(Role.TOOL), "", "Fetched document 4711 from the Reykjavik archive shelf.", 2)
    talk = [*utterances("I moved to Bergen in March."), tool, *utterances("My brother Olav lives in Trondheim.")]
    assert "archive" not in summarizer.summarize("", talk, 24)


@pytest.mark.parametrize("at", [2, 17])
def test_a_decision_outlives_three_hundred_messages(at: int) -> None:
    texts = chatter(300)
    texts[at] = "We decided that Amara will lead the Zurich office from 1 October."
    summary = rolled(utterances(*texts), 200)
    assert texts[at] in summary


def test_a_rolling_summary_keeps_of_every_age() -> None:
    texts = [f"I visited Place{n:03} with Guest{n:03} and bought {n} souvenirs." for n in range(300)]
    summary = rolled(utterances(*texts), 400)
    ages = [number for number, text in enumerate(texts) if text in summary]
    assert all(any(begin <= age < begin + 100 for age in ages) for begin in (0, 100, 200))


def test_informative_sentences_replace_dull_ones() -> None:
    dull = [f"I looked at the garden number {n} and the flowers there." for n in range(12)]
    news = [
        "Dr Okafor decided on surgery at Lakeside Clinic on 14 February 2025.",
        "Okay.",
        "I am allergic to penicillin.",
    ]
    summary = rolled(utterances(*dull * 10, *news), 100)
    assert "Lakeside" in summary and "penicillin" in summary


def test_an_unpunctuated_paragraph_is_cut_at_words() -> None:
    paragraph = "we met the team from Tromso and looked at turbines " * 40
    pieces = list(prose_sentences(paragraph))
    assert len(pieces) > 1 and all(len(piece) <= MAX_SENTENCE_CHARACTERS for piece in pieces)
    assert " ".join(pieces) == paragraph.strip()


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Dr. Okafor came. We ate.", ["Dr. Okafor came.", "We ate."]),
        ("We met at 5 p.m. and left. It rained!", ["We met at 5 p.m. and left.", "It rained!"]),
        ("明日は会議です。資料を送ります！よろしい？", ["明日は会議です。", "資料を送ります！", "よろしい？"]),
        ("- First point\n- Second point", ["First point", "Second point"]),
        ("Costs rose by 3.5 percent... Why?", ["Costs rose by 3.5 percent...", "Why?"]),
        ("Before\n```py\nx = {1: 2}\n```\nafter", ["Before", "after"]),
        ("An open fence\n~~~\ncode to the end", ["An open fence"]),
        ('{"a": [1, 2, {"b": "c"}]}', []),
        ("It was fun - we laughed (a lot).", ["It was fun - we laughed (a lot)."]),
    ],
)
def test_sentences_are_found(text: str, sentences: list[str]) -> None:
    assert list(prose_sentences(text)) == sentences


def test_other_scripts_are_summarised_too() -> None:
    talk = utterances("東京支社の田中さんは来月から大阪へ転勤します。予算は三百万円です。", "はい。")
    assert "田中" in summarizer.summarize("", talk, 60)


def test_twice_as_many_utterances_are_about_twice_the_work() -> None:
    texts = [f"We talked to customer {n} in Room{n} about invoice {n * 7}. It went well. Thanks!" for n in range(1000)]
    COUNTER.warm()
    half = calls_during(lambda: summarizer.summarize("", utterances(*texts[:500]), 400))
    assert calls_during(lambda: summarizer.summarize("", utterances(*texts), 400)) < 2.5 * half


def test_the_origin_is_named() -> None:
    assert summarizer.origin == "extractive"


def test_the_cpu_is_yielded_between_any_two_sentences() -> None:
    pauses: list[None] = []
    said = [Utterance(f"m{at}", Role.USER, "", f"Ana moved to city number {at} in May.", at) for at in range(9)]
    ExtractiveSummarizer(COUNTER.count, lambda: pauses.append(None)).summarize("", said, 400)
    assert len(pauses) >= len(said)
