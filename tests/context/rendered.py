"""A parser of rendered memory: sections, their items, and what each speaker said."""

import re
from typing import NamedTuple

OPENING, CLOSING = "<memsidecar>", "</memsidecar>"
_ITEM = re.compile(r"(?:- |\d+\. )(.*)")
_SPEAKER = re.compile(r"([^:]+): (.*)")


class Section(NamedTuple):
    heading: str
    items: list[str]
    "Each with its further lines, without their indentation."


class Spoken(NamedTuple):
    speaker: str
    text: str


def parse(text: str) -> list[Section]:
    """Return the sections of the blocks in a prompt. Whatever is no item of a section is an error."""
    sections: list[Section] = []
    is_open = False
    for line in text.split("\n"):
        if line in (OPENING, CLOSING):
            assert is_open == (line == CLOSING)
            is_open = line == OPENING
        elif not is_open:
            assert not line, line
        elif line.startswith("## "):
            sections.append(Section(line[3:], []))
        elif found := _ITEM.fullmatch(line):
            sections[-1].items.append(found[1])
        elif not line or line.startswith("  "):
            sections[-1].items[-1] += f"\n{line[2:]}"
        else:
            assert line.endswith(":"), line  # the date of the items after it
    assert not is_open
    return sections


def spoken(item: str) -> list[Spoken]:
    """Return who said what in an item of earlier messages."""
    parts: list[Spoken] = []
    for line in item.split("\n"):
        if line.startswith("  ") or not line:
            parts[-1] = parts[-1]._replace(text=f"{parts[-1].text}\n{line[2:]}")
        else:
            found = _SPEAKER.fullmatch(line)
            assert found, line
            parts.append(Spoken(found[1], found[2]))
    return parts
