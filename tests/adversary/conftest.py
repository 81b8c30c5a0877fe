"""The fixture of the fsync shim."""

from pathlib import Path

import pytest

from tests.faults.shim import Shim


@pytest.fixture
def shim(tmp_path: Path) -> Shim:
    return Shim(tmp_path)
