"""On labelled utterances the rules are seldom wrong and find most; the table is printed (`pytest -s`)."""

from collections import Counter

import pytest

from benchmarks.facts import PARTS, Judgement, judge, read_cases, scores, table
from memsidecar.language.rules.extractor import RuleExtractor

PRECISION, RECALL = 0.92, 0.75
CASES = read_cases()


@pytest.fixture(scope="module", params=PARTS)
def judgements(request: pytest.FixtureRequest) -> list[Judgement]:
    return [judge(RuleExtractor(), case) for case in CASES if case.part == request.param]


def test_what_is_found_is_right_and_most_is_found(judgements: list[Judgement]) -> None:
    print(f"\n{judgements[0].case.part}", *table(judgements), sep="\n")
    overall = scores(judgements)["all"]
    assert overall.precision >= PRECISION
    assert overall.recall >= RECALL


def test_no_type_is_left_out_or_mostly_wrong(judgements: list[Judgement]) -> None:
    by_type = scores(judgements)
    assert all(score.right > 0 for score in by_type.values())
    assert all(score.precision >= 0.8 for score in by_type.values())


def test_the_set_is_large_and_often_tells_nothing() -> None:
    silent = sum(not case.facts for case in CASES)
    assert len(CASES) >= 600
    assert silent >= 0.4 * len(CASES)


def test_no_utterance_stands_in_the_set_twice() -> None:
    assert not [turns for turns, count in Counter(case.turns for case in CASES).items() if count > 1]
