"""A history with patterns yields them, and a random one yields none."""

import pytest

from memsidecar.layers.procedural.patterns import MAX_HINT_TOKENS, Engagement, Pattern, Patterns, render_hints
from memsidecar.tokens.registry import CounterRegistry
from tests.procedural.histories import (
    DAY_US,
    HOUR_US,
    LONG,
    SHORT,
    START_US,
    conversation,
    counters_of,
    lines_of,
    patterns_of,
    random_history,
    words,
)

SUBJECTS = words("sourdough glaciers chess violins insurance volcanoes sailing pottery opera astronomy haiku origami")


def at(session: int, hour: int = 0, every_days: int = 1) -> int:
    """Return the start of a session; spread over the hours, unless one is given."""
    return START_US + session * every_days * DAY_US + (hour or (session * 7) % 24) * HOUR_US


def plain(session: int) -> tuple[str, str]:
    subject = SUBJECTS[session % len(SUBJECTS)]
    return (f"Tell me a story of {subject} and number {session}.", SHORT)


@pytest.mark.parametrize("seed", range(12))
def test_a_random_history_has_no_patterns(seed: int) -> None:
    assert lines_of(random_history(seed)) == []


@pytest.mark.parametrize("conversations", [1, 3, 8, 20, 45])
def test_a_short_random_history_has_no_patterns(conversations: int) -> None:
    assert [lines_of(random_history(seed, conversations)) for seed in range(20, 26)] == [[]] * 6


def test_an_empty_history_has_no_patterns() -> None:
    patterns = patterns_of([])
    assert patterns.all() == [] and render_hints(patterns) == "" and patterns.mean_turns == 0
    assert patterns.frequency == patterns.answer_length == patterns.technical_depth == ""


@pytest.mark.parametrize(
    ("request_text", "length"),
    [("Shorter please.", "concise"), ("tl;dr?", "concise"), ("Can you explain that in more detail?", "detailed")],
)
def test_a_preference_for_the_length_of_answers_is_found(request_text: str, length: str) -> None:
    history = []
    for session in range(1, 21):
        wish = [(request_text, SHORT)] if session % 3 == 0 else []
        history += conversation(session, at(session), [plain(session), *wish])
    assert lines_of(history) == [f"Prefers {length} answers (asked in 6 conversations)"]
    assert patterns_of(history).answer_length == length


def test_contrary_requests_are_no_preference() -> None:
    wishes = ["Shorter please.", "More detail please."]
    history = [
        message
        for session in range(1, 21)
        for message in conversation(session, at(session), [plain(session), (wishes[session % 2], SHORT)])
    ]
    assert lines_of(history) == [] and patterns_of(history).answer_length == ""


def test_one_impatient_conversation_is_no_preference() -> None:
    history = conversation(1, at(1), [plain(1), *[("Shorter please.", SHORT)] * 9])
    assert lines_of(history) == []


def test_technical_terms_are_found() -> None:
    questions = [
        "My handler raises a KeyError in parse_config(), see config.yaml",
        "```\nprint(1)\n```",
        "The async endpoint times out under load, redis and the database do not.",
    ]
    history = [
        message
        for session in range(1, 16)
        for message in conversation(
            session, at(session), [(f"{questions[session % 3]} {SUBJECTS[session % 12]}", SHORT)]
        )
    ]
    assert lines_of(history) == ["Writes in technical terms (in 15 of 15 conversations)"]
    assert patterns_of(history).technical_depth == "technical"


def test_a_recurring_topic_is_found() -> None:
    history = []
    for session in range(1, 21):
        topic = [(f"My espresso machine likes {SUBJECTS[session // 2]}.", SHORT)] if session % 2 else []
        history += conversation(session, at(session), [plain(session), *topic])
    assert lines_of(history) == ["Often talks about espresso machine (10) in 20 conversations"]


