"""Sentences of utterances, without code, JSON and logs, and of former summaries; a summary as lines of text.

Statements that a later sentence corrects are found here, too: a summary leaves them out.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from memsidecar.domain.message import MAX_LABEL_CHARACTERS, begins_with_role, speaker_label
from memsidecar.domain.text import split_sentences
from memsidecar.language.contract import Utterance
from memsidecar.language.extractive.corrections import Statement, corrects_nearby, supersedes
from memsidecar.language.extractive.lexicon import PRONOUN, is_correction, is_strong_cue

_MAX_EXAMINED = 50
"Earlier statements with one word that are examined, the newest first: the time stays linear."
_MAX_COMPARISONS = 10_000
"Of two statements in one conversation. Each takes 15 us; a conversation of people has a few hundred."
_MAX_DISTANCE = 6
"Sentences between a correction without a subject and its statement."

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_SYMBOL = re.compile(r"[{}\[\]<>;=|\\/$&*_`\"()]")
_MAX_SYMBOL_SHARE = 0.12  # with a larger share of symbols a line is code, markup or data
_MIN_LETTER_SHARE = 0.4  # with a smaller share of letters a line is a row of figures
_MIN_ROW_CHARACTERS = 24
_EXAMINED_CHARACTERS = 400  # of a long line, so that the patterns take linear time
_SPACE = re.compile(r"\s+")
_URL = re.compile(r"\bhttps?://\S+")

_LOG = re.compile(
    r"\W{0,2}(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d[.,]?\d*\W|\w{3} +\d{1,2} \d\d:\d\d:\d\d\b)"
    r"|(?:(?=\S*[\d|\[\]:])\S+\s+){0,4}[\[(<]?(?:ERROR|WARN|WARNING|INFO|DEBUG|TRACE|FATAL|CRITICAL)(?:[\])>:\s]|\Z)"
    r"|npm (?:ERR!|WARN)|==> |[-dl][rwxs-]{9}\b"
)
_STACK_TRACE = re.compile(
    r"Traceback \(most recent call last\)|File \"[^\"]+\", line \d|at [\w$.<>/]+[(:].*\d|Caused by: |goroutine \d+ \["
    r"|panic: |(?:[\w$]{1,40}\.){0,9}[A-Z]\w*(?:Error|Exception|Warning|Interrupt)(?:: |\Z)|thread '[^']+' panicked"
    r"|\.{3} \d+ more"
)
_CODE = re.compile(
    r"(?:async )?def \w+\(|class \w+[(:{]|from [\w.]+ import |import [\w.{]+(?: as \w+|;|\Z)"
    r"|(?:const|let|var) \w+ ?[=:;]"
    r"|(?:export )?(?:default )?(?:async )?function\b.*\(|(?:public|private|protected|static) [\w<>\[\] ]+[({;=]"
    r"|(?:pub )?fn \w+[<(]|func (?:\(\w+ \*?\w+\) )?\w+\(|package [\w.]+;?\Z|#include\b|#!/|@\w+(?:\.\w+)*(?:\(.*\))?\Z"
    r"|(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE TABLE|ALTER TABLE)\b.*(?:[=*();,]|\bFROM\b|\bSET\b)"
    r"|(?:\$|>>>|%|PS [^>]*>) \S|diff --git |@@ -\d|(?:---|\+\+\+) [ab]/|<[/!?a-zA-Z][^>]*>|\|.*\||[}\])]+[;,]?\Z"
    r"|\"[^\"]{1,60}\"\s*:|[a-z][\w.-]{0,60}:\Z|[a-z0-9]{1,40}_[a-z0-9_]{1,40}: \S|[\w.\[\]\"']{1,40} ?(?:=|\+=|:=) ?\S"
)
_CODE_END = re.compile(r"(?:[;{]|\)\s*:|=>|->|&&|\|\|)\Z")
_KEY_VALUES = re.compile(r"(?:[\w.-]+=(?:\"[^\"]*\"|[^\s\"=]+)\s*){2}")
_LONG_ID = re.compile(r"(?<![\w-])(?=[a-f-]*\d)[0-9a-f-]{20,}(?!\w)")
_INDENTED = re.compile(r"(?: {2}|\t)\s*(?![-*+\u2022] |\d+[.)] )")
_CONTINUED = re.compile(
    r"(?:return|else|elif|try|except|finally|catch|case|break|continue|raise|throw|end|pass)\b|[#/*]"
    r"|(?:- )?[\w.-]{1,60}:(?: \S{1,60})?\Z"
)

MAX_READ_CHARACTERS = 32_000
"""Of a longer message, without its code, only the beginning and the last quarter of this are read: it is pasted text,
with a question before or after it."""

_DATA_START = re.compile(r"[{\[]\s*(?:[\"'][^\"'\n]{1,80}[\"']\s*[:,]|\{|\d+(?:\.\d+)?\s*,|\[)")
_SENTENCE_END = (".", "!", "?", "\u2026", "\u3002", "\uff01", "\uff1f", ":")


def prose_lines(text: str) -> Iterator[str]:
    """Yield the lines of a message that are written for readers, without the data inside them.

    A line that could be either, such as an indented one, belongs to the code before it. Of a long message the middle is
    left out.
    """
    in_code = False
    for line in _beginning_and_end(strip_code_blocks(text)).splitlines():
        stripped = line.strip()
        if not stripped:
            continue
        in_code = (in_code and bool(_INDENTED.match(line) or _CONTINUED.match(stripped))) or is_raw(stripped)
        if not in_code:
            yield from _outside_data(stripped)


def _beginning_and_end(text: str) -> str:
    if len(text) <= MAX_READ_CHARACTERS:
        return text
    end = MAX_READ_CHARACTERS // 4
    return f"{text[: MAX_READ_CHARACTERS - end]}\n{text[-end:]}"


def is_raw(line: str) -> bool:
    """Whether a line, or a sentence of one, is code, data, a log entry or part of a stack trace."""
    head = _URL.sub("", line[:_EXAMINED_CHARACTERS])
    if _LOG.match(head) or _STACK_TRACE.match(head) or _CODE.match(head) or _CODE_END.search(line[-8:]):
        return True
    if ("=" in head and _KEY_VALUES.search(head)) or _LONG_ID.search(head) or (line[0] in "{<" and line[-1] in "}>,"):
        return True
    symbols = len(_SYMBOL.findall(head))
    if symbols > 3 and symbols > _MAX_SYMBOL_SHARE * len(head):
        return True
    characters = _SPACE.sub("", head)
    letters = sum(map(str.isalpha, characters))
    return len(characters) >= _MIN_ROW_CHARACTERS and letters < _MIN_LETTER_SHARE * len(characters)


def strip_code_blocks(text: str) -> str:
    """Return the text without its fenced blocks; an unclosed fence extends to the end."""
    if "```" not in text and "~~~" not in text:
        return text
    prose: list[str] = []
    opening, end = "", 0
    for fence in _FENCE.finditer(text):
        if not opening:
            prose.append(text[end : fence.start()])
            opening = fence[1]
        elif fence[1].startswith(opening) and not fence[2].strip():
            opening, end = "", fence.end()
    return "\n".join(prose if opening else [*prose, text[end:]])


def _outside_data(line: str) -> Iterator[str]:
    """Yield the line, or the text before and after an object or a list in it, without the sentence around that."""
    data = _DATA_START.search(line)
    if data is None:
        yield line
        return
    before = line[: data.start()].rstrip()
    ends = [at for at in map(before.rfind, _SENTENCE_END) if at >= 0]
    if ends:
        yield before[: max(ends) + 1]
    after = line[max(line.rfind("}"), line.rfind("]"), data.start()) + 1 :].lstrip(" ,;.:)")
    if after[:1].islower():
        after = after.partition(". ")[2]
    if after:
        yield after


MAX_SUMMARY_CHARACTERS = 48_000
"More than the tokens of any summary that a request may ask for. The rest of a longer text is not read."
MAX_SENTENCE_CHARACTERS = 240  # a longer sentence, such as an unpunctuated paragraph, is cut
_MAX_ABBREVIATION_CHARACTERS = 16

_LIST_MARKER = re.compile(r"\A(?:[-*+>•#]+\s+|\d{1,3}[.)]\s+)+")
_FULL_STOP = re.compile(r"\.[\"'\u201d\u2019)\]]*\Z")
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Za-z]|Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|vs|etc|approx|No|Inc|Ltd|Co|dept|est|fig|cf)"
    r"|\b(?:[A-Za-z]\.)+[A-Za-z])\.\Z"
)
_LETTER = re.compile(r"[^\W_]")
_SPACE = re.compile(r"\s")
_PAUSE = re.compile(r"[,;:\u3001\uff0c\uff1b]\s*|\s+[-\u2013\u2014]+\s+")
_LABEL = re.compile(rf"([^\W_][^:\n]{{0,{MAX_LABEL_CHARACTERS - 1}}}): (?=\S)")


class SpokenSentence(NamedTuple):
    """A sentence with the label of its speaker; the label is empty where the speaker is unknown."""

    label: str
    text: str


def utterance_sentences(utterance: Utterance) -> Iterator[SpokenSentence]:
    """Yield the sentences of prose. One that begins with a role ("Assistant: ") is a quotation and left out."""
    label = speaker_label(utterance.name, utterance.role)
    for sentence in prose_sentences(utterance.text):
        if not begins_with_role(sentence):
            yield SpokenSentence(label, sentence)


def summary_sentences(summary: str, labels: Collection[str]) -> Iterator[SpokenSentence]:
    """Parse a former summary, or any text. `labels` are known labels, whether they look like names or not."""
    for line in summary[:MAX_SUMMARY_CHARACTERS].splitlines():
        label, text = _split_label(line.strip(), labels)
        yield from (SpokenSentence(label, sentence) for sentence in line_sentences(text))


def _split_label(line: str, labels: Collection[str]) -> tuple[str, str]:
    found = _LABEL.match(line)
    if found and (found[1] in labels or _looks_like_a_name(found[1])):
        return found[1], line[found.end() :]
    return "", line


def _looks_like_a_name(label: str) -> bool:
    """Whether it is one word, or a few capitalised ones: "He told me: go" is a sentence."""
    words = label.split(" ")
    return len(words) == 1 or (len(words) <= 4 and not any(word[:1].islower() for word in words))


def prose_sentences(text: str) -> Iterator[str]:
    """Yield the sentences in order, without code, data, logs and stack traces."""
    for line in prose_lines(text):
        yield from line_sentences(_LIST_MARKER.sub("", line.strip()))


def line_sentences(line: str) -> Iterator[str]:
    """Yield the sentences of one line that are prose."""
    for sentence in _split(line):
        for piece in _cut_to_length(sentence):
            if _LETTER.search(piece) and not is_raw(piece):
                yield piece


def _split(line: str) -> Iterator[str]:
    """Yield the sentences of the shared splitter, joined again where its full stop ends no sentence."""
    begin = end = 0
    for sentence in split_sentences(line):
        if end > begin and not _continues(line, begin, end):
            yield line[begin:end].strip()
            begin = end
        end += len(sentence)
    yield line[begin:].strip()


def _continues(line: str, begin: int, end: int) -> bool:
    """Whether a full stop before `end` is followed by a word in lower case, or belongs to an abbreviation."""
    tail = line[max(begin, end - _MAX_ABBREVIATION_CHARACTERS) : end].rstrip()
    return bool(_FULL_STOP.search(tail)) and (line[end].islower() or bool(_ABBREVIATION.search(tail)))


def _cut_to_length(sentence: str) -> Iterator[str]:
    """Cut a long sentence at a pause in the second half of the allowed length, else at a space, else anywhere."""
    while len(sentence) > MAX_SENTENCE_CHARACTERS:
        cut = _cut_position(sentence[: MAX_SENTENCE_CHARACTERS + 1])
        if piece := sentence[:cut].rstrip():
            yield piece
        sentence = sentence[cut:].lstrip()
    if sentence:
        yield sentence


def _cut_position(text: str) -> int:
    half = MAX_SENTENCE_CHARACTERS // 2
    pauses = [found.end() for found in _PAUSE.finditer(text) if half < found.end() <= MAX_SENTENCE_CHARACTERS]
    if pauses:
        return pauses[-1]
    spaces = [found.start() for found in _SPACE.finditer(text, half // 2 + 1)]
    return spaces[-1] if spaces else MAX_SENTENCE_CHARACTERS


class LineWriter:
    """Renders sentences as lines. It caches pairs of sentences: the summarizer renders the same ones repeatedly."""

    def __init__(self) -> None:
        self._stay_separate = cache(_stay_separate)

    def render(self, spoken: Iterable[SpokenSentence]) -> str:
        """Return one line for each run of sentences of one speaker, with the label at its start."""
        lines: list[str] = []
        last = SpokenSentence("", "")
        for sentence in spoken:
            same_speaker = bool(lines and sentence.label and sentence.label == last.label)
            if same_speaker and self._stay_separate(last.text, sentence.text):
                lines[-1] += f" {sentence.text}"
            else:
                lines.append(f"{sentence.label}: {sentence.text}" if sentence.label else sentence.text)
            last = sentence
        return "\n".join(lines)


def _stay_separate(first: str, second: str) -> bool:
    """Whether two sentences on one line are parsed as two; otherwise each needs a line of its own."""
    return list(line_sentences(f"{first} {second}")) == [first, second]


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


def _targets(statements: Sequence[Statement], related: set[int], position: int) -> Iterator[int]:
    """Yield what the statement at a position corrects, of the earlier ones that share a word with it."""
    correction = statements[position]
    is_strong = is_strong_cue(correction.text)
    targets = [earlier for earlier in related if supersedes(correction, statements[earlier], is_strong)]
    if targets or not is_strong or not PRONOUN.search(correction.text):
        yield from targets
        return
    for earlier in range(position - 1, max(-1, position - 1 - _MAX_DISTANCE), -1):
        if corrects_nearby(correction, statements[earlier]):
            yield earlier
            return
