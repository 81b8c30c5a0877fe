"""The image, run as in a container: read-only, as its own user, without a network."""

import shutil
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.image import buildah
from tests.image.conftest import build
from tests.image.container import Container, Image, require_namespaces
from tests.image.dockerfile import ROOT, Dockerfile

LISBON = "I moved to Lisbon in spring."


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A volume as in the image, accessible to the user only."""
    folder = tmp_path_factory.mktemp("volume") / "data"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def container(image: Image, data: Path, tmp_path: Path) -> Iterator[Container]:
    require_namespaces()
    shutil.chown(data, *image.config.user)
    with Container(tmp_path, image, data) as running:
        yield running


def test_the_built_image_has_the_configuration_of_the_dockerfile(image: Image) -> None:
    if missing := buildah.missing():
        pytest.skip(f"NOT BUILT: the Dockerfile; its steps ran on this machine, which lacks {', '.join(missing)}")
    assert image.config == Dockerfile.read().config


def test_an_agent_is_served_and_its_messages_survive_a_restart(
    container: Container, image: Image, data: Path, tmp_path: Path
) -> None:
    answer = container.agent("tell")
    assert answer["sequence"] == 1 and answer["degraded"] == []
    assert any(LISBON in text for text in answer["context"]) and 0 < answer["tokens"] <= 500
    assert container.stop() == 0, container.log()
    (tmp_path / "again").mkdir()
    with Container(tmp_path / "again", image, data) as restarted:
        assert any(LISBON in text for text in restarted.agent("ask")["context"])
        assert restarted.stop() == 0


def test_health_answers_and_the_log_is_json_without_warnings(container: Container) -> None:
    assert set(container.agent("probe").values()) == {"SERVING"}
    assert container.stop() == 0
    assert container.log() and container.complaints() == []


def test_the_check_command_works_in_the_container(container: Container) -> None:
    done = container.inside(*container.config.entrypoint, "check")
    assert (done.returncode, done.stderr) == (0, "")
    assert "deleted" in done.stdout


def test_only_the_data_is_writable_and_only_loopback_is_reachable(container: Container) -> None:
    """This shows that the container of the other tests is restricted."""
    status = Path(f"/proc/{container.first_process}/status").read_text()
    uid, gid = container.config.user
    assert f"Uid:\t{uid}\t{uid}\t{uid}\t{uid}\n" in status and f"Gid:\t{gid}\t{gid}\t{gid}\t{gid}\n" in status
    assert all(f"Cap{kind}:\t0000000000000000\n" in status for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb"))
    assert "NoNewPrivs:\t1\n" in status
    for place in ("/", "/etc", Dockerfile.read().runtime_prefix):
        done = container.inside("/usr/bin/touch", f"{place}/written")
        assert done.returncode == 1 and ("Read-only" in done.stderr or "denied" in done.stderr)
    mounts = Path(f"/proc/{container.first_process}/mounts").read_text().splitlines()
    writable = {line.split()[1] for line in mounts if line.split()[3].split(",")[0] == "rw"}
    assert writable <= {"/data", "/proc", "/dev/null", "/dev/urandom"}
    assert [line.split()[1] for line in container.beside("ip", "-br", "-o", "link").stdout.splitlines()] == ["UNKNOWN"]


def test_its_memory_is_limited(container: Container) -> None:
    if container.memory.procs is None:
        pytest.skip(f"NOT LIMITED: no control group can be made here: {'; '.join(container.memory.problems)}")
    assert str(container.first_process) in container.memory.procs.read_text().split()


def test_the_tree_contains_no_path_of_the_build_machine(image: Image) -> None:
    paths = [str(image.tree).encode(), str(ROOT).encode(), b"/source/memsidecar"]
    contents = ((file, file.read_bytes()) for file in image.tree.rglob("*") if file.is_file())
    assert [file for file, content in contents if any(path in content for path in paths)] == []


def test_all_code_of_the_tree_is_compiled(image: Image) -> None:
    (library,) = (image.tree / "lib").iterdir()
    tag = library.name.replace("python", "cpython-").replace(".", "")
    sources = {file for file in library.rglob("*.py") if "__pycache__" not in file.parts}
    assert not [file for file in sources if not (file.parent / "__pycache__" / f"{file.stem}.{tag}.pyc").exists()]


def test_an_existing_tree_is_unchanged(tmp_path: Path) -> None:
    done = build("runtime", str(tmp_path))
    assert done.returncode == 2 and "exists already" in done.stderr


@pytest.mark.parametrize("arguments", [(), ("bake",), ("runtime",), ("base", "a", "b")])
def test_wrong_usage_is_reported(arguments: tuple[str, ...]) -> None:
    done = build(*arguments)
    assert done.returncode == 2 and done.stderr.startswith("Usage:")


def test_the_base_has_python_and_no_pip(tmp_path: Path) -> None:
    library = Path(sysconfig.get_path("stdlib"))
    copied = tmp_path / "lib" / library.name
    shutil.copytree(library, copied, ignore=shutil.ignore_patterns("site-packages", "__pycache__", "test"))
    for leftover in (copied / "site-packages/pip", tmp_path / "bin"):
        leftover.mkdir(parents=True)
    (tmp_path / "bin/pip3").touch()
    done = build("base", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert (copied / "__pycache__" / f"os.{sys.implementation.cache_tag}.pyc").exists()
    assert not [*copied.rglob("pip"), *copied.rglob("*.whl"), *(tmp_path / "bin").iterdir()]
