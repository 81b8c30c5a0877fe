"""Corrections: statements that a later statement of the conversation supersedes.

A sentence corrects an earlier one if it contains a cue ("moved", "no longer", "instead", "actually") and is about the
same subject with another value: both share content words, and the earlier one has a date, number or name that the later
one replaces. "We moved it to Thursday" names no subject; it corrects the nearest statement with a value of that kind.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from memsidecar.domain.text import word_set
from memsidecar.language.extractive.lexicon import Word, WordKind, classify, root, split_words

_CUE = re.compile(
    r"\b(?:moved|changed|switched|replaced|renamed|rescheduled|postponed|reverted|swapped|shifted|migrated|instead"
    r"|no longer|any ?more|correction|rather than|scratch that|i meant|i was wrong|turned? out|changed my mind"
    r"|(?:increased|raised|lowered|reduced|extended|upgraded|downgraded|bumped|pushed|brought)\b.{1,60}\bto"
    r"|(?:set|cut)\b.{1,60}\bto \d\w*"
    r"|(?:upgrade|migration|switch|move) (?:\S{1,30} ){0,3}to (?:\S{1,30} ){1,5}"
    r"(?:through|done|completed?|finished|live)"
    r"|not \S.{0,40}\bbut|stattdessen|nicht mehr|verschoben|geändert|umgestellt|korrektur|sondern|verlegt|erhöht"
    r"|gesenkt|verkürzt|verlängert|ersetzt|gewechselt"
    r"|ya no|en lugar de|en vez de|cambi(?:amos|aron|ado|ó)|movimos|corrección|sino)\b"
    r"|改到|改为|改成|改在|改用|不再|而是|更正|换成|推迟|変更|ではなく|やめて"
)
_WEAK_CUE = re.compile(
    r"\b(?:actually|now|from now on|after all|jetzt|eigentlich|ab sofort|ahora|en realidad)\b|现在|其实|今は|実は"
)
"Cues are searched for in lower case: ignoring the case takes three times as long."
_CUE_WORDS = word_set("""
moved changed switched replaced renamed rescheduled postponed reverted swapped shifted migrated instead longer any
anymore correction rather scratch meant wrong turned increased raised lowered reduced extended upgraded downgraded
bumped pushed brought set cut upgrade migration switch move not stattdessen mehr verschoben geändert umgestellt
korrektur
sondern verlegt erhöht gesenkt verkürzt verlängert ersetzt gewechselt ya lugar vez
cambiamos cambiaron cambiado cambió movimos corrección sino actually now after jetzt eigentlich sofort ahora realidad
""")
STRONG_CUE_TERMS = _CUE_WORDS - word_set("""
any not after set cut actually now jetzt eigentlich sofort ahora realidad
""") | word_set("改到 改为 改成 改在 改用 不再 而是 更正 换成 推迟 変更 では なく やめ")
"Terms of the index by which messages with a strong cue are found."
_COMPANIONS = dict(pair.split("+") for pair in word_set("any+more after+all not+but set+to cut+to longer+no ya+no"))
"Frequent words that are a part of a cue only together with another word."
_UNSPACED_CUES = re.compile("[改変换推而更其]|不再|现在|ではなく|やめて|今は|実は")
"Each cue contains one of these words, or of these characters."
_UNSPACED = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_WORD = re.compile(r"\w+")
_ASCII_WORD_BYTES = bytes(byte if chr(byte).isalnum() or byte == ord("_") else ord(" ") for byte in range(128))
_ASCII_WORD_BYTES += bytes(128)
_HYPOTHETICAL = re.compile(
    r"[?\uff1f\u061f]|\b(?:if|could|should|would|might|maybe|perhaps|whether|unless|falls|vielleicht|si|quizás)\b"
    r"|如果|也许|もし",
    re.IGNORECASE,
)
_OLD_VALUE = re.compile(r"\b(?:instead of|rather than|no longer|from|not) (.{1,40})", re.IGNORECASE)
_REPLACED = re.compile(
    r"\b(?:replac(?:ed|ing)|(?:switched|migrated|moved|away) from|instead of|statt|ersetzt|en (?:lugar|vez) de"
    r"|(?:no longer|nicht mehr|ya no)(?: (?:use|using|run|running|have|on|with|in|at|auf|mit|usamos|uso|con|en)){0,2}"
    r") (\S+)",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(?:moved|changed|switched|rescheduled|postponed|shifted|pushed|brought|raised|lowered|increased|reduced|extended"
    r"|bumped|set) (?:it|that|this|them|those|these)\b"
    r"|\b(?:it|that|this)(?:['\u2019]s| is| was| has been)? (?:now|actually|moved|changed|rescheduled|postponed)\b"
    r"|\b(?:es|das|sie|ihn) (?:jetzt |nun )?(?:auf|um|von|zu)\b"
    r"|\b(?:lo|la|los|las) (?:cambi|mov|pas)"
    r"|它|それ",
    re.IGNORECASE,
)
"A pronoun that stands for what changed; an article or a conjunction does not."
_CLOCK = re.compile(r"\b\d{1,2}:\d\d\b|\b\d{1,2} ?(?:am|pm|uhr|o'clock)\b", re.IGNORECASE)
_CUE_ROOTS = word_set("""
mov chang switch replac renam reschedul postpon revert swap shift migrat correction upgrad increas rais reduc
""")
_FUNCTION_ROOTS = frozenset(
    root(word)
    for word in word_set("""
    der die das den dem des ein eine einen einem einer ist sind war waren wird werden wurde wurden hat haben am im um
    auf zu zum zur von vom mit und oder nicht auch noch nur wir ich du er sie es uns unser unsere mein meine jetzt uhr
    für an bei nach seit bis el la los las un una unos unas es son está están era fue ha han de del en al por para con
    sin y o que se lo le nos nuestro nuestra mi tu su sus ahora
    """)
)
"Function words of German and Spanish; the word lists of sentence scores are English."

_NO_SUBJECT_ROOTS = frozenset(map(root, _CUE_WORDS)) | frozenset(
    root(word)
    for word in word_set("""
    second seconds minute minutes hour hours day days week weeks month months year years percent gb mb kb gib mib tb
    sekunden minuten stunden tage wochen uhr prozent segundos minutos horas días use uses used run runs keep per
    """)
)
"Units and verbs say nothing about the subject of a statement."
_NO_TOPIC_ROOTS = _CUE_ROOTS | _FUNCTION_ROOTS
_NO_TOPIC_KINDS = (WordKind.STOP, WordKind.COMMON)
_VALUE_KINDS = (WordKind.NUMBER, WordKind.CALENDAR, WordKind.NAME)
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
        topics = [word for word in words if word.kind not in _NO_TOPIC_KINDS and word.root not in _NO_TOPIC_ROOTS]
        kinds = {word.root: word.kind for word in reversed(topics)}
        if topics and topics[0] is words[0] and topics[0].kind == WordKind.NAME:
            kinds[topics[0].root] = WordKind.RARE
        return cls(text, kinds)

    @classmethod
    def parse(cls, text: str) -> "Statement":
        return cls.of(text, list(map(classify, split_words(text))))

    @cached_property
    def replaced(self) -> frozenset[str]:
        """Return the words that the statement says it replaces: "replaced Sentry with"."""
        return frozenset(root(word) for text in _REPLACED.findall(self.text) for word in split_words(text))

    def values(self, other: "Statement") -> set[WordKind]:
        """Return the kinds of the words that the other statement does not have."""
        return {kind for word, kind in self.kinds.items() if word not in other.kinds}


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


def is_correction(text: str) -> bool:
    """Tell whether a sentence has a cue of a correction, and states something."""
    if not may_correct(text):
        return False
    folded = text.lower()
    return bool(_CUE.search(folded) or _WEAK_CUE.search(folded)) and not _HYPOTHETICAL.search(text)


def may_correct(text: str) -> bool:
    """Return False for most texts without a cue. Much faster than the search for cues."""
    folded = text.lower()
    is_ascii = folded.isascii()
    # Splitting ASCII bytes gives the same words, several times as fast.
    words = folded.encode().translate(_ASCII_WORD_BYTES).decode().split() if is_ascii else _WORD.findall(folded)
    cues = _CUE_WORDS.intersection(words)
    if cues and any(_COMPANIONS.get(cue, cue) in words for cue in cues):
        return True
    return not is_ascii and _UNSPACED_CUES.search(folded) is not None


def is_strong_cue(text: str) -> bool:
    """Tell whether a correction says that something changed. A weak cue ("now") need not mean it."""
    return _CUE.search(text.lower()) is not None


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
    if not is_strong:
        is_corrected = _replaces(correction, earlier, is_strong=False) and _same_values(correction, earlier)
        return is_corrected and not _have_other_subjects(correction, earlier)
    is_same_subject = any(earlier.kinds[word] not in (WordKind.NUMBER, WordKind.CALENDAR) for word in shared)
    is_changed = is_same_subject and len(shared) >= _QUARTER * len(earlier.kinds) and _same_values(correction, earlier)
    is_corrected = is_changed or _replaces(correction, earlier, is_strong=True) or _names_replaced(correction, earlier)
    is_stated = is_corrected and not _HYPOTHETICAL.search(earlier.text)
    return is_stated and not _have_other_subjects(correction, earlier)


def corrects_nearby(correction: Statement, earlier: Statement) -> bool:
    """Tell whether "We moved it to Thursday", which has a strong cue, corrects a statement shortly before it."""
    changed = correction.values(earlier) & earlier.values(correction)
    same_unit = bool(_CLOCK.search(correction.text)) == bool(_CLOCK.search(earlier.text))
    is_dated = WordKind.CALENDAR in changed or (WordKind.NUMBER in changed and same_unit)
    return is_dated and bool(_PRONOUN.search(correction.text)) and not _HYPOTHETICAL.search(earlier.text)


def _have_other_subjects(correction: Statement, earlier: Statement) -> bool:
    """Tell whether both share one word at most, and each names a subject that the other does not.

    "The timeout of the inventory is now 5 seconds" says nothing about "the port of the inventory".
    """
    if _names_replaced(correction, earlier) or _UNSPACED.search(correction.text):
        return False
    changed = correction.values(earlier) & earlier.values(correction)
    is_number = not changed.isdisjoint((WordKind.NUMBER, WordKind.CALENDAR))
    ones, others = _subjects(correction, with_names=is_number), _subjects(earlier, with_names=is_number)
    shared = correction.kinds.keys() & _subjects(earlier, with_names=True)
    return len(shared) < 2 and bool(ones - others) and bool(others - ones)


def _subjects(statement: Statement, with_names: bool) -> set[str]:
    kinds = (WordKind.RARE, WordKind.NAME) if with_names else (WordKind.RARE,)
    return {word for word, kind in statement.kinds.items() if kind in kinds} - _NO_SUBJECT_ROOTS


def closeness(correction: Statement, earlier: Statement) -> tuple[bool, int]:
    """Return how certain a correction is: whether it names what it replaces, and how many words both share."""
    return _names_replaced(correction, earlier), len(correction.kinds.keys() & earlier.kinds.keys())


def names_no_subject(correction: Statement, earlier: Statement) -> bool:
    """Tell whether the correction is not understood without the earlier statement."""
    shared = correction.kinds.keys() & earlier.kinds.keys()
    return bool(_PRONOUN.search(correction.text)) and all(earlier.kinds[word] in _VALUE_KINDS for word in shared)


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
    if targets or not is_strong or not _PRONOUN.search(correction.text):
        yield from targets
        return
    for earlier in range(position - 1, max(-1, position - 1 - _MAX_DISTANCE), -1):
        if corrects_nearby(correction, statements[earlier]):
            yield earlier
            return


def _replaces(correction: Statement, earlier: Statement, is_strong: bool) -> bool:
    shared = correction.kinds.keys() & earlier.kinds.keys()
    share = len(shared) / len(earlier.kinds)
    if share < _SOME or _HYPOTHETICAL.search(earlier.text):
        return False
    if not is_strong:
        return _updates(correction, earlier, len(shared), share)
    is_same_subject = len(shared) > 1 and (share >= _HALF or not any(map(str.isascii, shared)))
    return is_same_subject or _same_values(correction, earlier) or _names_old_value(correction, earlier)


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
    old = {root(word) for text in _OLD_VALUE.findall(correction.text) for word in split_words(text)}
    return any(earlier.kinds.get(value) in _VALUE_KINDS for value in old)
