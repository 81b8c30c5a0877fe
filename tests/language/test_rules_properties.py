"""Whatever is said, the rules answer: bounded, the same again, from the user's messages only, and in linear time."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsidecar.domain.message import Role
from memsidecar.language.contract import FactExtractor, Utterance
from memsidecar.language.rules.extractor import FINDINGS_PER_MESSAGE, RuleExtractor
from memsidecar.language.rules.user_text import READ_CHARS, clauses, own_words, sentences
from memsidecar.language.rules.values import VALUE_CHARS
from tests.language.rules_said import RULES, found

_FRAGMENTS = [
    *("I live in ", "I'm ", "I'm a ", "my name is ", "I work at ", "I love ", "I prefer ", "remind me to ", "I"),
    *("my favorite ", "the deadline is ", "I no longer ", "I'm worried about ", "from now on ", "no wait, ", "if "),
    *("Rome", "nurse", "Acme Corp", "3 June", "by Friday", "anymore", "is ", "not ", " and ", ", ", ". ", "? ", "\n"),
    *('"', "'", "```", "> ", "Bob: ", "(", ": ", "\ufffc", "A."),
]
_SAID = st.one_of(st.text(max_size=300), st.lists(st.sampled_from(_FRAGMENTS), max_size=30).map("".join))
_TURNS = st.lists(st.tuples(st.sampled_from(Role), _SAID), max_size=5)

# Each is the worst that somebody may try against one of the readers.
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
}


@given(turns=_TURNS)
@settings(deadline=None)
def test_any_conversation_gives_bounded_findings_of_the_users_messages(turns: list[tuple[Role, str]]) -> None:
    said = [Utterance(f"m{at}", role, "", text, at) for at, (role, text) in enumerate(turns)]
    users = {one.message_id for one in said if one.role == Role.USER}
    findings = RULES.extract(said)
    assert len(findings) <= FINDINGS_PER_MESSAGE * len(users)
    for one in findings:
        assert set(one.source_message_ids) <= users
        assert 0 < one.confidence <= 1
        assert one.key and len(one.key) <= VALUE_CHARS and len(one.value) <= VALUE_CHARS
        assert one.value.strip() or not one.holds


@given(text=_SAID)
@settings(deadline=None)
def test_the_same_words_always_tell_the_same(text: str) -> None:
    assert found(text) == RuleExtractor().extract([Utterance("m1", Role.USER, "", text, 1)])


def test_a_message_full_of_facts_is_cut_off() -> None:
    assert len(found(" ".join(f"I love thing{at}s." for at in range(100)))) == FINDINGS_PER_MESSAGE


def test_it_is_an_extractor() -> None:
    extractor: FactExtractor = RuleExtractor()
    assert extractor.extract([]) == []


@pytest.mark.parametrize("piece", _HOSTILE.values(), ids=_HOSTILE.keys())
def test_twice_the_text_takes_at_most_about_twice_the_time(piece: str) -> None:
    half, whole = _filled(piece, READ_CHARS // 2), _filled(piece, READ_CHARS)
    # In turn: a machine that is slow for a while is slow for both.
    once, twice = map(min, zip(*((_seconds(half), _seconds(whole)) for _ in range(5)), strict=True))
    assert twice <= 3 * once + 0.02


@pytest.mark.parametrize("piece", _HOSTILE.values(), ids=_HOSTILE.keys())
def test_a_megabyte_is_read_at_once(piece: str) -> None:
    assert _seconds(_filled(piece, 1_000_000)) < 5


def _filled(piece: str, chars: int) -> str:
    return piece * (chars // len(piece))


def _seconds(text: str) -> float:
    """Of everything: the passages and sentences of all of it, and the rules on what they look at."""
    begin = time.thread_time()
    for line in own_words(text):
        for sentence in sentences(line):
            clauses(sentence.text)
    found(text)
    return time.thread_time() - begin
