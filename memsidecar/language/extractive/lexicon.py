"""Word lists, the cues of corrections, and the classification of words for sentence scores."""

import re
from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from memsidecar.domain.text import COMMON_WORDS, FUNCTION_WORDS, word_set

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f]+")
_SUFFIX = re.compile(r"(?:ing|edly|ed|ies|es|s|ly)\Z")
_POSSESSIVE = re.compile(r"['\u2019]s?\Z")
_MAX_CACHED_WORDS = 16_384
_MAX_CACHED_WORD_CHARACTERS = 32


def split_words(text: str) -> list[str]:
    """Return the words as written; a script without spaces is split into pairs of characters.

    Layers have a tokenizer with stems for the index. This one keeps the case, which tells names, and lies below them.
    """
    words = _WORD.findall(text)
    if text.isascii():
        return words
    return [part for word in words for part in (_pairs(word) if _UNSPACED.match(word) else [word])]


def _pairs(word: str) -> list[str]:
    return [word[at : at + 2] for at in range(max(1, len(word) - 1))]


def root(word: str) -> str:
    """Return the word without its inflection, roughly: enough to tell that two sentences are about the same thing."""
    base = _POSSESSIVE.sub("", word.lower()).replace("\u2019", "'")
    short = _SUFFIX.sub("", base)
    stem = short.rstrip("e")
    return stem if len(short) > 2 and len(stem) > 1 else base


def _roots(words: Iterable[str]) -> frozenset[str]:
    return frozenset(form for word in words for form in (root(word), word))


_STOP_ROOTS = _roots(FUNCTION_WORDS)
_COMMON_ROOTS = _roots(COMMON_WORDS)
_CALENDAR_ROOTS = _roots(
    word_set("""
january february march april june july august september october november december monday tuesday wednesday thursday
friday saturday sunday spring summer autumn winter noon midnight deadline birthday anniversary quarter
montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag januar februar märz mai juni juli oktober dezember
lunes martes miércoles jueves viernes sábado domingo enero febrero marzo abril mayo junio julio agosto septiembre
octubre noviembre diciembre
""")
)

DECISION_WORDS = word_set("""
accepted agreed allergic approved assigned booked bought cancelled canceled chose chosen committed concluded confirmed
decided decision declined deployed engaged enrolled finished fixed goal graduated hired launched married moved must
named owner picked planned planning postponed prefer prefers preferred promised quit rejected required requirement
resolved scheduled settled signed switched
""")
RESULT_WORDS = word_set("""
because broke broken caused causes completed crashed deadlock error failed failing fails fixes improved increased
introduced measured merged migrated outage passed passes published reached reduced released reproduced resolved
result results reverted rolled shipped solved solution succeeded upgraded
""")
FIRST_PERSON = word_set("i i'm i've i'd i'll me my mine myself we we're we've we'd we'll us our ours")
SECOND_PERSON = word_set("you you're you've you'd you'll your yours yourself")

PLEASANTRY = re.compile(
    r"(?:hey|hi|hello|thanks|thank you|thx|bye|goodbye|good (?:morning|evening|night|luck)|see you|take care|wow|whoa|"
    r"yeah|yes|yep|sure|ok|okay|cool|awesome|great|nice|congrat\w*|no problem|you're welcome|haha|lol|"
    r"sounds (?:good|great)|of course|certainly|absolutely|glad|happy to help|i'm (?:glad|sorry|happy to)|"
    r"let me know|hope)\b",
    re.IGNORECASE,
)
VAGUE_OPENING = re.compile(
    r"(?:it|it's|that|that's|this|these|those|they|they're|he|she|he's|she's|so|and|but|or|which|there)\b",
    re.IGNORECASE,
)


class WordKind(IntEnum):
    """The class of a word by itself. A capitalised word counts as a name only where it does not begin a sentence."""

    STOP = 0
    NUMBER = 1
    CALENDAR = 2
    COMMON = 3
    NAME = 4
    RARE = 5


class Word(NamedTuple):
    """`form` is the spelling of the word lists: lower case with a plain apostrophe."""

    root: str
    kind: WordKind
    form: str


def classify(word: str) -> Word:
    """Classify a word. Results are cached, except for very long words, which hardly repeat."""
    return _classify_cached(word) if len(word) <= _MAX_CACHED_WORD_CHARACTERS else _classify(word)


def _classify(word: str) -> Word:
    key = root(word)
    return Word(key, _kind(word, key), word.lower().replace("\u2019", "'"))


_classify_cached = lru_cache(_MAX_CACHED_WORDS)(_classify)


