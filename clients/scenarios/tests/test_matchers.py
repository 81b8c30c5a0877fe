"""Matchers accept and reject values, and variables are substituted."""

from typing import Any

import pytest

from runner.matchers import Mismatch, match
from runner.variables import UnknownVariable, lookup, substitute

FITS: list[tuple[Any, Any]] = [
    (1, 1),
    (1, 1.0),
    ("a", "a"),
    (None, None),
    ({"a": 1}, {"a": 1, "b": 2}),
    ({"a": {"b": []}}, {"a": {"b": [], "c": 1}}),
    ([{"a": 1}, 2], [{"a": 1, "b": 2}, 2]),
    ({"$any": True}, 0),
    ({"$any": True}, False),
    ({"a": {"$absent": True}}, {}),
    ({"a": {"$absent": True}}, {"a": ""}),
    ({"a": {"$absent": True}}, {"a": []}),
    ({"$range": [0, 1]}, 0.5),
    ({"$length": 2}, "ab"),
    ({"$length": {"$range": [1, 2]}}, [1]),
    ({"$contains": "b"}, "abc"),
    ({"$contains": {"a": 1}}, [{"a": 2}, {"a": 1, "b": 0}]),
    ({"$each": {"a": 1}}, [{"a": 1}, {"a": 1, "b": 2}]),
    ({"$matches": "^a+$"}, "aa"),
    ({"$not": {"$contains": "x"}}, "abc"),
    ({"$all": [{"$length": 1}, {"$contains": 1}]}, [1]),
]
DIFFERS: list[tuple[Any, Any]] = [
    (1, 2),
    (1, True),
    (0, False),
    ("1", 1),
    (True, 1),
    ({"a": 1}, {}),
    ({"a": None}, {"a": 0}),
    ({"a": 1}, None),
    ([1], [1, 2]),
    ([], None),
    ({"$any": True}, None),
    ({"$any": True}, ""),
    ({"$absent": True}, 0),
    ({"$absent": True}, False),
    ({"$range": [0, 1]}, 2),
    ({"$range": [0, 1]}, True),
    ({"$range": [0, 1]}, "0"),
    ({"$length": 2}, 2),
    ({"$contains": "x"}, "abc"),
    ({"$contains": 1}, None),
    ({"$each": 1}, []),
    ({"$matches": "a"}, 1),
    ({"$not": 1}, 1),
    ({"$all": [1, 2]}, 1),
]


@pytest.mark.parametrize(("expected", "found"), FITS)
def test_a_value_that_fits_matches(expected: Any, found: Any) -> None:
    match(expected, found)


@pytest.mark.parametrize(("expected", "found"), DIFFERS)
def test_a_value_that_differs_raises_a_mismatch(expected: Any, found: Any) -> None:
    with pytest.raises(Mismatch):
        match(expected, found)


def test_a_mismatch_says_where() -> None:
    with pytest.raises(Mismatch, match=r"answer\.a\[1\]\.b should be 1, and is 2"):
        match({"a": [0, {"b": 1}]}, {"a": [0, {"b": 2}]})


def test_a_variable_alone_keeps_its_type_and_inside_a_text_it_is_text() -> None:
    assert substitute({"a": "${n}", "b": "x${n}"}, {"n": 7}) == {"a": 7, "b": "x7"}
    assert substitute("${list.1.a}", {"list": [0, {"a": True}]}) is True


def test_large_values_are_generated() -> None:
    assert substitute({"$text": {"of": "ab", "times": 3}}, {}) == "ababab"
    assert substitute({"$list": {"times": 2, "of": {"id": "m${i}"}}}, {}) == [{"id": "m1"}, {"id": "m2"}]


def test_an_unknown_variable_is_an_error() -> None:
    with pytest.raises(UnknownVariable, match="nothing"):
        substitute("${nothing}", {})
    with pytest.raises(UnknownVariable):
        lookup({"a": [1]}, "a.5")
