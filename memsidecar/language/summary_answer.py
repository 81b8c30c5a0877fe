"""Whether what a model says is a summary at all, and one that fits."""

import re
from bisect import bisect_right

from memsidecar.language.contract import MalformedAnswer
from memsidecar.language.parts import Count

FEWEST_WORDS = 3

# In scripts without spaces each character stands for a word.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")

_SAYS_NOTHING = frozenset(
    {
        "nothing to add",
        "nothing to report",
        "nothing to summarize",
        "nothing to summarise",
        "there is nothing to add",
        "there is nothing to summarize",
        "there is nothing to summarise",
        "no summary available",
        "no changes to the summary",
        "no new information",
    }
)
_REFUSES = re.compile(
    r"(?:i'm|i am)\s+(?:very\s+|so\s+)?(?:sorry|unable|not able|afraid)\b"
    r"|sorry(?:[,.!]|\s+(?:but|i)\b)"
    r"|(?:unfortunately,?\s+)?i\s+(?:can't|cannot|can not|won't|will not|couldn't|could not)\b"
    r"|my\s+apologies\b|i\s+apologi[sz]e\b"
    r"|as\s+an?\s+(?:ai|artificial|(?:large\s+)?language\s+model)\b"
)
_SENTENCE_END = re.compile(r"[.!?\u2026][\"')\]\u00bb\u201d\u2019]*(?=\s|$)|[\u3002\uff01\uff1f]|(?=\n)|$")


def check_summary(answer: str, source: str) -> None:
    """Raises MalformedAnswer, which shows nothing of the answer, if it is no summary of the source."""
    words = _words(answer)
    if len(words) < FEWEST_WORDS or " ".join(words) in _SAYS_NOTHING:
        raise MalformedAnswer("it says nothing")
    if _REFUSES.match(answer.strip().casefold().replace("\u2019", "'")):
        raise MalformedAnswer("it refuses")
    if set(words).isdisjoint(_words(source)):
        raise MalformedAnswer("it has no word in common with what it should summarise")


def fitted(answer: str, max_tokens: int, count: Count) -> str:
    """The answer, or as many of its sentences as fit. Raises MalformedAnswer if that would be less than half of it."""
    tokens = count(answer)
    if tokens <= max_tokens:
        return answer
    ends = [end.end() for end in _SENTENCE_END.finditer(answer)]
    fitting = bisect_right(ends, max_tokens, key=lambda end: count(answer[:end].rstrip()))
    kept = answer[: ends[fitting - 1]].rstrip() if fitting else ""
    if not kept or count(kept) > max_tokens or count(kept) * 2 < tokens:
        raise MalformedAnswer(f"it has {tokens} tokens instead of at most {max_tokens}")
    return kept


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