def test_an_incidental_word_is_no_topic() -> None:
    history = []
    for session in range(1, 21):
        others = [plain(session * 5 + number) for number in range(6)]
        history += conversation(session, at(session), [*others, ("My neighbour came by.", SHORT)])
    assert "neighbour" not in "\n".join(lines_of(history))


def test_a_common_question_is_found_in_other_words() -> None:
    forms = [
        "How do I reset my VPN password?",
        "how can I reset the vpn passwords",
        "Hey, how do I reset my vpn password??",
    ]
    history = []
    for session in range(1, 31):
        question = [(forms[session // 5 % 3], SHORT)] if session % 5 == 0 else []
        history += conversation(
            session, at(session), [plain(session), *question, plain(session + 5), plain(session + 7)]
        )
    assert lines_of(history) == ['Often asks "how can i reset the vpn passwords" (in 6 conversations)']


def test_a_question_is_common_from_the_third_conversation_on() -> None:
    history = [
        message for n in range(1, 4) for message in conversation(n, at(n), [("Who feeds the otters?", SHORT)] * 3)
    ]
    assert patterns_of(history).questions() == [Pattern("common_question", "who feeds the otters", 3)]
    assert patterns_of(history[:-6]).questions() == []


def test_a_prevailing_kind_of_question_is_found() -> None:
    history = []
    for session in range(1, 26):
        a, b = SUBJECTS[session % 12], SUBJECTS[session * 5 % 11]
        others = [plain(session), plain(session + 3)]
        history += conversation(session, at(session), [(f"How do I improve {a} {session} for {b}?", SHORT), *others])
    assert patterns_of(history).kinds() == [Pattern("question_kind", "how-to", 25)]
    assert lines_of(history) == []


def test_hours_of_activity_are_found() -> None:
    history = [
        message
        for session in range(1, 25)
        for message in conversation(session, at(session, 8 + session % 3), [plain(session)])
    ]
    assert lines_of(history) == []
    assert [hour.value for hour in patterns_of(history).hours()] == ["08", "09", "10"]


def test_an_engaging_length_is_found_only_if_it_is_significant() -> None:
    history = []
    for session in range(1, 41):
        follow = [plain(session), plain(session + 1), (plain(session + 2)[0], LONG)]
        history += conversation(session, at(session), follow)
    assert lines_of(history) == []
    assert patterns_of(history).engagement() == Engagement("short", 80)
    assert patterns_of(history).answer_length == "concise"


@pytest.mark.parametrize(("every_days", "frequency"), [(1, "daily"), (3, "weekly"), (7, "weekly"), (30, "occasional")])
def test_the_frequency_of_conversations(every_days: int, frequency: str) -> None:
    history = [
        message for n in range(1, 7) for message in conversation(n, at(n, every_days=every_days), [plain(n)] * 2)
    ]
    patterns = patterns_of(history)
    assert patterns.frequency == frequency and patterns.mean_turns == 2
    assert Pattern("frequency", frequency, 6) in patterns.all()
    assert patterns_of(history[:16]).frequency == ""


def test_patterns_come_with_most_evidence_first() -> None:
    evidence = [pattern.evidence for pattern in patterns_of(random_history(3)).all()]
    assert evidence == sorted(evidence, reverse=True) and all(evidence)


def test_all_hints_together_are_short() -> None:
    history = []
    for session in range(1, 41):
        turns = [
            ("How do I restart the kubernetes ingress controller on staging?", LONG),
            ("Shorter please.", SHORT),
            ("How do I rotate the postgres replication credentials, see `rotate_keys()` in deploy.yaml?", SHORT),
            ("How do I restart the kubernetes ingress controller on production?", SHORT),
        ]
        history += conversation(session, at(session, 9), turns)
    text = render_hints(Patterns(counters_of(history)))
    assert CounterRegistry("o200k_base").default.count(text) <= MAX_HINT_TOKENS
    assert len(text.splitlines()) >= 3 and text.startswith("Prefers concise answers (asked in 40 conversations)")
