"""Measure how many words of later answers a summary keeps: `python -m benchmarks.summaries --data FILE`.

FILE contains conversations of LoCoMo (licensed CC BY-NC 4.0, so it is not part of this repository). Each is one session
and is summarised like in the sidecar: every 12 messages, the current summary and the messages before the newest 6
become the new summary. A figure is the share of the distinct content words of all answers that occur in the text.
"excerpt" is the rolling summary, shortened to a quarter of its tokens as for a small context.
"""

import argparse
import json
import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.retrieval.histories import locomo
from memsidecar.language.contract import Utterance
from memsidecar.language.extractive.excerpt import shorten
from memsidecar.language.extractive.summarizer import ExtractiveSummarizer
from memsidecar.layers.text_analysis import content_terms_or_all, tokenize
from memsidecar.tokens.registry import CounterRegistry

EVERY_MESSAGES, NEWEST_MESSAGES, BUDGET_TOKENS = 12, 6, 400
_UNANSWERABLE = 5
_EXCERPT_FRACTION = 4
COUNTER = CounterRegistry("o200k_base").default


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, metavar="FILE", help="LoCoMo's conversations as JSON")
    parser.add_argument("--budget", type=int, default=BUDGET_TOKENS, help="tokens of the summary")
    options = parser.parse_args()
    COUNTER.warm()
    for sample, utterances in zip(json.loads(options.data.read_text()), conversations(options.data), strict=True):
        wanted = answer_words(sample)
        print(f"{sample['sample_id']}: {len(utterances)} messages, {len(wanted)} words in the answers")
        for name, make in WAYS.items():
            started = time.perf_counter()
            text = make(utterances, options.budget)
            milliseconds = (time.perf_counter() - started) * 1000
            print(f"  {name:<8} {share(text, wanted):.3f}  {COUNTER.count(text)} tokens  {milliseconds:.0f} ms")


def conversations(path: Path) -> Iterator[list[Utterance]]:
    for history in locomo(path):
        yield [
            Utterance(name, pending.role, pending.name, pending.text, pending.time_us)
            for name, pending in zip(history.ids, history.rows, strict=True)
        ]


def at_once(utterances: Sequence[Utterance], budget_tokens: int) -> str:
    return ExtractiveSummarizer(COUNTER.count).summarize("", utterances, budget_tokens)


def rolled(utterances: Sequence[Utterance], budget_tokens: int) -> str:
    summarizer, summary, covered = ExtractiveSummarizer(COUNTER.count), "", 0
    for said in range(EVERY_MESSAGES, len(utterances) + 1, EVERY_MESSAGES):
        news = utterances[covered : said - NEWEST_MESSAGES]
        summary, covered = summarizer.summarize(summary, news, budget_tokens), said - NEWEST_MESSAGES
    return summary


def excerpt(utterances: Sequence[Utterance], budget_tokens: int) -> str:
    return shorten(rolled(utterances, budget_tokens), budget_tokens // _EXCERPT_FRACTION, COUNTER.count)


def first(utterances: Sequence[Utterance], budget_tokens: int) -> str:
    words = _words(utterances)
    fits = bisect_right(range(len(words)), budget_tokens, key=lambda end: COUNTER.count(" ".join(words[:end])))
    return " ".join(words[: fits - 1])


def last(utterances: Sequence[Utterance], budget_tokens: int) -> str:
    words = _words(utterances)
    fits = bisect_right(range(len(words)), budget_tokens, key=lambda end: COUNTER.count(" ".join(words[-end:])))
    return " ".join(words[1 - fits :])


def _words(utterances: Sequence[Utterance]) -> list[str]:
    """Return the words; callers use only the beginning and the end, because a word has at least one token."""
    return " ".join(f"{one.name}: {one.text}" for one in utterances).split(" ")


def answer_words(sample: Mapping[str, Any]) -> set[str]:
    answers = [str(one.get("answer", "")) for one in sample["qa"] if one["category"] != _UNANSWERABLE]
    return set(content_terms_or_all([word for answer in answers for word in tokenize(answer)]))


def share(text: str, wanted: set[str]) -> float:
    return len(wanted & set(tokenize(text))) / len(wanted)


WAYS = {"first": first, "last": last, "rolling": rolled, "excerpt": excerpt, "at once": at_once}

if __name__ == "__main__":
    main()
