"""The check of commit subjects in CI accepts imperatives, and is able to fail."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / ".ci" / "subjects.py"


@pytest.fixture(scope="module")
def subjects() -> Any:
    spec = spec_from_file_location("subjects", SCRIPT)
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "subject",
    [
        "Move the empty-session check into claim()",
        "Add GetSession.watermarks",
        "Pass the clock to Pace",
        "Re-read keys",
    ],
)
def test_an_imperative_is_accepted(subjects: Any, subject: str) -> None:
    assert list(subjects.faults_of(subject)) == []


@pytest.mark.parametrize(
    ("subject", "fault"),
    [
        ("Whoever claims a session need not ask whether one is named", "'Whoever' is no imperative"),
        ("A stream may be silent for five seconds", "'A' is no verb"),
        ("Added a check", "'Added' is no imperative"),
        ("Adding a check", "'Adding' is no imperative"),
        ("Fixes a race", "'Fixes' is no imperative"),
        ("fix a race", "'fix' is no verb with a capital letter"),
        ("Fix a race.", "ends with a period"),
        ("Fix a race of the committer with the change feed, the index and more", "68 characters, at most 60"),
    ],
)
def test_another_subject_is_refused(subjects: Any, subject: str, fault: str) -> None:
    assert any(fault in one for one in subjects.faults_of(subject))
