"""Secrets and contents that must not be in a log. The log of each sidecar of the suite is searched at its end."""

import re
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

CANARY = "canary7f3a"
"A word for contents. A text with it must not be logged."

_MAX_PER_ADDRESS = 500
"Enough to find a log with contents, and few enough for a quick search."

# Characters that no log formatter escapes, and enough of them to exclude an accidental match.
_EXCERPT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ -]{14,46}[A-Za-z0-9_-]")

_secrets: set[str] = {CANARY}
_contents: defaultdict[str, set[str]] = defaultdict(set)


def secret(text: str) -> str:
    """Register a token or a key that must not be logged, and return it."""
    _secrets.add(text)
    return text


def record_content(address: str, content: str) -> None:
    """Register a content that was sent to the sidecar at this address."""
    if len(_contents[address]) < _MAX_PER_ADDRESS and (excerpt := _EXCERPT.search(content)):
        _contents[address].add(excerpt[0])


def record_key_files(flags: tuple[str, ...]) -> None:
    """Register the keys in the files of flags such as --tls-key-file."""
    for flag, value in pairwise(flags):
        if flag.startswith("--") and flag.endswith("-key-file") and Path(value).is_file():
            _secrets.update(line for line in Path(value).read_text().split() if len(line) >= 16)


def check_log(log: str, address: str) -> None:
    """Fail with the lines that contain a secret or a content."""
    forbidden = _secrets | _contents[address]
    if any(text in log for text in forbidden):
        lines = [line for line in log.splitlines() if any(text in line for text in forbidden)]
        raise AssertionError("the log holds secrets or content:\n" + "\n".join(line[:600] for line in lines[:10]))
