"""The runtime tree, built once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.image.dockerfile import ROOT, Dockerfile

BUILD_SECONDS = 600


def build(*arguments: str) -> subprocess.CompletedProcess[str]:
    base_python = str(Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}")
    return subprocess.run(
        [str(ROOT / "image/build"), *arguments],
        env={**os.environ, "PYTHON": base_python},
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
    )


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runtime tree of the image, in another folder."""
    tree = tmp_path_factory.mktemp("image") / "tree"
    made = build("runtime", str(tree), Dockerfile.read().runtime_prefix)
    assert made.returncode == 0, made.stderr
    print(made.stderr)
    return tree
