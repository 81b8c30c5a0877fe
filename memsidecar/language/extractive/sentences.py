"""Sentence splitting; summary <-> lines."""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache

from memsidecar.domain.message import Role
from memsidecar.language.contract import Utterance
from memsidecar.language.extractive.selection import Said

LONGEST_CHARACTERS = 240  # an unpunctuated paragraph is cut into pieces of at most so many

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_MARKS = re.compile(r"\A(?:[-*+>•#]+\s+|\d{1,3}[.)]\s+)+")
_CLOSING = r"[\"'\u201d\u2019)\]*_\u300d\u300f\uff09\u3011]*"
_END = re.compile(rf"(?:[.!?\u2026]+{_CLOSING}(?=\s)|[\u3002\uff01\uff1f\uff61]+{_CLOSING})\s*")
_ABBREVIATED = re.compile(
    r"(?:\b(?:[A-Za-z]|Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|vs|etc|approx|No|Inc|Ltd|Co|dept|est|fig|cf)"
    r"|\b(?:[A-Za-z]\.)+[A-Za-z])\.\s*\Z"
)
_LETTER = re.compile(r"[^\W_]")
_SYMBOL = re.compile(r"[{}\[\]<>;=|\\/$&*_`\"()]")
_SYMBOLS_OF_PROSE = 0.12  # share of the signs; more of them, and the line is code, markup or data
_SPACE = re.compile(r"\s")
_PAUSE = re.compile(r"[,;:\u3001\uff0c\uff1b]\s*|\s+[-\u2013\u2014]+\s+")

_LONGEST_LABEL_CHARACTERS = 40
_LABELLED = re.compile(rf"([^\W_][^:\n]{{0,{_LONGEST_LABEL_CHARACTERS - 1}}}): (?=\S)")
_ROLES = {Role.USER: "User", Role.ASSISTANT: "Assistant", Role.TOOL: "Tool", Role.SYSTEM: "System"}


def sentences_of(text: str) -> Iterator[str]:
    """In order. What stands in a code block, or looks like code or JSON, is left out."""
    for line in _prose(text).splitlines():
        yield from line_sentences(_MARKS.sub("", line.strip()))


def line_sentences(line: str) -> Iterator[str]:
    """The sentences of one line of prose; nothing of a line that is none."""
    for sentence in _split(line):
        for piece in _pieces(sentence):
            if _LETTER.search(piece) and not _is_code(piece):
                yield piece


def _prose(text: str) -> str:
    """The text without its fenced blocks; an open fence reaches to the end."""
    if "```" not in text and "~~~" not in text:
        return text
    kept: list[str] = []
    opened, behind = "", 0
    for fence in _FENCE.finditer(text):
        if not opened:
            kept.append(text[behind : fence.start()])
            opened = fence[1]
        elif fence[1].startswith(opened) and not fence[2].strip():
            opened, behind = "", fence.end()
    return "\n".join(kept if opened else [*kept, text[behind:]])


def _split(line: str) -> Iterator[str]:
    begin = 0
    for end in _END.finditer(line):
        if not _goes_on(line, begin, end):
            yield line[begin : end.end()].strip()
            begin = end.end()
    yield line[begin:].strip()


def _goes_on(line: str, begin: int, end: re.Match[str]) -> bool:
    """Whether the stop is an abbreviation's, or the next word is written small."""
    if not end[0].startswith(".") or end.end() == len(line):
        return False
    return line[end.end()].islower() or bool(_ABBREVIATED.search(line, max(begin, end.start() - 12), end.end()))


def _pieces(sentence: str) -> Iterator[str]:
    """A sentence that is too long, cut at a pause in the second half of the room, else at a word, else anywhere."""
    while len(sentence) > LONGEST_CHARACTERS:
        cut = _cut(sentence[: LONGEST_CHARACTERS + 1])
        if piece := sentence[:cut].rstrip():
            yield piece
        sentence = sentence[cut:].lstrip()
    if sentence:
        yield sentence


def _cut(room: str) -> int:
    half = LONGEST_CHARACTERS // 2
    pauses = [found.end() for found in _PAUSE.finditer(room) if half < found.end() <= LONGEST_CHARACTERS]
    if pauses:
        return pauses[-1]
    spaces = [found.start() for found in _SPACE.finditer(room, half // 2 + 1)]
    return spaces[-1] if spaces else LONGEST_CHARACTERS


def _is_code(piece: str) -> bool:
    """A few brackets are prose; where they are many, nobody said it."""
    symbols = len(_SYMBOL.findall(piece))
    return (symbols > 3 and symbols > _SYMBOLS_OF_PROSE * len(piece)) or (piece[0] in "{<" and piece[-1] in "}>,")


def label_of(utterance: Utterance) -> str:
    """The speaker's name where it can stand at the head of a line, else the role."""
    name = " ".join(utterance.name.replace(":", " ").split())
    if name[:1].isalnum() and len(name) <= _LONGEST_LABEL_CHARACTERS:
        return name
    return _ROLES.get(Role(utterance.role), "User") if utterance.role in list(Role) else "User"


def spoken(utterance: Utterance) -> Iterator[Said]:
    label = label_of(utterance)
    return (Said(label, sentence) for sentence in sentences_of(utterance.text))


def read(summary: str, labels: Collection[str]) -> Iterator[Said]:
    """The sentences of a former summary, or of any text. `labels` are speakers', whatever they look like."""
    for line in summary.splitlines():
        label, text = _parted(line.strip(), labels)
        yield from (Said(label, sentence) for sentence in line_sentences(text))


def _parted(line: str, labels: Collection[str]) -> tuple[str, str]:
    found = _LABELLED.match(line)
    if found and (found[1] in labels or _looks_like_a_name(found[1])):
        return found[1], line[found.end() :]
    return "", line


def _looks_like_a_name(label: str) -> bool:
    """One word, or a few capitalised ones: "He told me: go" is a sentence."""
    words = label.split(" ")
    return len(words) == 1 or (len(words) <= 4 and not any(word[:1].islower() for word in words))


class Lines:
    """Writes sentences as lines. Who looks for what fits writes the same ones again and again: pairs are remembered."""

    def __init__(self) -> None:
        self._stay_apart = cache(_stay_apart)

    def written(self, sentences: Iterable[Said]) -> str:
        lines: list[str] = []
        last = Said("", "")
        for said in sentences:
            if lines and said.label and said.label == last.label and self._stay_apart(last.text, said.text):
                lines[-1] += f" {said.text}"
            else:
                lines.append(f"{said.label}: {said.text}" if said.label else said.text)
            last = said
        return "\n".join(lines)


def _stay_apart(first: str, second: str) -> bool:
    """Whether two sentences on one line are read back as two; else each needs a line of its own."""
    return list(line_sentences(f"{first} {second}")) == [first, second]
