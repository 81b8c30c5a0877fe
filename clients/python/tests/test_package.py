"""The published parts work: the wheel, the example and the quickstart of the README."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from runner.sidecar_process import SidecarProcess

HERE = Path(__file__).parents[1]


def python(*arguments: str, address: str = "", package: Path = HERE) -> str:
    environment = {**os.environ, "PYTHONPATH": str(package), "MEMSIDECAR_ADDRESS": address}
    command = [sys.executable, "-W", "error", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_example_remembers_across_sessions(sidecar: SidecarProcess) -> None:
    told = python(str(HERE / "examples/agent.py"), address=sidecar.address)
    assert told.count("21 degrees and sunny") == 2
    assert "Where do you live?" in told


@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_the_code_of_the_readme_runs(sidecar: SidecarProcess, number: int) -> None:
    blocks = re.findall(r"```python[^\n]*\n(.*?)```", (HERE / "README.md").read_text(), re.DOTALL)
    assert len(blocks) == 4
    python("-c", blocks[number], address=sidecar.address)


def test_every_extra_is_installed_from_the_clone_as_the_page_says() -> None:
    """Each extra is installed from the clone, as in the README's quickstart."""
    page = (HERE / "ADAPTERS.md").read_text()
    extras = set(tomllib.loads((HERE / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    assert "pip install --quiet ../memsidecar/clients/python" in (HERE / "README.md").read_text()
    assert set(re.findall(r"`'\.\./memsidecar/clients/python\[([\w-]+)\]'`", page)) == extras
    assert "memsidecar-client[" not in page


def test_the_readme_links_recipes_and_names_the_type_stubs() -> None:
    readme = (HERE / "README.md").read_text()
    quickstart, _, rest = readme.partition("## API")
    assert quickstart.index("build_context") < quickstart.index("](../../docs/recipes.md)")
    assert (HERE / "../../docs/recipes.md").is_file()
    assert "`types-protobuf`" in rest
    assert "`AsyncClient` belongs to the event loop" in rest


def test_the_wheel_has_all_it_needs_and_nothing_else(tmp_path: Path, sidecar: SidecarProcess) -> None:
    source = tmp_path / "source"
    names = ("pyproject.toml", "README.md", "LICENSE", "memsidecar_client")
    source.mkdir()
    subprocess.run(["cp", "-r", *(str(HERE / name) for name in names), str(source)], check=True)
    build = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path)]
    subprocess.run([sys.executable, *build, str(source)], check=True, timeout=120)
    with zipfile.ZipFile(next(tmp_path.glob("memsidecar_client-*.whl"))) as wheel:
        files = set(wheel.namelist())
        wheel.extractall(tmp_path / "installed")
        metadata = wheel.read(next(name for name in files if name.endswith("METADATA"))).decode()
    assert {"memsidecar_client/py.typed", "memsidecar_client/v1/memory_pb2.pyi"} <= files
    assert {name.split("/")[0].split("-")[0] for name in files} == {"memsidecar_client"}
    assert sorted(re.findall(r"Requires-Dist: (\w+)[^;\n]*$", metadata, re.MULTILINE)) == ["grpcio", "protobuf"]
    count = "from memsidecar_client import Client; print(Client().count(session_id='s').stats.message_count)"
    assert python("-c", count, address=sidecar.address, package=tmp_path / "installed").strip().isdigit()
