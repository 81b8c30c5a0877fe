"""Recognition of lines that programs write or read: code, data, logs, stack traces. A summary repeats none of them."""

import re
from collections.abc import Iterator

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

_DATA_START = re.compile(r"[{\[]\s*(?:[\"'][^\"'\n]{1,80}[\"']\s*[:,]|\{|\d+(?:\.\d+)?\s*,|\[)")
_SENTENCE_END = (".", "!", "?", "\u2026", "\u3002", "\uff01", "\uff1f", ":")


def prose_lines(text: str) -> Iterator[str]:
    """Yield the lines of a message that are written for readers, without the data inside them.

    A line that could be either, such as an indented one, belongs to the code before it.
    """
    in_code = False
    for line in strip_code_blocks(text).splitlines():
        stripped = line.strip()
        if not stripped:
            continue
        in_code = (in_code and bool(_INDENTED.match(line) or _CONTINUED.match(stripped))) or is_raw(stripped)
        if not in_code:
            yield from _outside_data(stripped)


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
