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
    EVENT_ROOTS,
    NO_SUBJECT_ROOTS,
    NOW,
    OF_WORDS,
    OLD_VALUE,
    PRONOUN,
    REPLACED,
    VALUE_ROOTS,
    Word,
    WordKind,
    classify,
    is_correction,
    is_hypothetical,
    is_strong_cue,
    is_topic,
    root,
    split_words,
)

_UNSPACED = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_NO_TOPIC_KINDS = (WordKind.STOP, WordKind.COMMON)
_VALUE_KINDS = (WordKind.NUMBER, WordKind.CALENDAR, WordKind.NAME)
_SUBJECT_KINDS = (WordKind.RARE, WordKind.NAME)
_QUARTER, _SOME, _HALF, _MOST = 0.25, 0.33, 0.5, 0.66
"Shares of the earlier statement's content words that occur in the later one."
_MAX_BRIEF_WORDS = 4
"Content words of a statement that has only a subject and a value."
_MAX_EXAMINED = 50
"Earlier statements with one word that are examined, the newest first: the time stays linear."
_MAX_COMPARISONS = 10_000
"Of two statements in one conversation. Each takes 15 us; a conversation of people has a few hundred."
_MAX_DISTANCE = 6
"Sentences between a correction without a subject and its statement."


@dataclass(frozen=True)
class Statement:
    """The content words of a sentence with their kinds; words that name no topic are left out."""

    text: str
    kinds: dict[str, WordKind]

    @classmethod
    def of(cls, text: str, words: Sequence[Word]) -> "Statement":
        # The first word is capitalised in any case.
        topics = [word for word in words if word.kind not in _NO_TOPIC_KINDS and is_topic(word)]
        kinds = {word.root: WordKind.RARE if word.root in EVENT_ROOTS else word.kind for word in reversed(topics)}
        if topics and topics[0] is words[0] and topics[0].kind == WordKind.NAME:
            kinds[topics[0].root] = WordKind.RARE
        return cls(text, kinds)

    @classmethod
    def parse(cls, text: str) -> "Statement":
        return cls.of(text, list(map(classify, split_words(text))))

    @cached_property
    def replaced(self) -> frozenset[str]:
        """Return the words that the statement says it replaces: "replaced Sentry with"."""
        return frozenset(root(word) for text in REPLACED.findall(self.text) for word in split_words(text))

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
        if word.kind in _SUBJECT_KINDS and is_named and _is_subject(before):
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
    is_named = word.kind in _SUBJECT_KINDS or word.kind == WordKind.COMMON
    return is_named and word.root not in NO_SUBJECT_ROOTS and is_topic(word)


def superseded(statements: Sequence[Statement]) -> set[int]:
    """Return the positions of the statements that a later one corrects."""
    corrected: set[int] = set()
    positions: dict[str, list[int]] = defaultdict(list)
    compared = 0
    for position, statement in enumerate(statements):
        if compared < _MAX_COMPARISONS and is_correction(statement.text):
            related = {earlier for word in statement.kinds for earlier in positions[word][-_MAX_EXAMINED:]}
            corrected.update(_targets(statements, related, position))
            compared += len(related)
        for content_root in statement.kinds:
            positions[content_root].append(position)
    return corrected


def can_correct(correction: Statement, is_strong: bool) -> bool:
    """Return False for a sentence that `corrects` no other: one with a weak cue replaces a value, so it has one.

    Three of four sentences with a weak cue have none. Comparing them with all memories of a context takes 0.4 ms.
    """
    return is_strong or any(kind in _VALUE_KINDS for kind in correction.kinds.values())


def corrects(correction: Statement, earlier: Statement, is_strong: bool) -> bool:
    """Tell whether a sentence with a cue corrects an earlier one, of any conversation of the same user.

    Without a shared word it does not: other conversations have other subjects.
    """
    shared = correction.kinds.keys() & earlier.kinds.keys()
    if not shared:
        return False
    is_corrected = _replaces(correction, earlier, is_strong)
    if not is_strong:
        return is_corrected and _same_values(correction, earlier) and not _have_other_subjects(correction, earlier)
    is_same_subject = not _are_dates(shared, earlier) and len(shared) >= _QUARTER * len(earlier.kinds)
    is_changed = is_same_subject and _same_values(correction, earlier)
    is_corrected = is_corrected or is_changed or _names_replaced(correction, earlier)
    is_stated = is_corrected and not is_hypothetical(earlier.text)
    return is_stated and not _have_other_subjects(correction, earlier)


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


def _targets(statements: Sequence[Statement], related: set[int], position: int) -> Iterator[int]:
    """Yield what the statement at a position corrects, of the earlier ones that share a word with it."""
    correction = statements[position]
    is_strong = is_strong_cue(correction.text)
    targets = [
        earlier
        for earlier in related
        if _replaces(correction, statements[earlier], is_strong)
        and not _have_other_subjects(correction, statements[earlier])
    ]
    if targets or not is_strong or not PRONOUN.search(correction.text):
        yield from targets
        return
    for earlier in range(position - 1, max(-1, position - 1 - _MAX_DISTANCE), -1):
        if corrects_nearby(correction, statements[earlier]):
            yield earlier
            return


def _replaces(correction: Statement, earlier: Statement, is_strong: bool) -> bool:
    shared = correction.kinds.keys() & earlier.kinds.keys()
    share = len(shared) / len(earlier.kinds)
    if share < _SOME or is_hypothetical(earlier.text):
        return False
    if _are_dates(shared, earlier):
        return is_strong and _names_old_value(correction, earlier)
    if not is_strong:
        return _updates(correction, earlier, len(shared), share)
    is_same_subject = len(shared) > 1 and (share >= _HALF or not any(map(str.isascii, shared)))
    return is_same_subject or _same_values(correction, earlier) or _names_old_value(correction, earlier)


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
