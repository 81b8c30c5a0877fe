"""Choice of the counter by name or model, and custom counters."""

from pathlib import Path

import pytest

from memsidecar.tokens.contract import Counter, count_message
from memsidecar.tokens.estimate import InvalidCounter, load_custom
from memsidecar.tokens.registry import CounterRegistry
from memsidecar.tokens.tiktoken_counter import TiktokenCounter

OWN = """
def words(text): return len(text.split()) + 1
def guess(text): return len(text)
guess.exact = False
def negative(text): return -1
def fraction(text): return len(text) / 4
number = 5
"""


@pytest.fixture(autouse=True)
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_counters.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "shown", "exact"),
    [
        ("o200k_base", "o200k_base", True),
        ("cl100k_base", "cl100k_base", True),
        ("chars4", "chars/4", False),
        ("chars/4", "chars/4", False),
        ("own_counters:words", "own_counters:words", True),
        ("own_counters:guess", "own_counters:guess", False),
    ],
)
def test_a_name_selects_its_counter(name: str, shown: str, exact: bool) -> None:
    counter: Counter = CounterRegistry(name).default
    assert (counter.name, counter.exact, counter.count("")) == (shown, exact, 0)


def test_each_counter_exists_once_and_is_loaded_lazily() -> None:
    counters = CounterRegistry("o200k_base")
    counter = counters.for_model("gpt-4o")
    assert counter is counters.default is counters.named("o200k_base")
    assert isinstance(counter, TiktokenCounter)
    assert not counter.ready


def test_an_empty_model_is_counted_by_the_default() -> None:
    assert CounterRegistry("cl100k_base").for_model("").name == "cl100k_base"


def test_a_factor_corrects_estimates_and_leaves_exact_counts_alone() -> None:
    counters = CounterRegistry("o200k_base")
    assert counters.for_model("claude-sonnet-4-5", 1.08).name == "claude estimate x 1.08"
    assert counters.for_model("claude-sonnet-4-5").name == "claude estimate"
    assert counters.for_model("gpt4o", 0.9).name == "o200k_base estimate x 0.90"
    assert counters.for_model("gpt-4o", 1.08).name == "o200k_base"


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("o200k", "o200k_base, cl100k_base, chars4"),
        ("", "not known"),
        ("own_counters:", "module:function"),
        (":words", "module:function"),
        ("no_such_module:words", "no_such_module"),
        ("own_counters:verbs", "has no function 'verbs'"),
        ("own_counters:number", "has no function 'number'"),
        ("own_counters:negative", "returned -1"),
        ("own_counters:fraction", "returned 6.0"),
    ],
)
def test_an_unknown_name_is_rejected_with_the_reason(name: str, missing: str) -> None:
    with pytest.raises(InvalidCounter, match=missing):
        CounterRegistry(name)


def test_a_custom_counter_is_used() -> None:
    assert load_custom("own_counters:words").count("one two") == 3


def test_a_message_costs_its_text_and_its_framing() -> None:
    words = load_custom("own_counters:guess")
    assert count_message(words, role="user", content="", name="", tool_calls=[]) == 4
    assert count_message(words, role="user", content="hello", name="", tool_calls=[]) == 4 + 5
    assert count_message(words, role="user", content="hello", name="Ann", tool_calls=[]) == 4 + 5 + 1 + 3
    calls = [("call_1", "find", "{}"), ("call_2", "open", '{"a":1}')]
    assert count_message(words, role="assistant", content="", name="", tool_calls=calls) == 4 + (3 + 6) + (3 + 11)
