"""Every component takes linear time for every text: CPU time is compared for texts of growing size."""

import re

import pytest

from tests.hostile.components import COMPONENTS, warm
from tests.hostile.cost import find_nonlinear
from tests.hostile.texts import UNITS, HostileText, hostile_texts

SIZE = 512
"Bytes, and eight times as many: enough to see quadratic work of 10 ns a step."
TEXTS = [text for text in hostile_texts() if text.suffix and not text.prefix]
"Every unit once. The test of large texts has the others."


@pytest.fixture(scope="module", autouse=True)
def warmed() -> None:
    warm()


@pytest.mark.parametrize("name", COMPONENTS)
def test_time_is_linear(name: str) -> None:
    nonlinear = find_nonlinear(COMPONENTS[name], TEXTS, SIZE)
    assert not nonlinear, [str(growth) for growth in nonlinear]


def test_a_quadratic_pattern_is_found() -> None:
    pattern = re.compile(r"[!?]+(?=\s)")
    texts = [text for text in TEXTS if text.unit in ("!", "a")]
    nonlinear = find_nonlinear(pattern.findall, texts, SIZE // 4, multiples=(2, 4))
    assert [growth.text.unit for growth in nonlinear] == ["!"]


def test_there_are_hundreds_of_texts_of_the_wanted_size() -> None:
    texts = hostile_texts()
    assert len(set(texts)) >= 400
    assert {text.unit for text in TEXTS} >= set(UNITS)
    sizes = [len(text.of_size(1_000).encode()) for text in texts]
    assert 970 <= min(sizes) <= max(sizes) <= 1_030
    assert HostileText("<", "ab", ">").of_size(9) == "<ababab>"
