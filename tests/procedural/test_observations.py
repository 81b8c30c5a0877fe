"""Observations of a message."""

import pytest

from memsidecar.domain.message import Role
from memsidecar.layers.procedural.observations import (
    Length,
    Observation,
    ObservedMessage,
    observe,
    question_key,
    questions_of,
)
from memsidecar.layers.procedural.style import LengthPreference, extract_prose, find_length_preference, is_technical


@pytest.mark.parametrize(
    ("text", "preference"),
    [
        ("Shorter please", LengthPreference.CONCISE),
        ("TL;DR?", LengthPreference.CONCISE),
        ("Please be brief.", LengthPreference.CONCISE),
        ("That's way too long.", LengthPreference.CONCISE),
        ("Explain it in one sentence", LengthPreference.CONCISE),
        ("Can you keep it short?", LengthPreference.CONCISE),
        ("More detail, please", LengthPreference.DETAILED),
        ("Could you elaborate?", LengthPreference.DETAILED),
        ("Explain this in depth", LengthPreference.DETAILED),
        ("I don't need more detail", LengthPreference.NONE),
        ("no need to elaborate", LengthPreference.NONE),
        ("The meeting will be short.", LengthPreference.NONE),
        ("Is there a shorter route to Oslo?", LengthPreference.NONE),
        ("He wrote a short story about it.", LengthPreference.NONE),
        ("> more detail\nfine", LengthPreference.NONE),
        ("Keep it short, but with more detail", LengthPreference.NONE),
    ],
)
def test_preferences_for_the_length_of_answers(text: str, preference: LengthPreference) -> None:
    assert find_length_preference(extract_prose(text)) == preference


@pytest.mark.parametrize(
    ("text", "technical"),
    [
        ("```\nx\n```", True),
        ("Why does parse_config() fail on app.yaml?", True),
        ("How do I tune postgres query latency?", True),
        ("My iPhone is on the table.", False),
        ("Let us meet on 12.05.2024 at the library, the rest is clear.", False),
        (
            "What shall I cook for eight people and a dog tonight, given that the server of the restaurant is ill?",
            False,
        ),
    ],
)
def test_technical_terms(text: str, technical: bool) -> None:
    assert is_technical(text, extract_prose(text)) is technical


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("How do I bake bread?", "how-to"),
        ("how to bake bread", "how-to"),
        ("What is yeast?", "what-is"),
        ("Why is my bread flat?", "why"),
        ("Why does my build fail with an error?", "debugging"),
        ("What's the difference between rye and wheat?", "comparison"),
        ("Which flour would you recommend?", "recommendation"),
        ("How many eggs are in it?", "fact"),
        ("Is rye healthy?", "yes-no"),
        ("パンの作り方を教えてくれますか？", "other"),
    ],
)
def test_kinds_of_questions(text: str, kind: str) -> None:
    assert [question.kind for question in questions_of(extract_prose(text))] == [kind]


@pytest.mark.parametrize("text", ["I baked bread.", "Whatever.", "```\nwhy?\n```", ""])
def test_a_text_without_a_question_is_no_question(text: str) -> None:
    assert list(questions_of(extract_prose(text))) == []


@pytest.mark.parametrize("text", ["what do you think", "why", "can you help me with this", ""])
def test_a_vague_question_has_no_key(text: str) -> None:
    assert question_key(text) == ""


def test_a_repeated_question_in_an_unspaced_script_has_the_same_key() -> None:
    wordings = {
        question.wording
        for _ in range(2)
        for question in questions_of(extract_prose("パンの作り方を教えてくれますか？"))
    }
    assert len(wordings) == 1 and all(map(question_key, wordings))


def seen(role: Role, text: str) -> Observation:
    observation = observe(ObservedMessage(1, 1, int(role), 0, text))
    assert observation is not None
    return observation


def test_only_the_user_and_answers_are_observed() -> None:
    assert seen(Role.USER, "Bread rises.").terms == ("bread", "rises", "bread rises")
    assert seen(Role.ASSISTANT, "Bread rises.").answer == Length.SHORT
    for role, text in ((Role.SYSTEM, "Bread rises."), (Role.TOOL, "Bread rises."), (Role.USER, "  ")):
        assert observe(ObservedMessage(1, 1, int(role), 0, text)) is None


def test_an_addressed_person_is_no_topic() -> None:
    assert seen(Role.USER, "Hey Gina, does rye bread rise, Gina?").terms == (
        "rye",
        "bread",
        "rise",
        "rye bread",
        "bread rise",
    )


def test_thanks_alone_are_no_engagement() -> None:
    assert not seen(Role.USER, "Thanks a lot!").engages
    assert seen(Role.USER, "And with rye flour?").engages
