"""What a message shows."""

import pytest

from memsidecar.domain.message import Role
from memsidecar.layers.procedural.observations import Heard, Length, Observation, key_of, observe, questions_of
from memsidecar.layers.procedural.style import Wish, is_technical, prose_of, wish_of


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("Shorter please", Wish.CONCISE),
        ("TL;DR?", Wish.CONCISE),
        ("Please be brief.", Wish.CONCISE),
        ("That's way too long.", Wish.CONCISE),
        ("Explain it in one sentence", Wish.CONCISE),
        ("Can you keep it short?", Wish.CONCISE),
        ("More detail, please", Wish.DETAILED),
        ("Could you elaborate?", Wish.DETAILED),
        ("Explain this in depth", Wish.DETAILED),
        ("I don't need more detail", Wish.NONE),
        ("no need to elaborate", Wish.NONE),
        ("The meeting will be short.", Wish.NONE),
        ("Is there a shorter route to Oslo?", Wish.NONE),
        ("He wrote a short story about it.", Wish.NONE),
        ("> more detail\nfine", Wish.NONE),
        ("Keep it short, but with more detail", Wish.NONE),
    ],
)
def test_wishes_for_the_length_of_answers(text: str, wish: Wish) -> None:
    assert wish_of(prose_of(text)) == wish


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
    assert is_technical(text, prose_of(text)) is technical


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
    assert [question.kind for question in questions_of(prose_of(text))] == [kind]


@pytest.mark.parametrize("text", ["I baked bread.", "Whatever.", "```\nwhy?\n```", ""])
def test_what_asks_nothing_is_no_question(text: str) -> None:
    assert list(questions_of(prose_of(text))) == []


@pytest.mark.parametrize("text", ["what do you think", "why", "can you help me with this", ""])
def test_a_question_about_anything_is_none_in_particular(text: str) -> None:
    assert key_of(text) == ""


def test_a_question_in_a_script_without_spaces_is_known_again() -> None:
    wordings = {
        question.wording for _ in range(2) for question in questions_of(prose_of("パンの作り方を教えてくれますか？"))
    }
    assert len(wordings) == 1 and all(map(key_of, wordings))


def seen(role: Role, text: str) -> Observation:
    observation = observe(Heard(1, 1, int(role), 0, text))
    assert observation is not None
    return observation


def test_only_the_user_and_answers_are_observed() -> None:
    assert seen(Role.USER, "Bread rises.").terms == ("bread", "rises", "bread rises")
    assert seen(Role.ASSISTANT, "Bread rises.").answer == Length.SHORT
    for role, text in ((Role.SYSTEM, "Bread rises."), (Role.TOOL, "Bread rises."), (Role.USER, "  ")):
        assert observe(Heard(1, 1, int(role), 0, text)) is None


def test_whoever_is_spoken_to_is_no_topic() -> None:
    assert seen(Role.USER, "Hey Gina, does rye bread rise, Gina?").terms == (
        "rye",
        "bread",
        "rise",
        "rye bread",
        "bread rise",
    )


def test_thanks_alone_do_not_engage() -> None:
    assert not seen(Role.USER, "Thanks a lot!").engages
    assert seen(Role.USER, "And with rye flour?").engages
