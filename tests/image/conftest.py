"""The image, built once: with buildah, or without it the runtime tree alone."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.image import buildah
from tests.image.container import Image, image_of_tree
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
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    """The image of the Dockerfile, or one with the Python of this machine if the tools to build it are missing."""
    if buildah.missing():
        folder = tmp_path_factory.mktemp("image")
        yield image_of_tree(folder / "root", _build_tree(folder / "tree"))
        return
    name = buildah.build_image()
    with buildah.mounted(name) as root:
        prefix = Dockerfile.read().runtime_prefix
        yield Image(buildah.read_config(name), root, root / prefix.lstrip("/"))


def _build_tree(tree: Path) -> Path:
    made = build("runtime", str(tree), Dockerfile.read().runtime_prefix)
    assert made.returncode == 0, made.stderr
    print(made.stderr)
    return tree
