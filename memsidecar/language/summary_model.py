"""Summaries by a model."""

import re
from bisect import bisect_right
from collections.abc import Sequence

from memsidecar.language.batches import DATA_NOT_INSTRUCTIONS, PART_TOKENS, Count, Piece, as_line, halves, parts, shown
from memsidecar.language.contract import LanguageModel, MalformedAnswer, TextRejected, Utterance

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

ATTEMPTS = 2

# A model counts words better than tokens. In English there are four tokens to three words; the rest is caution.
WORDS_PER_TOKEN = 0.6

# More than is asked for, so that a model which says too much is seen to end beyond the bound and not at it, where
# nobody could tell half a sentence from a whole one.
ALLOWED_SHARE = 2

INSTRUCTIONS = f"""\
You keep the running summary of a conversation between a user and an assistant, for somebody who will read nothing else.

{DATA_NOT_INSTRUCTIONS}

Answer with the new summary and nothing else: no heading, no remark, no JSON. It takes the place of the summary so \
far, so keep what still holds of that one, and work in what the messages bring: names, figures, dates, decisions, \
what the user wants, what is still open. Leave out greetings. Say nothing that is not there. Write plain sentences, \
in the language of the conversation, at most """


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


class ModelSummarizer:
    """A Summarizer. What is too long to be read at once is folded in part by part; nothing is left out unread."""

    def __init__(self, model: LanguageModel, count: Count, part_tokens: int = PART_TOKENS) -> None:
        self._model = model
        self._count = count
        self._part_tokens = part_tokens

    @property
    def origin(self) -> str:
        return self._model.name

    def summarize(self, before: str, utterances: Sequence[Utterance], max_tokens: int) -> str:
        summary = before.strip()
        for part in parts(utterances, self._count, self._part_tokens):
            summary = self._folded(summary, part, max_tokens)
        # Where nothing was said, an old summary may still be longer than is wanted now.
        return summary if self._count(summary) <= max_tokens else self._folded(summary, [], max_tokens)

    def _folded(self, before: str, pieces: Sequence[Piece], max_tokens: int) -> str:
        """A part that is refused may be too long for this model: then one half after the other."""
        try:
            return self._asked(before, pieces, max_tokens)
        except TextRejected:
            shorter = halves(pieces)
            if shorter is None:
                raise
        return self._folded(self._folded(before, shorter[0], max_tokens), shorter[1], max_tokens)

    def _asked(self, before: str, pieces: Sequence[Piece], max_tokens: int) -> str:
        source = "\n".join([before, *(piece.text for piece in pieces)])
        problem = ""
        for _ in range(ATTEMPTS):
            answer = self._answer(before, pieces, max_tokens, problem).strip()
            try:
                check_summary(answer, source)
                return fitted(answer, max_tokens, self._count)
            except MalformedAnswer as malformed:
                problem = str(malformed)
        raise MalformedAnswer(f"{self.origin} gave no usable summary {ATTEMPTS} times; at last: {problem}")

    def _answer(self, before: str, pieces: Sequence[Piece], max_tokens: int, problem: str) -> str:
        told = f"{INSTRUCTIONS}{max(1, int(max_tokens * WORDS_PER_TOKEN))} words."
        if problem:
            told += f"\n\nYour last answer could not be used: {problem}. Answer again, and mind this."
        text = "\n".join([as_line({"summary_so_far": before}), shown(pieces)])
        return self._model.complete(told, text, max_tokens=max_tokens * ALLOWED_SHARE)
