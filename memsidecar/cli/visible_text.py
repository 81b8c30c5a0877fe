"""Stored text on a terminal: control characters, escape sequences and bidirectional controls are made visible.

What a message contains may come from an attacker: raw, it could move the cursor, change colours and titles, or show
text in another order than it is stored.
"""

from __future__ import annotations

import re
import unicodedata

KEPT = "\n\t"
JOINERS = "\u200c\u200d"
"Emoji sequences and several scripts need them. They change no order."
_HIDDEN_CATEGORIES = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
_PRINTABLE_ASCII = re.compile(r"[ -~\n\t]*")
_LINE_END = "↵"


def visible(text: str) -> str:
    """Return the text with an escape such as \\x1b or \\u202e for each character that has an effect and no shape.

    Line feeds and tabs stay.
    """
    if _PRINTABLE_ASCII.fullmatch(text):
        return text
    return "".join(_escape(character) if _is_hidden(character) else character for character in text)


def visible_line(text: str) -> str:
    """Return the text as one line."""
    return visible(text.replace("\r\n", "\n")).replace("\n", _LINE_END).replace("\t", " ")


def _is_hidden(character: str) -> bool:
    if character in KEPT or character in JOINERS:
        return False
    return unicodedata.category(character) in _HIDDEN_CATEGORIES


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
