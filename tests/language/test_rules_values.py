"""Types, keys and values of the findings; corrections and retractions."""

import pytest

from memsidecar.domain.fact import MULTI_VALUED_TYPES, FactType
from memsidecar.domain.message import Role
from memsidecar.language.contract import Utterance
from memsidecar.language.rules.values import MAX_VALUE_CHARS
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
PROFILE = {
    "Call me PJ": [("name", "PJ")],
    "people call me AJ": [("name", "AJ")],
    "My manager is Ingrid": [("manager", "Ingrid")],
    "my boss's name is Tomasz btw": [("boss", "Tomasz")],
    "Ingrid is my manager": [("manager", "Ingrid")],
    "I report to Camille since the reorg.": [("manager", "Camille")],
    "my daughter is Mia and my son is Leo": [("daughter", "Mia"), ("son", "Leo")],
    "We have two kids, Leo and Mia.": [("kids", "Leo and Mia")],
    "My therapist's name is Dr. Lindgren.": [("therapist", "Dr. Lindgren")],
    "My dog is called Rex": [("pet:rex", "Rex (dog)")],
    "our cat is called biscuit": [("pet:biscuit", "biscuit (cat)")],
    "we have a cat named Pixel and a hamster called Turbo": [
        ("pet:pixel", "Pixel (cat)"),
        ("pet:turbo", "Turbo (hamster)"),
    ],
    "i have two dogs and a cat": [("pets", "two dogs and a cat")],
    "I use zsh and neovim": [("uses:zsh", "zsh"), ("uses:neovim", "neovim")],
    "We use Postgres 16 at work": [("uses:postgres", "Postgres 16")],
    "at work we're on Slack and Google Workspace": [
        ("uses:slack", "Slack"),
        ("uses:google workspace", "Google Workspace"),
    ],
    "I use Windows at work and macOS at home": [("uses:windows", "Windows"), ("uses:macos", "macOS")],
    "Our stack is Next.js, Prisma and Supabase": [
        ("uses:next.js", "Next.js"),
        ("uses:prisma", "Prisma"),
        ("uses:supabase", "Supabase"),
    ],
    "We upgraded to Postgres 17 yesterday": [("uses:postgres", "Postgres 17")],
    "I program mainly in C++ and Python": [("uses:c++", "C++"), ("uses:python", "Python")],
    "my editor is helix": [("editor", "helix")],
    "My laptop is a ThinkPad X1": [("laptop", "ThinkPad X1")],
    "Our main branch is called trunk": [("main branch", "called trunk")],
    "I got promoted to staff engineer": [("role", "staff engineer")],
    "just got promoted to senior dev!": [("role", "senior dev")],
    "I was promoted to VP of Sales last week": [("role", "VP of Sales")],
    "I changed jobs: from next month I'll work at Acme": [("company", "Acme")],
    "Starting Monday I'm joining Stripe": [("company", "Stripe")],
    "I accepted an offer from Klarna": [("company", "Klarna")],
    "I've switched jobs, I'm at Bosch now.": [("company", "Bosch")],
    "I'm the new head of design at Figma": [("role", "head of design"), ("company", "Figma")],
    "i'm in Malmö now": [("location", "Malmö")],
    "We just bought a flat in Malmö.": [("location", "Malmö")],
    "I'm allergic to peanuts and cats": [("allergies:peanuts", "peanuts"), ("allergies:cats", "cats")],
    "I have type 1 diabetes": [("health:type 1 diabetes", "type 1 diabetes")],
    "my phone number is 555-0147": [("phone", "555-0147")],
}
CHANGED = {
    "I don't live in Berlin anymore, I'm in Hamburg now": ("location", "Berlin", "Hamburg"),
    "I don't live in Leeds any more, moved to York in the spring": ("location", "Leeds", "York"),
    "We left London for Bristol last year": ("location", "London", "Bristol"),
}
REMEMBERED = {
    "Remember that my locker code is 4471.": ("USER_PROFILE", "locker code", "4471"),
    "Please remember: deploys only happen on Tuesdays.": (
        "USER_PROFILE",
        "note:deploys only happen on tuesdays",
        "deploys only happen on Tuesdays",
    ),
    "note that our fiscal year starts in April": (
        "USER_PROFILE",
        "note:our fiscal year starts in april",
        "our fiscal year starts in April",
    ),
    "don't forget, I only work mornings": ("USER_PROFILE", "note:i only work mornings", "I only work mornings"),
    "Can you remember that I take tea with milk?": (
        "USER_PROFILE",
        "note:i take tea with milk",
        "I take tea with milk",
    ),
    "Remember that I like tea.": ("INTEREST", "likes", "tea"),
    "Remember to always use tabs in my code.": ("PREFERENCE", "indentation", "always use tabs in my code"),
    "don't forget to water the plants": ("ACTION_ITEM", "todo", "water the plants"),
}
GERMAN = {
    "Ich heiße Jonas.": ("USER_PROFILE", "name", "Jonas"),
    "Nenn mich Alex.": ("USER_PROFILE", "name", "Alex"),
    "Jetzt wohne ich in Hamburg.": ("USER_PROFILE", "location", "Hamburg"),
    "Ich komme aus Kassel": ("USER_PROFILE", "origin", "Kassel"),
    "Seit Mai arbeite ich bei Bosch": ("USER_PROFILE", "company", "Bosch"),
    "Ich bin Lehrerin": ("USER_PROFILE", "role", "Lehrerin"),
    "Ich wurde zum Teamleiter befördert": ("USER_PROFILE", "role", "Teamleiter"),
    "Meine Chefin heißt Ingrid": ("USER_PROFILE", "manager", "Ingrid"),
    "Mein Hund heißt Bello.": ("USER_PROFILE", "pet:bello", "Bello (dog)"),
    "Wir benutzen Postgres 16.": ("USER_PROFILE", "uses:postgres", "Postgres 16"),
    "ich mag Jazz": ("INTEREST", "likes", "Jazz"),
    "Ich mag keinen Koriander": ("PREFERENCE", "dislikes:koriander", "Koriander"),
    "Ich bin Vegetarierin": ("PREFERENCE", "diet", "Vegetarierin"),
    "Antworte bitte immer auf Deutsch.": ("PREFERENCE", "answer language", "immer auf Deutsch"),
    "Bitte keine Emojis.": ("PREFERENCE", "emojis", "keine Emojis"),
    "Fass dich kurz": ("PREFERENCE", "answer length", "kurz"),
    "Merk dir bitte, dass wir freitags nie deployen.": (
        "USER_PROFILE",
        "note:wir freitags nie deployen",
        "wir freitags nie deployen",
    ),
    "Merke dir: meine Chefin heißt Ingrid.": ("USER_PROFILE", "manager", "Ingrid"),
}
ORDERS = {
    "Always answer in German.": [("answer language", "Always answer in German")],
    "no emojis": [("emojis", "no emojis")],
    "Feel free to use emojis": [("emojis", "use emojis")],
    "You can stop answering in German": [("answer language", "stop answering in German")],
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


@pytest.mark.parametrize(("text", "values"), PROFILE.items())
def test_ordinary_statements_about_the_user_make_facts(text: str, values: list[tuple[str, str]]) -> None:
    assert facts(text) == [("USER_PROFILE", key, value) for key, value in values]


@pytest.mark.parametrize(("text", "change"), CHANGED.items())
def test_a_change_ends_the_old_value_and_gives_the_new_one(text: str, change: tuple[str, str, str]) -> None:
    key, before, after = change
    assert ended(text) == [("USER_PROFILE", key, before)]
    assert facts(text) == [("USER_PROFILE", key, after)]


def test_a_replaced_tool_is_no_longer_in_use() -> None:
    text = "We switched from Jenkins to GitLab CI last quarter"
    assert ended(text) == [("USER_PROFILE", "uses:jenkins", "Jenkins")]
    assert facts(text) == [("USER_PROFILE", "uses:gitlab ci", "GitLab CI")]


@pytest.mark.parametrize(("text", "fact"), REMEMBERED.items())
def test_what_the_user_asks_to_remember_is_learned(text: str, fact: tuple[str, str, str]) -> None:
    assert facts(text) == [fact]
    assert all(finding.confidence >= 0.9 for finding in found(text))


def test_a_list_to_remember_is_learned_line_by_line() -> None:
    text = "Please remember:\n- I'm vegan\n- My wife is Anna\n- releases are frozen in December"
    assert [value for _, _, value in facts(text)] == ["vegan", "Anna", "releases are frozen in December"]


def test_a_long_text_to_remember_is_cut_at_a_word() -> None:
    (fact,) = facts(f"Remember that {'the door code changes ' * 20}")
    assert len(fact[2]) <= MAX_VALUE_CHARS
    assert fact[2].endswith("…")
    assert fact[2].removesuffix("…").split()[-1] in {"the", "door", "code", "changes"}


@pytest.mark.parametrize(("text", "fact"), GERMAN.items())
def test_german_statements_have_the_same_types_and_keys(text: str, fact: tuple[str, str, str]) -> None:
    assert facts(text) == [fact]


def test_german_clauses_without_a_subject_are_about_the_user() -> None:
    assert facts("Ich wohne in Freiburg und arbeite bei Bosch.") == [
        ("USER_PROFILE", "location", "Freiburg"),
        ("USER_PROFILE", "company", "Bosch"),
    ]
    assert ended("Ich wohne nicht mehr in Köln, sondern in Bonn.") == [("USER_PROFILE", "location", "Köln")]
    assert facts("Ich wohne nicht mehr in Köln, sondern in Bonn.") == [("USER_PROFILE", "location", "Bonn")]


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
