"""The scan of hostile texts at 16 KB, 128 KB and 1 MB.

By default all texts are tried at 2 KB, and for each component the most expensive ones at the large sizes.
HOSTILE_TEXTS=all tries all of them at 16 and 128 KB; it takes half an hour of CPU.
"""

import os

import pytest

from tests.hostile.components import COMPONENTS, SMALL_CHUNKS, warm
from tests.hostile.cost import GROWTH, find_nonlinear, measure, most_expensive, usual_seconds
from tests.hostile.texts import hostile_texts

pytestmark = pytest.mark.long

TEXTS = hostile_texts()
ALL = os.environ.get("HOSTILE_TEXTS") == "all"
SCREENED_BYTES, SMALL_BYTES, LARGE_BYTES = 2 << 10, 16 << 10, 128 << 10
MAX_SECONDS = 1.0
"CPU time of a usual machine for a text of LARGE_BYTES."
EXPENSIVE, MOST_EXPENSIVE = len(TEXTS) if ALL else 2, 1


@pytest.fixture(scope="module", autouse=True)
def warmed() -> None:
    warm()


@pytest.mark.parametrize("name", [name for name in COMPONENTS if name != SMALL_CHUNKS])
def test_large_texts_take_linear_time_and_less_than_a_second(name: str) -> None:
    component = COMPONENTS[name]
    expensive = most_expensive(component, TEXTS, SCREENED_BYTES, EXPENSIVE)
    growths = [measure(component, text, SMALL_BYTES) for text in expensive]
    slow = [growth for growth in growths if growth.many > MAX_SECONDS]
    assert not [
        str(growth) for growth in slow if usual_seconds(component, growth.text.of_size(LARGE_BYTES)) > MAX_SECONDS
    ]
    steep = [growth.text for growth in growths if not growth.is_linear]
    assert not [str(growth) for growth in find_nonlinear(component, steep, SMALL_BYTES)]
    growths.sort(key=lambda growth: growth.many, reverse=True)
    largest = [measure(component, growth.text, LARGE_BYTES) for growth in growths[:MOST_EXPENSIVE]]
    steep = [growth.text for growth in largest if not growth.is_linear]
    assert not [str(growth) for growth in find_nonlinear(component, steep, LARGE_BYTES // GROWTH)]
    print(f"{name}: {growths[0]}; {largest[0].many * 1e3:.1f} ms at 1 MB, {largest[0].ratio:.2f}")
