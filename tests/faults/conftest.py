"""Fixtures of the tests of faults."""

from pathlib import Path

import pytest

from tests.faults.shim import Shim


@pytest.fixture
def shim(tmp_path: Path) -> Shim:
    return Shim(tmp_path)
