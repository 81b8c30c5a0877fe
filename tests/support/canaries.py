"""Secrets and contents that no log may hold. The log of each sidecar that the suite starts is searched at its end."""

import re
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

CANARY = "canary7f3a"
"A word for contents. A text that holds it must not be logged."

_MOST_PER_ADDRESS = 500
"Enough to find a log that shows contents, and few enough to search for."

# A stretch that no formatter of the log escapes, and too long to be in a log by chance.
_TELLING = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ -]{14,46}[A-Za-z0-9_-]")

_secrets: set[str] = {CANARY}
_said: defaultdict[str, set[str]] = defaultdict(set)


def secret(text: str) -> str:
    """Return the text, a token or a key, which from now on no log may hold."""
    _secrets.add(text)
    return text


def note_content(address: str, content: str) -> None:
    """Note a content that was sent to the sidecar at this address."""
    if len(_said[address]) < _MOST_PER_ADDRESS and (telling := _TELLING.search(content)):
        _said[address].add(telling[0])


def secrets_given(flags: tuple[str, ...]) -> None:
    """Note the keys in the files that flags such as --tls-key-file name."""
    for flag, value in pairwise(flags):
        if flag.startswith("--") and flag.endswith("-key-file") and Path(value).is_file():
            _secrets.update(line for line in Path(value).read_text().split() if len(line) >= 16)


def check_log(log: str, address: str) -> None:
    """Fail with the lines that hold a secret or a content."""
    forbidden = _secrets | _said[address]
    if any(text in log for text in forbidden):
        told = [line for line in log.splitlines() if any(text in line for text in forbidden)]
        raise AssertionError("the log holds secrets or content:\n" + "\n".join(line[:600] for line in told[:10]))
