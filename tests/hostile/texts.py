"""Hostile texts: one unit repeated, or numbered words, with a prefix and a suffix."""

from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

_MARKS = ".!?\u2026\"'`#-*_=|~/\\()[]{}<>&%$@,;:\u201c\u201d\u2018\u300c\u300d\uff1f\u3002\u060c"
_PUNCTUATION = (
    *_MARKS,
    *(
        "..",
        "?!",
        '."',
        "!!!",
        "''",
        "```",
        "##",
        "--",
        "__",
        "|-",
        "()",
        "[[",
        "]]",
        "[](",
        "</",
        "<!--",
        '"",',
        '{"a":',
    ),
    *("<a>", "&amp;"),
)
_SPACES = (
    *(" ", "    ", "\t", "\n", "\n\n", " \n", "\r\n", "\xa0", "\u200b", ". ", "! ", ".\n", "?\n", "``` ", "# ", "\n#"),
    *("- ", "\n- ", "* ", "| ", ", ", ": ", "> ", "$ ", '"a" ', "(a) "),
)
_CHARACTERS = (
    *(
        "a",
        "A",
        "1",
        "a.",
        "a.b",
        "A.",
        "1.",
        "1,",
        "a@",
        "a!",
        "v1.",
        "0x",
        "a_b",
        "aB",
        "A-",
        "\x00",
        "\x1b[0m",
        "\uffff",
    ),
    *("\u0301", "e\u0301", "\u0300\u0301", "\u4e2d", "\u3042", "\u0e01\u0e34", "\u1100", "\uac00", "\u0640", "\ud7ff"),
    *("\u0915\u094d", "\u05d0\u05b0", "\xdf", "\u0130", "\ufb01", "\u1e9e", "\U0001f468\u200d", "\U0001f1e9"),
    *("\ufe0f", "\u202e", "\ufdfa", "\u1e9b\u0323", "\u0315\u0300", "\uff9e\u0300"),
)
_WORDS = (
    *("I ", "I am ", "my ", "my name is ", "I live in ", "and ", " and", "not ", "no ", "to ", "from ", "is ", "now "),
    *("remember that ", "call me ", "I use ", "ich ", "und ", "if ", "moved ", "set a to ", "actually ", "'s ", "n't "),
    *("May ", "May 1, ", "2026-", "last week ", "3 days ago ", "2026-01-01 ", "00:00 ", "TODO ", "a: ", "a=b "),
    *("We moved it to 5. ", "Is it? Yes. ", "http://", "https://a.b/", "www."),
)
_STRUCTURE = (
    *("import a\n", "from a import b\n", "import ", "def f():\n", "at a.b(c.java:1)\n", '  File "a", line 1\n'),
    *("Traceback\n", "ERROR ", "<memsidecar>", "</memsidecar>", "Bob: ", "\nUser: ", "git ", "SELECT ", "key: value\n"),
    *("|a|b|\n", "====\n", "a\n---\n", "    a\n\n", "```\na\n```\n", "1. a\n"),
)
UNITS: tuple[str, ...] = tuple(dict.fromkeys((*_PUNCTUATION, *_SPACES, *_CHARACTERS, *_WORDS, *_STRUCTURE)))

NUMBERED: tuple[str, ...] = (
    *("w{} ", "{} ", "{}\n", "Name{}, ", "key{}=1 ", "#{} ", "I like w{}. ", "W{} is now 5. ", "What is w{}? "),
    *("Name{}: x\n", "w{}@a.b ", '"k{}": 1, ', "We moved w{} to May. ", "\u4e2d{}"),
)
"Every word differs: nothing is cached, and every table grows."

AROUND = (("", ""), ("I am ", " a"), ("", "x."))
"Prefixes and suffixes: a match may begin before the repetition, or fail only at its end."


class HostileText(NamedTuple):
    prefix: str
    unit: str
    suffix: str

    def of_size(self, size_bytes: int) -> str:
        """Return the text of about so many bytes of UTF-8, the unit of all limits."""
        return f"{self.prefix}{_repeated(self.unit, size_bytes - len(self.prefix) - len(self.suffix))}{self.suffix}"

    def __str__(self) -> str:
        return " + ".join(map(ascii, filter(None, self)))


def _repeated(unit: str, size_bytes: int) -> str:
    if "{}" not in unit:
        return unit * (size_bytes // len(unit.encode()))
    before, after = unit.split("{}")
    parts: list[str] = []
    left = size_bytes
    for number in count():
        parts.append(f"{before}{number}{after}")
        left -= len(parts[-1].encode())
        if left <= 0:
            break
    return "".join(parts)


def hostile_texts() -> Sequence[HostileText]:
    units = (*UNITS, *NUMBERED)
    return [HostileText(prefix, unit, suffix) for prefix, suffix in AROUND for unit in units]
