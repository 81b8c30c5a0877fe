"""Measure fact extraction by type on the labelled utterances: `python -m benchmarks.facts [show|speed]`.

A finding is right if it has the type of an expected fact, the same validity (holds or ends), and shares most words with
its value. A fact that is found twice counts as right once. `show` also prints wrong and missing facts. `speed` measures
only the cost of the rules, compared with tokenizing and stemming the same messages.
"""

import json
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from memsidecar.domain.fact import FactType
from memsidecar.domain.message import Role
from memsidecar.language.contract import FactExtractor, Finding, Utterance
from memsidecar.language.rules.extractor import RuleExtractor
from memsidecar.layers.text_analysis import stem, tokenize

UTTERANCES = Path(__file__).resolve().parents[1] / "tests" / "language" / "utterances.json"
PROSE = UTTERANCES.parents[2] / "CONTRIBUTING.md"
SHARED_WORDS = 0.5
PARTS = ("written", "held_out", "everyday", "check")
ROUNDS = 15
QUESTIONS, QUESTION_WORDS, CODE_CHARS = 200, (20, 80), 5_000
_QUESTION_BEGINS = (
    "How do I",
    "Why does",
    "I'm trying to",
    "When I run this,",
    "We have a",
    "I need to",
    "My",
    "Should I",
)
_SMALL_WORDS = frozenset(
    ["a", "an", "the", "my", "our", "of", "to", "in", "on", "at", "for", "with", "is", "and", "by"]
)


class Expected(NamedTuple):
    type: FactType
    key: str
    value: str
    holds: bool


class Case(NamedTuple):
    """A short conversation and its facts about the user. `part` says whether the rules were written with it."""

    part: str
    kind: str
    turns: tuple[tuple[Role, str], ...]
    facts: tuple[Expected, ...]


@dataclass
class Score:
    right: int = 0
    wrong: int = 0
    missing: int = 0

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missing) if self.right + self.missing else 1.0

    def add(self, other: "Score") -> None:
        self.right, self.wrong, self.missing = (
            self.right + other.right,
            self.wrong + other.wrong,
            self.missing + other.missing,
        )


@dataclass
class Judgement:
    """Found facts of one case, compared with the expected ones."""

    case: Case
    right: list[Finding] = field(default_factory=list)
    wrong: list[Finding] = field(default_factory=list)
    missing: list[Expected] = field(default_factory=list)

    def score(self, kind: FactType) -> Score:
        return Score(*(sum(one.type == kind for one in some) for some in (self.right, self.wrong, self.missing)))


def read_cases(path: Path = UTTERANCES) -> list[Case]:
    return [_case(entry) for entry in json.loads(path.read_text(encoding="utf-8"))]


def _case(entry: dict[str, list[dict[str, str]]]) -> Case:
    turns = tuple((Role[turn["role"].upper()], turn["text"]) for turn in entry["turns"])
    facts = tuple(
        Expected(FactType[fact["type"]], fact["key"], fact["value"], bool(fact.get("holds", True)))
        for fact in entry["facts"]
    )
    return Case(str(entry["part"]), str(entry["kind"]), turns, facts)


def judge(extractor: FactExtractor, case: Case) -> Judgement:
    utterances = [Utterance(f"m{at}", role, "", text, at) for at, (role, text) in enumerate(case.turns)]
    judgement = Judgement(case, missing=list(case.facts))
    for finding in (each for each in extractor.extract(utterances) if not each.updates):
        fact = next((fact for fact in judgement.missing if _agree(finding, fact)), None)
        if fact is None:
            judgement.wrong.append(finding)
        else:
            judgement.missing.remove(fact)
            judgement.right.append(finding)
    return judgement


def _agree(finding: Finding, fact: Expected) -> bool:
    if finding.type != fact.type or finding.holds != fact.holds:
        return False
    ours, theirs = _words(finding.value), _words(fact.value)
    shared = len(ours & theirs)
    return ours == theirs or (shared > 0 and shared / min(len(ours), len(theirs)) > SHARED_WORDS)


