"""A path for an access file."""

from pathlib import Path

import pytest


@pytest.fixture
def access_file(tmp_path: Path) -> Path:
    return tmp_path / "access.toml"
