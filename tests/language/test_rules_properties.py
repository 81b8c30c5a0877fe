"""For any text the findings are bounded, deterministic, of the user's messages only, and take linear time."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsidecar.domain.message import Role
from memsidecar.language.contract import FactExtractor, Utterance
from memsidecar.language.rules.extractor import MAX_FINDINGS_PER_MESSAGE, RuleExtractor
from memsidecar.language.rules.user_text import MAX_READ_CHARS, split_clauses, split_sentences, user_lines
from memsidecar.language.rules.values import MAX_VALUE_CHARS
from tests.language.rules_findings import RULES, found
from tests.support.work import costs_at_most

MEGABYTE = 1_000_000

_FRAGMENTS = [
    *("I live in ", "I'm ", "I'm a ", "my name is ", "I work at ", "I love ", "I prefer ", "remind me to ", "I"),
    *("my favorite ", "the deadline is ", "I no longer ", "I'm worried about ", "from now on ", "no wait, ", "if "),
    *("Rome", "nurse", "Acme Corp", "3 June", "by Friday", "anymore", "is ", "not ", " and ", ", ", ". ", "? ", "\n"),
    *("my manager is ", "I have a dog called ", "I use ", "Postgres 16", "we switched from ", " to ", "remember that "),
    *("don't forget ", "keep it ", "short", "in German", "my budget is ", "I'm allergic to ", "ich wohne in "),
    *("ich mag ", "merk dir, ", "bitte keine ", " und ", "mein Hund heißt ", "Ingrid"),
    *('"', "'", "```", "> ", "Bob: ", "(", ": ", "\ufffc", "A."),
]
_SAID = st.one_of(st.text(max_size=300), st.lists(st.sampled_from(_FRAGMENTS), max_size=30).map("".join))
_TURNS = st.lists(st.tuples(st.sampled_from(Role), _SAID), max_size=5)

# Each is the worst case of one of the patterns.
_HOSTILE = {
    "one word": "a",
    "open quotes": "“",
    "quotes": " 'a",
    "fences": "``` ",
    "clauses": "I, and my ",
    "claims": "I love a and b. ",
    "corrections": ", no wait, no ",
    "leads": "well so ok ",
    "commas": ", ",
    "colons": "a: ",
    "lists": "I love a, b, c, d and ",
    "capitals": "I work at A B C of D and E ",
    "blanks": " \t",
    "lines": "\n",
    "tags": "<a>",
    "dots": "...",
    "todo": "I need to a by ",
    "labels": "Bob: \n",
    "relations": "my older brother is called A and B, ",
    "pets": "I have a dog called A and a ",
    "tools": "I use Go and Rust, ",
    "tool changes": "we switched from Go from Go to ",
    "capitals in a tool": "I use A B C D ",
    "orders": "keep it short and in German, ",
    "orders without": "no emojis, no tables and no ",
    "cues": "please remember that ok so please ",
    "notes": "remember that a is b. ",
    "attributes": "my main team is called on ",
    "skills": "I'm a new new beginner in ",
    "health": "I have a a a ",
    "german": "ich wohne in A und ",
    "german lists": "ich mag a, b und ",
    "german orders": "bitte antworte kurz und auf ",
    "german cues": "merk dir, dass merk dir, ",
    "since when": "from next month on from next ",
}


@given(turns=_TURNS)
@settings(deadline=None)
def test_any_conversation_gives_bounded_findings_of_the_users_messages(turns: list[tuple[Role, str]]) -> None:
    said = [Utterance(f"m{at}", role, "", text, at) for at, (role, text) in enumerate(turns)]
    users = {utterance.message_id for utterance in said if utterance.role == Role.USER}
    findings = RULES.extract(said)
    assert len(findings) <= MAX_FINDINGS_PER_MESSAGE * len(users)
    for finding in findings:
        assert set(finding.source_message_ids) <= users
        assert 0 < finding.confidence <= 1
        assert finding.key and len(finding.key) <= MAX_VALUE_CHARS and len(finding.value) <= MAX_VALUE_CHARS
        assert finding.value.strip() or not finding.holds


@given(text=_SAID)
@settings(deadline=None)
def test_the_same_text_gives_the_same_findings(text: str) -> None:
    assert found(text) == RuleExtractor().extract([Utterance("m1", Role.USER, "", text, 1)])


def test_a_message_full_of_facts_is_cut_off() -> None:
    assert len(found(" ".join(f"I love thing{at}s." for at in range(100)))) == MAX_FINDINGS_PER_MESSAGE


def test_it_is_an_extractor() -> None:
    extractor: FactExtractor = RuleExtractor()
    assert extractor.extract([]) == []


@pytest.mark.parametrize("piece", _HOSTILE.values(), ids=_HOSTILE.keys())
def test_twice_the_text_takes_at_most_about_twice_the_time(piece: str) -> None:
    half, whole, megabyte = (_filled(piece, chars) for chars in (MAX_READ_CHARS // 2, MAX_READ_CHARS, MEGABYTE))
    assert costs_at_most(3, lambda: _read(half), lambda: _read(whole), slack_seconds=0.02)
    times = 1.5 * MEGABYTE / MAX_READ_CHARS
    assert costs_at_most(times, lambda: _read(whole), lambda: _read(megabyte), slack_seconds=0.02)


def _filled(piece: str, chars: int) -> str:
    return piece * (chars // len(piece))


def _read(text: str) -> None:
    """Split all of the text, and apply the rules to the part that they read."""
    for line in user_lines(text):
        for sentence in split_sentences(line):
            split_clauses(sentence.text)
    found(text)