def _words(value: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", value.lower())) - _SMALL_WORDS


def scores(judgements: list[Judgement]) -> dict[str, Score]:
    """Return the score of each type, and of "all"."""
    found = {kind.name: Score() for kind in FactType} | {"all": Score()}
    for judgement in judgements:
        for kind in FactType:
            found[kind.name].add(judgement.score(kind))
            found["all"].add(judgement.score(kind))
    return found


def table(judgements: list[Judgement]) -> Iterator[str]:
    yield f"{'':14}{'right':>7}{'wrong':>7}{'missing':>9}{'precision':>11}{'recall':>8}"
    for name, score in scores(judgements).items():
        yield (f"{name:14}{score.right:7}{score.wrong:7}{score.missing:9}{score.precision:11.2f}{score.recall:8.2f}")


def speed(cases: list[Case]) -> Iterator[str]:
    yield f"{'us/message':14}{'rules':>9}{'words':>9}{'ratio':>8}"
    for name, messages in _messages(cases).items():
        rules, words = _microseconds(messages, RuleExtractor().extract, _stems)
        yield f"{name:14}{rules:9.1f}{words:9.1f}{rules / words:8.1f}"


def _messages(cases: list[Case]) -> dict[str, list[Utterance]]:
    told = {text: bool(case.facts) for case in cases for role, text in case.turns if role == Role.USER}
    code = Path(__file__).read_text(encoding="utf-8")[:CODE_CHARS]
    texts = {
        "no fact": [text for text, is_telling in told.items() if not is_telling],
        "facts": [text for text, is_telling in told.items() if is_telling],
        "questions": _questions(_words(PROSE.read_text(encoding="utf-8"))),
        "pasted code": [code, f"Why is this slow?\n```\n{code}\n```"],
    }
    return {name: [Utterance("m", Role.USER, "", text, 0) for text in some] for name, some in texts.items()}


def _questions(words: set[str]) -> list[str]:
    """Return random texts with the length and the number of sentences of developers' questions."""
    chance, some = random.Random(0), sorted(words)
    return [" ".join(_sentences(chance, some, chance.randint(*QUESTION_WORDS))) for _ in range(QUESTIONS)]


def _sentences(chance: random.Random, words: list[str], count: int) -> Iterator[str]:
    while count > 0:
        length = chance.randint(6, 18)
        yield f"{chance.choice(_QUESTION_BEGINS)} {' '.join(chance.choices(words, k=length))}{chance.choice('.?')}"
        count -= length


def _stems(said: list[Utterance]) -> list[str]:
    return [stem(word) for one in said for word in tokenize(one.text)]


def _microseconds(messages: list[Utterance], *works: Callable[[list[Utterance]], object]) -> list[float]:
    """Return the seconds per message of each function: the best of alternating rounds, because load only adds time."""
    best = [float("inf")] * len(works)
    for _ in range(ROUNDS):
        for at, work in enumerate(works):
            begin = time.process_time()
            for message in messages:
                work([message])
            best[at] = min(best[at], time.process_time() - begin)
    return [seconds / len(messages) * 1e6 for seconds in best]


def main() -> int:
    cases = read_cases()
    if "speed" in sys.argv[1:]:
        print("\n".join(speed(cases)))
        return 0
    for part in PARTS:
        judgements = [judge(RuleExtractor(), case) for case in cases if case.part == part]
        print(f"\n{part}: {len(judgements)} cases")
        print("\n".join(table(judgements)))
        if "show" in sys.argv[1:]:
            print("\n".join(_mistakes(judgements)))
    return 0


def _mistakes(judgements: list[Judgement]) -> Iterator[str]:
    for one in judgements:
        said = " // ".join(text for _, text in one.case.turns)[:160]
        yield from (
            f"wrong   {f.type.name}.{f.key}={f.value} {'' if f.holds else '(ends)'} <- {said}" for f in one.wrong
        )
        yield from (
            f"missing {f.type.name}.{f.key}={f.value} {'' if f.holds else '(ends)'} <- {said}" for f in one.missing
        )


if __name__ == "__main__":
    sys.exit(main())
