"""What stands together in a text: code blocks, and headings with what follows them. Found in one walk each."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)", re.MULTILINE)
_INDENTED = re.compile(r"(?:\A|(?<=\n\n)|(?<=\n\r\n))(?:(?: {4}|\t)[^\n]*\n?(?:[ \t\r]*\n)*)+")
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t][^\n]{0,300}$", re.MULTILINE)
_UNDERLINED = re.compile(r"^ {0,3}[^\s][^\n]{0,300}\n {0,3}(?:={2,}|-{2,})[ \t\r]*$", re.MULTILINE)


class Span(NamedTuple):
    """From the first character to behind the last one that is not white."""

    begin: int
    end: int


def code_blocks(text: str) -> list[Span]:
    """Fenced blocks, and indented ones outside of them, in order."""
    fenced = list(_fenced(text))
    return sorted([*fenced, *_outside(fenced, _indented(text))])


def headings(text: str) -> Iterator[Span]:
    for pattern in (_HEADING, _UNDERLINED):
        for found in pattern.finditer(text):
            yield _inked(text, found.start(), found.end())


def _fenced(text: str) -> Iterator[Span]:
    """A fence ends at one that is at least as long and says nothing more, or with the text."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]) and not fence[2].strip():
            yield Span(opened.start(), fence.end(1))
            opened = None
    if opened is not None:
        yield _inked(text, opened.start(), len(text))


def _indented(text: str) -> Iterator[Span]:
    for found in _INDENTED.finditer(text):
        span = _inked(text, found.start(), found.end())
        if span.begin < span.end:
            yield span


def _outside(fenced: list[Span], others: Iterator[Span]) -> Iterator[Span]:
    """Both come in order, so one walk along the two is enough."""
    at = 0
    for span in others:
        while at < len(fenced) and fenced[at].end <= span.begin:
            at += 1
        if at == len(fenced) or span.end <= fenced[at].begin:
            yield span


def _inked(text: str, begin: int, end: int) -> Span:
    return Span(begin, begin + len(text[begin:end].rstrip()))
