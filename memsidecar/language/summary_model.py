"""Summaries by a language model: prompt, and checks of the answer."""

import re
from collections.abc import Sequence

from memsidecar.domain.text import truncate_to_sentences
from memsidecar.language.batches import (
    BATCH_TOKENS,
    DATA_NOT_INSTRUCTIONS,
    CountTokens,
    PromptMessage,
    batches,
    bisect,
    json_line,
    render,
)
from memsidecar.language.contract import LanguageModel, MalformedAnswer, TextRejected, Utterance

MIN_WORDS = 3

# In scripts without spaces each character counts as a word.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")

_EMPTY_ANSWERS = frozenset(
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
_REFUSAL = re.compile(
    r"(?:i'm|i am)\s+(?:very\s+|so\s+)?(?:sorry|unable|not able|afraid)\b"
    r"|sorry(?:[,.!]|\s+(?:but|i)\b)"
    r"|(?:unfortunately,?\s+)?i\s+(?:can't|cannot|can not|won't|will not|couldn't|could not)\b"
    r"|my\s+apologies\b|i\s+apologi[sz]e\b"
    r"|as\s+an?\s+(?:ai|artificial|(?:large\s+)?language\s+model)\b"
)

ATTEMPTS = 2

# The prompt names a limit in words, which models keep better than one in tokens. English has about 0.75 words a token.
WORDS_PER_TOKEN = 0.6

# The request allows more tokens than wanted: an answer that is too long then exceeds `max_tokens` visibly, instead of
# ending there in the middle of a sentence.
ALLOWANCE_FACTOR = 2

INSTRUCTIONS = f"""\
You keep the running summary of a conversation between a user and an assistant, for a reader who sees nothing else.

{DATA_NOT_INSTRUCTIONS}

Answer with the new summary and nothing else: no heading, no remark, no JSON. It takes the place of the summary so \
far, so keep what still holds of that one, and work in what the messages bring: names, figures, dates, decisions, \
what the user wants, what is still open. Leave out greetings. Say nothing that is not there. Write plain sentences, \
in the language of the conversation, at most """


class ModelSummarizer:
    """Summarizer that folds the utterances into the summary batch by batch; no text is left out for its length."""

    def __init__(self, model: LanguageModel, count: CountTokens, batch_tokens: int = BATCH_TOKENS) -> None:
        self._model = model
        self._count = count
        self._batch_tokens = batch_tokens

    @property
    def origin(self) -> str:
        return self._model.name

    def summarize(self, before: str, utterances: Sequence[Utterance], max_tokens: int) -> str:
        summary = before.strip()
        for batch in batches(utterances, self._count, self._batch_tokens):
            summary = self._fold(summary, batch, max_tokens)
        # Without a batch the old summary may still exceed the limit.
        return summary if self._count(summary) <= max_tokens else self._fold(summary, [], max_tokens)

    def _fold(self, before: str, batch: Sequence[PromptMessage], max_tokens: int) -> str:
        """Fold a batch into the summary. If its text is rejected, it may be too long for this model: bisect it."""
        try:
            return self._request(before, batch, max_tokens)
        except TextRejected:
            halves = bisect(batch)
            if halves is None:
                raise
        return self._fold(self._fold(before, halves[0], max_tokens), halves[1], max_tokens)

    def _request(self, before: str, batch: Sequence[PromptMessage], max_tokens: int) -> str:
        source = "\n".join([before, *(message.text for message in batch)])
        problem = ""
        for _ in range(ATTEMPTS):
            answer = self._complete(before, batch, max_tokens, problem).strip()
            try:
                check_summary(answer, source)
                return truncate_summary(answer, max_tokens, self._count)
            except MalformedAnswer as error:
                problem = str(error)
        raise MalformedAnswer(f"{self.origin} gave no usable summary {ATTEMPTS} times; at last: {problem}")

    def _complete(self, before: str, batch: Sequence[PromptMessage], max_tokens: int, problem: str) -> str:
        instructions = f"{INSTRUCTIONS}{max(1, int(max_tokens * WORDS_PER_TOKEN))} words."
        if problem:
            instructions += f"\n\nYour last answer could not be used: {problem}. Answer again, and mind this."
        text = "\n".join([json_line({"summary_so_far": before}), render(batch)])
        return self._model.complete(instructions, text, max_tokens=max_tokens * ALLOWANCE_FACTOR)


def check_summary(answer: str, source: str) -> None:
    """Raise MalformedAnswer, whose message quotes nothing of the answer, if it is no summary of the source."""
    words = _words(answer)
    if len(words) < MIN_WORDS or " ".join(words) in _EMPTY_ANSWERS:
        raise MalformedAnswer("it says nothing")
    if _REFUSAL.match(answer.strip().casefold().replace("\u2019", "'")):
        raise MalformedAnswer("it refuses")
    if set(words).isdisjoint(_words(source)):
        raise MalformedAnswer("it has no word in common with what it should summarise")


def truncate_summary(answer: str, max_tokens: int, count: CountTokens) -> str:
    """Return the leading sentences that fit. Raises MalformedAnswer if they are less than half of the answer."""
    tokens = count(answer)
    if tokens <= max_tokens:
        return answer
    fitting = truncate_to_sentences(answer, max_tokens, count)
    if not fitting or count(fitting) * 2 < tokens:
        raise MalformedAnswer(f"it has {tokens} tokens instead of at most {max_tokens}")
    return fitting


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
