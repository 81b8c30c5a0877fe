"""The marks around what the sidecar itself composed, so that it is known again when it comes back."""

import re
from collections.abc import Sequence

OPENING, CLOSING = "<memsidecar>", "</memsidecar>"
_SERVED = re.compile(f"{re.escape(OPENING)}.*?(?:{re.escape(CLOSING)}|\\Z)", re.DOTALL)


def disarmed(text: str) -> str:
    """The text without our marks: what was said must not be able to end or begin what we compose."""
    return text.replace(OPENING, "[memsidecar]").replace(CLOSING, "[/memsidecar]")


def without_served(text: str) -> str:
    """What of a text did not come from us. An end that is missing, because somebody cut the text, is its end."""
    return _SERVED.sub("", text) if OPENING in text else text


def is_served_prompt(text: str, prompts: Sequence[str]) -> bool:
    """Whether a system message is what these prompts were served as: taken as another one, it would double each time.

    A prompt that only speaks of our marks is nobody's but the caller's.
    """
    before = "\n\n".join(prompts)
    memory_alone = text.startswith(f"{OPENING}\n") and text.rstrip().endswith(CLOSING)
    return text in (*prompts, before) or memory_alone or (bool(before) and text.startswith(f"{before}\n\n{OPENING}\n"))
