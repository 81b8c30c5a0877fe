"""Sentences as they stand in a text: each is a slice of it, on one line, of bounded length, and no code."""

import re
from collections.abc import Iterator

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
