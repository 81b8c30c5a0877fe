"""Types, keys and values of the findings; corrections and retractions."""

import pytest

from memsidecar.domain.fact import MULTI_VALUED_TYPES, FactType
from memsidecar.domain.message import Role
from memsidecar.language.contract import Utterance
from tests.language.rules_findings import RULES, ended, facts, found

PLAIN = {
    "I work at Acme Corp and I love it there.": ("USER_PROFILE", "company", "Acme Corp"),
    "I'm a senior data scientist, by the way": ("USER_PROFILE", "role", "senior data scientist"),
    "my name is ada": ("USER_PROFILE", "name", "ada"),
    "I live in New York because of my job": ("USER_PROFILE", "location", "New York"),
    "My birthday is on 3 June": ("USER_PROFILE", "birthday", "3 June"),
    "I love old maps, especially of Iceland": ("INTEREST", "likes", "old maps"),
    "I'm interested in astronomy": ("INTEREST", "interested_in", "astronomy"),
    "I hate cilantro": ("PREFERENCE", "dislikes:cilantro", "cilantro"),
    "I prefer concise answers": ("PREFERENCE", "answer length", "concise answers"),
    "I prefer dark mode": ("PREFERENCE", "theme", "dark mode"),
    "my favourite colour is green": ("PREFERENCE", "favorite colour", "green"),
    "remind me to call Ann on Friday": ("ACTION_ITEM", "todo", "call Ann on Friday"),
    "my flight is on 3 June": ("ACTION_ITEM", "event", "flight on 3 June"),
    "the deadline for the talk is 5 May": ("ACTION_ITEM", "deadline", "the talk on 5 May"),
    "I'm frustrated with the deploy pipeline": ("SENTIMENT", "deploy pipeline", "frustrated"),
    "I'd like to know later how taxes work": ("QUESTION", "open", "how taxes work"),
    "I'm working on a Kubernetes migration": ("DOMAIN", "topic", "Kubernetes migration"),
}
ORDERS = {
    "Always answer in German.": [("answer language", "Always answer in German")],
    "no emojis": [("emojis", "no emojis")],
    "Keep answers short.": [("answer length", "short")],
    "Please reply to me in Dutch": [("answer language", "in Dutch")],
    "Could you always reply in French?": [("answer language", "always reply in French")],
    "Reply in English even if I write in Polish.": [("answer language", "in English even if I write in Polish")],
    "keep your answers short and in German": [("answer length", "short"), ("answer language", "in German")],
    "Keep it short and to the point": [("answer length", "short and to the point")],
    "Don't use emojis, keep it short, and answer in English.": [
        ("emojis", "Don't use emojis"),
        ("answer length", "keep it short"),
        ("answer language", "answer in English"),
    ],
    "I'd like you to be more casual with me": [("answer tone", "be more casual with me")],
    "You don't have to be so formal": [("answer tone", "don't have to be so formal")],
    "I'd prefer if you asked before changing files": [
        ("prefers:asked before changing files", "asked before changing files")
    ],
    "I like long, detailed explanations": [("answer length", "long, detailed explanations")],
    "I don't want any emojis": [("emojis", "I don't want any emojis")],
    "Stop using exclamation marks.": [("wording", "Stop using exclamation marks")],
    "Please don't use tables": [("tables", "don't use tables")],
    "Give me dates in ISO format please.": [("date format", "dates in ISO format")],
    "please don't call me sir": [("address", "don't call me sir")],
    "Never suggest paid tools": [("prefers:never suggest paid tools", "Never suggest paid tools")],
    "use metric units": [("units", "metric units")],
}
NOT_STANDING = [
    "Use direct flights only in the search",
    "Use English names in the schema",
    "I need short names for these variables",
    "I want you to write a short poem",
    "Write a short poem",
    "use a table here",
    "avoid long lines in this file",
    "answer this in German",
    "keep it on the shelf",
    "no comments yet",
    "be careful",
    "No worries",
]
RETRACTED = {
    "I no longer work at Acme": ("USER_PROFILE", "company", "Acme"),
    "I left Google": ("USER_PROFILE", "company", "Google"),
    "I quit my job last week": ("USER_PROFILE", "company", ""),
    "I moved away from Paris": ("USER_PROFILE", "location", "Paris"),
    "I'm no longer a nurse": ("USER_PROFILE", "role", "nurse"),
    "I don't like sushi anymore": ("INTEREST", "likes", "sushi"),
    "you don't need to remind me to call mom anymore": ("ACTION_ITEM", "todo", "call mom"),
}
CORRECTED = {
    "I live in Rome, no wait, in Milan": "Milan",
    "I live in Rome. Sorry, I mean Milan.": "Milan",
    "I live in Rome. No, I live in Milan.": "Milan",
    "I live in Rome, no problem.": "Rome",
    "I live in Rome. Sorry for the delay.": "Rome",
}


@pytest.mark.parametrize(("text", "fact"), PLAIN.items())
def test_plain_words_make_one_fact(text: str, fact: tuple[str, str, str]) -> None:
    assert facts(text) == [fact]


@pytest.mark.parametrize(("text", "orders"), ORDERS.items())
def test_each_aspect_of_answers_has_a_key_of_its_own(text: str, orders: list[tuple[str, str]]) -> None:
    assert facts(text) == [("PREFERENCE", key, value) for key, value in orders]


@pytest.mark.parametrize("text", NOT_STANDING)
def test_an_order_for_one_occasion_is_no_preference(text: str) -> None:
    assert not facts(text)


@pytest.mark.parametrize(("text", "fact"), RETRACTED.items())
def test_a_retraction_ends_the_fact(text: str, fact: tuple[str, str, str]) -> None:
    assert ended(text) == [fact]
    assert not facts(text)


@pytest.mark.parametrize(("text", "place"), CORRECTED.items())
def test_a_correction_replaces_the_value(text: str, place: str) -> None:
    assert facts(text) == [("USER_PROFILE", "location", place)]


def test_a_list_is_many_facts() -> None:
    assert [value for _, _, value in facts("I love hiking, jazz and old maps")] == ["hiking", "jazz", "old maps"]


def test_dislikes_stand_beside_each_other() -> None:
    keys = [
        finding.key
        for finding in found("I hate olives. I can't stand loud music.")
        if finding.type not in MULTI_VALUED_TYPES
    ]
    assert len(set(keys)) == 2


def test_contradictions_across_messages_are_found_in_order() -> None:
    said = [
        Utterance(f"m{at}", Role.USER, "", text, at) for at, text in enumerate(("I live in Rome", "I live in Bern"))
    ]
    assert [(finding.value, finding.source_message_ids) for finding in RULES.extract(said)] == [
        ("Rome", ("m0",)),
        ("Bern", ("m1",)),
    ]


def test_a_bare_answer_means_what_was_asked() -> None:
    said = [Utterance("q", Role.ASSISTANT, "", "Hi! What's your name?", 1), Utterance("a", Role.USER, "", "Leila", 2)]
    (finding,) = RULES.extract(said)
    assert (finding.type, finding.key, finding.value) == (FactType.USER_PROFILE, "name", "Leila")
    assert finding.source_message_ids == ("a",)


def test_an_explicit_statement_has_more_confidence_than_an_implied_one() -> None:
    (outright,), (implied,) = found("My name is Ada."), found("I'm Ada.")
    assert outright.confidence > implied.confidence


def test_the_origin_says_that_rules_found_it() -> None:
    assert RULES.origin == "rules"