def _kind(word: str, key: str) -> WordKind:
    if key in _STOP_ROOTS or not (len(key) > 1 or not key.isascii() or key.isdigit()):
        return WordKind.STOP
    if any(character.isdigit() for character in word):
        return WordKind.NUMBER
    if key in _CALENDAR_ROOTS:
        return WordKind.CALENDAR
    if key in _COMMON_ROOTS:
        return WordKind.COMMON
    return WordKind.NAME if word[0].isupper() else WordKind.RARE


_CUE = re.compile(
    r"\b(?:moved|changed|switched|replaced|renamed|rescheduled|postponed|reverted|swapped|shifted|migrated|instead"
    r"|no longer|any ?more|correction|rather than|scratch that|i meant|i was wrong|turned? out|changed my mind"
    r"|(?:increased|raised|lowered|reduced|extended|upgraded|downgraded|bumped|pushed|brought)\b.{1,60}\bto"
    r"|(?:slipped|delayed) (?:\S{1,30} ){0,3}(?:to|until)|(?:forget|ignore) what i (?:said|told|wrote)"
    r"|(?:set|cut)\b.{1,60}\bto \d\w*"
    r"|(?:upgrade|migration|switch|move) (?:\S{1,30} ){0,3}to (?:\S{1,30} ){1,5}"
    r"(?:through|done|completed?|finished|live)"
    r"|not \S.{0,40}\bbut|stattdessen|nicht mehr|verschoben|geändert|umgestellt|korrektur|sondern|verlegt|erhöht"
    r"|gesenkt|verkürzt|verlängert|ersetzt|gewechselt"
    r"|ya no|en lugar de|en vez de|cambi(?:amos|aron|ado|ó)|movimos|corrección|sino)\b"
    r"|改到|改为|改成|改在|改用|不再|而是|更正|换成|推迟|変更|ではなく|やめて"
)
_WEAK_CUE = re.compile(
    r"\b(?:actually|(?<!for )(?<!until )(?<!by )now(?! that)"
    r"|after all|t(?:ook|akes) over|jetzt|eigentlich|ab sofort|ahora|en realidad)\b"
    r"|现在|其实|今は|実は"
)
"Cues are searched for in lower case: ignoring the case takes three times as long."
CUE_WORDS = word_set("""
moved changed switched replaced renamed rescheduled postponed reverted swapped shifted migrated instead longer any
anymore correction rather scratch meant wrong turned increased raised lowered reduced extended upgraded downgraded
bumped pushed brought set cut upgrade migration switch move not stattdessen mehr verschoben geändert umgestellt
korrektur slipped delayed forget ignore took takes
sondern verlegt erhöht gesenkt verkürzt verlängert ersetzt gewechselt ya lugar vez
cambiamos cambiaron cambiado cambió movimos corrección sino actually now after jetzt eigentlich sofort ahora realidad
""")
STRONG_CUE_TERMS = CUE_WORDS - word_set("""
any not after set cut forget ignore took takes actually now jetzt eigentlich sofort ahora realidad
""") | word_set("改到 改为 改成 改在 改用 不再 而是 更正 换成 推迟 変更 では なく やめ")
"Terms of the index by which messages with a strong cue are found."
_COMPANIONS = dict(
    pair.split("+")
    for pair in word_set("""
    any+more after+all not+but set+to cut+to longer+no ya+no forget+what ignore+what took+over takes+over
    """)
)
"Frequent words that are a part of a cue only together with another word."
_UNSPACED_CUES = re.compile("[改変换推而更其]|不再|现在|ではなく|やめて|今は|実は")
"Each cue contains one of these words, or of these characters."
_CUE_WORD = re.compile(r"\w+")
_ASCII_WORD_BYTES = bytes(byte if chr(byte).isalnum() or byte == ord("_") else ord(" ") for byte in range(128))
_ASCII_WORD_BYTES += bytes(128)
_HYPOTHETICAL = re.compile(
    r"[?\uff1f\u061f]|\b(?:if|could|should|would|might|maybe|perhaps|whether|unless|falls|vielleicht|si|quizás)\b"
    r"|如果|也许|もし",
    re.IGNORECASE,
)
OLD_VALUE = re.compile(r"\b(?:instead of|rather than|no longer|from|not) (.{1,40})", re.IGNORECASE)
REPLACED = re.compile(
    r"\b(?:replac(?:ed|ing)|(?:switched|migrated|moved|away) from|instead of|statt|ersetzt|en (?:lugar|vez) de"
    r"|(?:no longer|nicht mehr|ya no)(?: (?:use|using|run|running|have|on|with|in|at|auf|mit|usamos|uso|con|en)){0,2}"
    r") (\S+)",
    re.IGNORECASE,
)
PRONOUN = re.compile(
    r"\b(?:moved|changed|switched|rescheduled|postponed|shifted|pushed|brought|raised|lowered|increased|reduced|extended"
    r"|bumped|set) (?:it|that|this|them|those|these)\b"
    r"|\b(?:it|that|this)(?:['\u2019]s| is| was| has been)? (?:now|actually|moved|changed|rescheduled|postponed)\b"
    r"|\b(?:es|das|sie|ihn) (?:jetzt |nun )?(?:auf|um|von|zu)\b"
    r"|\b(?:lo|la|los|las) (?:cambi|mov|pas)"
    r"|它|それ",
    re.IGNORECASE,
)
"A pronoun that stands for what changed; an article or a conjunction does not."
CLOCK = re.compile(r"\b\d{1,2}:\d\d\b|\b\d{1,2} ?(?:am|pm|uhr|o'clock)\b", re.IGNORECASE)
_CUE_ROOTS = word_set("""
mov chang switch replac renam reschedul postpon revert swap shift migrat correction upgrad increas rais reduc
slipp delay
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

NO_SUBJECT_ROOTS = frozenset(map(root, CUE_WORDS)) | frozenset(
    root(word)
    for word in word_set("""
    second seconds minute minutes hour hours day days week weeks month months year years percent gb mb kb gib mib tb
    sekunden minuten stunden tage wochen uhr prozent segundos minutos horas días use uses used run runs keep per
    """)
)
"Units and verbs say nothing about the subject of a statement."
_NO_TOPIC_KINDS = (WordKind.STOP, WordKind.COMMON)
_NO_TOPIC_ROOTS = _CUE_ROOTS | _FUNCTION_ROOTS
HOLDER = re.compile(
    r"([^\W\d_]+)(?: is| now| ist| jetzt){0,2} (?:owns|leads|manages|maintains|handles|responsible for|in charge of"
    r"|t(?:ook|akes) over|leitet|verantwortet|zuständig für)\b"
)
"Who has a duty. One person has it: if another one has it, the former does not."
DUTY_ROOTS = frozenset(map(root, word_set("leads manages maintains handles responsible charge leitet zuständig")))
_TOPICS = word_set("deadline deadlines birthday anniversary shift shifts meeting meetings")
"Subjects that are words of the calendar, common words or cues as well."
NOW = word_set("now actually jetzt nun eigentlich ahora")
REFERENCE = re.compile(r"\b(?:it|this|that|they)\b", re.IGNORECASE)
CLAUSE_END = re.compile(r"[,;:()]\s|\s[\u2013\u2014-]\s")
DETERMINERS = word_set("the a an my our your his her its their der die das den dem unser unsere el la los las mi")
OF_WORDS = word_set("of for in von für de del para en")
VALUE_ROOTS = frozenset(root(word) for word in word_set("may port ports mai mayo")) | NO_SUBJECT_ROOTS
'A number after these words is a part of a date or a setting. After other words it says which one: "Invoice 1001".'


def is_correction(text: str) -> bool:
    """Tell whether a sentence has a cue of a correction, and states something."""
    if not may_correct(text):
        return False
    folded = text.lower()
    return bool(_CUE.search(folded) or _WEAK_CUE.search(folded)) and not is_hypothetical(text)


def may_correct(text: str) -> bool:
    """Return False for most texts without a cue. Much faster than the search for cues."""
    folded = text.lower()
    is_ascii = folded.isascii()
    # Splitting ASCII bytes gives the same words, several times as fast.
    words = folded.encode().translate(_ASCII_WORD_BYTES).decode().split() if is_ascii else _CUE_WORD.findall(folded)
    cues = CUE_WORDS.intersection(words)
    if cues and any(_COMPANIONS.get(cue, cue) in words for cue in cues):
        return True
    return not is_ascii and _UNSPACED_CUES.search(folded) is not None


def is_strong_cue(text: str) -> bool:
    """Tell whether a correction says that something changed. A weak cue ("now") need not mean it."""
    return _CUE.search(text.lower()) is not None


def has_weak_cue(text: str) -> bool:
    return _WEAK_CUE.search(text.lower()) is not None


def is_hypothetical(text: str) -> bool:
    """Tell whether a sentence asks, or supposes something."""
    return _HYPOTHETICAL.search(text) is not None


def topics(words: Sequence[Word]) -> dict[str, WordKind]:
    """Return the words of a statement with their kinds, without cues and words that name no topic."""
    kinds: dict[str, WordKind] = {}
    for key, kind, form in reversed(words):
        if form in _TOPICS:
            kinds[key] = WordKind.RARE
        elif kind not in _NO_TOPIC_KINDS and key not in _NO_TOPIC_ROOTS:
            kinds[key] = kind
    return kinds
