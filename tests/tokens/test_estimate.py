"""Estimated counts, and their calibration by reported usage."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsidecar.tokens.estimate import MAX_FACTOR, MIN_FACTOR, Calibrated, CharsPerFour, calibrate, is_plausible

factors = st.floats(MIN_FACTOR, MAX_FACTOR)
tokens = st.integers(1, 10**9)


@pytest.mark.parametrize(("text", "expected"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("漢" * 8, 2)])
def test_four_characters_are_a_token_rounded_up(text: str, expected: int) -> None:
    assert CharsPerFour().count(text) == expected


@given(text=st.text(st.characters()), factor=factors)
def test_a_calibrated_count_is_the_estimate_times_the_factor_rounded_up(text: str, factor: float) -> None:
    product = CharsPerFour().count(text) * factor
    assert product - 1e-6 <= Calibrated(CharsPerFour(), factor).count(text) < product + 1


def test_a_whole_product_is_not_rounded_further() -> None:
    assert Calibrated(CharsPerFour(), 1.1).count("a" * 400) == 110


def test_the_name_shows_the_factor_unless_it_is_one() -> None:
    assert Calibrated(CharsPerFour(), 1.08).name == "chars/4 x 1.08"
    assert Calibrated(CharsPerFour(), 1.0).name == "chars/4"
    assert not Calibrated(CharsPerFour(), 1.08).exact


def test_the_first_report_is_used_fully_and_later_ones_are_damped() -> None:
    assert calibrate(1.0, 0, estimated=1000, actual=1200) == pytest.approx(1.2)
    assert calibrate(1.0, 1, estimated=1000, actual=1210) == pytest.approx(1.1)
    assert calibrate(1.0, 99, estimated=1000, actual=1200) == pytest.approx(1.2**0.2)


@given(old=factors, reports=st.integers(0, 10**6), estimated=tokens, actual=tokens)
def test_a_factor_stays_in_bounds_and_moves_towards_the_report(
    old: float, reports: int, estimated: int, actual: int
) -> None:
    new = calibrate(old, reports, estimated, actual)
    assert MIN_FACTOR <= new <= MAX_FACTOR
    assert new >= old if actual >= estimated else new <= old


@given(truth=st.floats(0.55, 1.9))
def test_steady_reports_lead_to_the_true_factor(truth: float) -> None:
    factor = 1.0
    for reports in range(30):
        factor = calibrate(factor, reports, estimated=round(10_000 * factor), actual=round(10_000 * truth))
    assert factor == pytest.approx(truth, rel=0.01)


@pytest.mark.parametrize(("old", "estimated", "actual"), [(1.0, 1_988, 37), (1.0, 100, 49), (0.6, 60, 49), (1.0, 0, 9)])
def test_a_report_below_the_smallest_factor_is_not_plausible(old: float, estimated: int, actual: int) -> None:
    assert not is_plausible(old, estimated, actual)


@pytest.mark.parametrize(("old", "estimated", "actual"), [(1.0, 100, 50), (2.0, 200, 50), (1.0, 100, 900)])
def test_other_reports_are_plausible(old: float, estimated: int, actual: int) -> None:
    assert is_plausible(old, estimated, actual)
