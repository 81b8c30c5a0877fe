"""Corrections: statements that a later statement of the conversation supersedes.

A sentence corrects an earlier one if it contains a cue ("moved", "no longer", "instead", "actually") and is about the
same subject with another value: both share content words, and the earlier one has a date, number or name that the later
one replaces. "We moved it to Thursday" names no subject; it corrects the nearest statement with a value of that kind.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from memsidecar.language.extractive.lexicon import (
    CLAUSE_END,
    CLOCK,
    DETERMINERS,
    DUTY_ROOTS,
    HOLDER,
    NO_SUBJECT_ROOTS,
    NOW,
    OF_WORDS,
    OLD_VALUE,
    PRONOUN,
    REFERENCE,
    REPLACED,
    VALUE_ROOTS,
    Word,
    WordKind,
    classify,
    has_weak_cue,
    is_hypothetical,
    root,
    split_words,
    topics,
)

_UNSPACED = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_VALUE_KINDS = (WordKind.NUMBER, WordKind.CALENDAR, WordKind.NAME)
_SUBJECT_KINDS = (WordKind.RARE, WordKind.NAME)
_QUARTER, _SOME, _HALF, _MOST = 0.25, 0.33, 0.5, 0.66
"Shares of the earlier statement's content words that occur in the later one."
_MAX_BRIEF_WORDS = 4
"Content words of a statement that has only a subject and a value."


@dataclass(frozen=True)
class Statement:
    """The content words of a sentence with their kinds; words that name no topic are left out."""

    text: str
    kinds: dict[str, WordKind]

    @classmethod
    def of(cls, text: str, words: Sequence[Word]) -> "Statement":
        kinds = topics(words)
        if words and words[0].kind == WordKind.NAME and words[0].root in kinds:
            kinds[words[0].root] = WordKind.RARE  # the first word is capitalised in any case
        return cls(text, kinds)

    @classmethod
    def parse(cls, text: str) -> "Statement":
        return cls.of(text, list(map(classify, split_words(text))))

    @cached_property
    def replaced(self) -> frozenset[str]:
        """Return the words that the statement says it replaces: "replaced Sentry with"."""
        return frozenset(root(word) for text in REPLACED.findall(self.text) for word in split_words(text))

    @cached_property
    def focus(self) -> "Statement":
        """Return the clause with a weak cue if it has a value: "Standup is at 10:00 now, Ana asked for it"."""
        clauses = CLAUSE_END.split(self.text)
        for clause in filter(has_weak_cue, clauses if len(clauses) > 1 else ()):
            roots = (root(word) for word in split_words(clause))
            kinds = {word: self.kinds[word] for word in roots if word in self.kinds}
            if any(kind in _VALUE_KINDS for kind in kinds.values()) and not REFERENCE.search(clause):
                return Statement(clause, kinds)
        return self

    @cached_property
    def holder(self) -> str:
        """Return the name of who has a duty: "Kim owns search"."""
        found = HOLDER.search(self.text)
        return root(found[1]) if found and classify(found[1]).kind == WordKind.NAME else ""

    @cached_property
    def qualifiers(self) -> dict[str, frozenset[str]]:
        """Return the content words with those that say which one is meant: "staging API", "order 1001"."""
        found: dict[str, set[str]] = defaultdict(set)
        for clause in CLAUSE_END.split(self.text):
            for head, qualifier in _qualified(_tokens(clause)):
                if head in self.kinds:
                    found[head].add(qualifier)
        return {head: frozenset(words) for head, words in found.items()}

    @cached_property
    def roots(self) -> frozenset[str]:
        """Return all words, and numbers such as 2.3 as a whole."""
        return frozenset(word.root for word in _tokens(self.text))

    def values(self, other: "Statement", without: Iterable[str] = ()) -> set[WordKind]:
        """Return the kinds of the words that the other statement does not have."""
        left_out = {part for word in without for part in word.split()}
        return {kind for word, kind in self.kinds.items() if word not in other.kinds and word not in left_out}


def _tokens(text: str) -> list[Word]:
    """Return the words without "now". Numbers in a row, such as 2 and 3 of 2.3, are one."""
    joined: list[Word] = []
    for word in map(classify, split_words(text)):
        if word.form in NOW:
            continue
        if joined and joined[-1].kind == word.kind == WordKind.NUMBER:
            joined[-1] = word._replace(root=f"{joined[-1].root} {word.root}")
        else:
            joined.append(word)
    return joined


def _qualified(words: Sequence[Word]) -> Iterator[tuple[str, str]]:
    """Yield words, each with a modifier before it, a number or a name after it, or what follows "of"."""
    for at, (before, word) in enumerate(pairwise(words), 1):
        is_named = before.kind in _SUBJECT_KINDS or (at > 1 and words[at - 2].form in DETERMINERS)
        if topics([word]).get(word.root) in _SUBJECT_KINDS and is_named and _is_subject(before):
            yield word.root, before.root
        if word.kind == WordKind.NAME or (word.kind == WordKind.NUMBER and before.root not in VALUE_ROOTS):
            yield before.root, word.root
        if before.form in OF_WORDS and at > 1 and not words[at - 2].form.endswith(("ed", "ing")):
            named = words[at + (word.form in DETERMINERS) :][:2]
            if named and named[0].kind in _SUBJECT_KINDS:
                yield words[at - 2].root, named[0].root
                if named[-1].kind == WordKind.RARE and _is_subject(named[-1]):
                    yield named[0].root, named[-1].root


def _is_subject(word: Word) -> bool:
    is_named = topics([word]).get(word.root) in _SUBJECT_KINDS or word.kind == WordKind.COMMON
    return is_named and word.root not in NO_SUBJECT_ROOTS


def can_correct(correction: Statement, is_strong: bool) -> bool:
    """Return False for a sentence that `corrects` no other: one with a weak cue replaces a value, so it has one.

    Three of four sentences with a weak cue have none. Comparing them with all memories of a context takes 0.4 ms.
    """
    return is_strong or any(kind in _VALUE_KINDS for kind in correction.kinds.values()) or bool(correction.holder)


def corrects(correction: Statement, earlier: Statement, is_strong: bool) -> bool:
    """Tell whether a sentence with a cue corrects an earlier one, of any conversation of the same user.

    Without a shared word it does not: other conversations have other subjects.
    """
    shared = correction.kinds.keys() & earlier.kinds.keys()
    if not shared:
        return False
    if _has_other_holder(correction, earlier):
        return True
    if not is_strong:
        return any(
            _replaces(each, earlier, is_strong) and _same_values(each, earlier)
            for each in _forms(correction)
            if not _have_other_subjects(each, earlier)
        )
    is_same_subject = not _are_dates(shared, earlier) and len(shared) >= _QUARTER * len(earlier.kinds)
    is_changed = is_same_subject and _same_values(correction, earlier)
    is_corrected = is_changed or _replaces(correction, earlier, is_strong) or _names_replaced(correction, earlier)
    is_stated = is_corrected and not is_hypothetical(earlier.text)
    return is_stated and not _have_other_subjects(correction, earlier)


def supersedes(correction: Statement, earlier: Statement, is_strong: bool) -> bool:
    """Tell whether a sentence with a cue corrects one of the same conversation: fewer words tell it."""
    return _has_other_holder(correction, earlier) or any(
        _replaces(each, earlier, is_strong) and not _have_other_subjects(each, earlier) for each in _forms(correction)
    )


def corrects_nearby(correction: Statement, earlier: Statement) -> bool:
    """Tell whether "We moved it to Thursday", which has a strong cue, corrects a statement shortly before it."""
    changed = correction.values(earlier) & earlier.values(correction)
    same_unit = bool(CLOCK.search(correction.text)) == bool(CLOCK.search(earlier.text))
    is_dated = WordKind.CALENDAR in changed or (WordKind.NUMBER in changed and same_unit)
    return is_dated and bool(PRONOUN.search(correction.text)) and not is_hypothetical(earlier.text)


def _have_other_subjects(correction: Statement, earlier: Statement) -> bool:
    """Tell whether each names a subject that the other does not, and both share one word at most, or qualify it.

    "The timeout of the inventory is now 5 seconds" says nothing about "the port of the inventory", nor about "the
    timeout of the checkout".
    """
    if _names_replaced(correction, earlier) or _UNSPACED.search(correction.text):
        return False
    if _qualify_otherwise(correction, earlier):
        return True
    changed = correction.values(earlier) & earlier.values(correction)
    is_number = not changed.isdisjoint((WordKind.NUMBER, WordKind.CALENDAR))
    ones, others = _subjects(correction, with_names=is_number), _subjects(earlier, with_names=is_number)
    shared = correction.kinds.keys() & _subjects(earlier, with_names=True)
    return len(shared) < 2 and bool(ones - others) and bool(others - ones)


def _qualify_otherwise(correction: Statement, earlier: Statement) -> bool:
    """Tell whether a shared word is another one in each ("staging API", "production API"), and a value differs, too.

    If nothing else differs, the qualifier is the value: "a Postgres database", "a MySQL database".
    """
    for head, others in earlier.qualifiers.items():
        ones = correction.qualifiers.get(head, frozenset())
        if ones - earlier.roots and others - correction.roots:
            changed = correction.values(earlier, ones) & earlier.values(correction, others)
            if not changed.isdisjoint(_VALUE_KINDS):
                return True
    return False


def _subjects(statement: Statement, with_names: bool) -> set[str]:
    kinds = (WordKind.RARE, WordKind.NAME) if with_names else (WordKind.RARE,)
    return {word for word, kind in statement.kinds.items() if kind in kinds} - NO_SUBJECT_ROOTS


def closeness(correction: Statement, earlier: Statement) -> tuple[bool, int]:
    """Return how certain a correction is: whether it names what it replaces, and how many words both share."""
    return _names_replaced(correction, earlier), len(correction.kinds.keys() & earlier.kinds.keys())


def names_no_subject(correction: Statement, earlier: Statement) -> bool:
    """Tell whether the correction is not understood without the earlier statement."""
    shared = correction.kinds.keys() & earlier.kinds.keys()
    return bool(PRONOUN.search(correction.text)) and all(earlier.kinds[word] in _VALUE_KINDS for word in shared)


def _names_replaced(correction: Statement, earlier: Statement) -> bool:
    """Whether the correction says that it replaces a name of the earlier statement."""
    return any(earlier.kinds.get(value) == WordKind.NAME for value in correction.replaced)


def _forms(correction: Statement) -> Sequence[Statement]:
    return (correction,) if correction.focus is correction else (correction, correction.focus)


def _has_other_holder(correction: Statement, earlier: Statement) -> bool:
    """Tell whether another one has the whole duty: "Kim owns search", "Lee owns search now"."""
    if not correction.holder or not earlier.holder or correction.holder == earlier.holder:
        return False
    duties = earlier.kinds.keys() - DUTY_ROOTS - {earlier.holder}
    return bool(duties) and duties <= correction.kinds.keys() and not is_hypothetical(earlier.text)


def _replaces(correction: Statement, earlier: Statement, is_strong: bool) -> bool:
    shared = correction.kinds.keys() & earlier.kinds.keys()
    share = _count(shared, earlier) / _count(earlier.kinds, earlier)
    if share < _SOME or is_hypothetical(earlier.text):
        return False
    if _are_dates(shared, earlier):
        return is_strong and _names_old_value(correction, earlier)
    if not is_strong:
        return _updates(correction, earlier, len(shared), share)
    is_same_subject = len(shared) > 1 and (share >= _HALF or not any(map(str.isascii, shared)))
    return is_same_subject or _same_values(correction, earlier) or _names_old_value(correction, earlier)


def _count(words: Iterable[str], statement: Statement) -> int:
    """Return the number of words. Those of a date, such as "Tuesday at 10:00", are one."""
    dates = [statement.kinds[word] in (WordKind.NUMBER, WordKind.CALENDAR) for word in words]
    return len(dates) - sum(dates) + any(dates)


def _are_dates(words: Iterable[str], statement: Statement) -> bool:
    return all(statement.kinds[word] in (WordKind.NUMBER, WordKind.CALENDAR) for word in words)


def _updates(correction: Statement, earlier: Statement, shared: int, share: float) -> bool:
    """Whether a statement with a cue that need not mean a change ("now") has the subject and another value."""
    if shared > 1 and share >= _MOST and correction.values(earlier):
        return True
    is_about_it = (shared > 1 and share >= _HALF) or len(correction.kinds) <= _MAX_BRIEF_WORDS
    return is_about_it and _same_values(correction, earlier)


def _same_values(correction: Statement, earlier: Statement) -> bool:
    """Whether each has a date, a number or a name that the other does not have, of the same kind."""
    return not (correction.values(earlier) & earlier.values(correction)).isdisjoint(_VALUE_KINDS)


def _names_old_value(correction: Statement, earlier: Statement) -> bool:
    """Whether the correction has the old and the new date, number or name, or says which one it replaces."""
    new = correction.values(earlier)
    shared = correction.kinds.keys() & earlier.kinds.keys()
    if len(shared) > 1 and any(earlier.kinds[word] in new and earlier.kinds[word] in _VALUE_KINDS for word in shared):
        return True
    old = {root(word) for text in OLD_VALUE.findall(correction.text) for word in split_words(text)}
    return any(earlier.kinds.get(value) in _VALUE_KINDS for value in old)
