"""Static checks of the Dockerfile; test_image.py runs it."""

import re
from pathlib import Path

from memsidecar.settings import load_settings
from tests.image.dockerfile import ROOT, Dockerfile

DOCKERFILE = Dockerfile.read()


def test_the_container_is_not_root_and_needs_no_shell() -> None:
    assert DOCKERFILE.user == (65532, 65532)
    assert DOCKERFILE.config.command == ["memsidecar", "serve"]
    assert DOCKERFILE.one("STOPSIGNAL") == "SIGTERM"


def test_its_environment_is_a_valid_setting_of_a_sidecar_behind_probes() -> None:
    settings = load_settings({}, DOCKERFILE.environment)
    assert (str(settings.listen), str(settings.health_listen)) == ("127.0.0.1:7600", "0.0.0.0:7601")
    assert (settings.data_dir, settings.log_format) == (Path("/data"), "json")
    assert DOCKERFILE.one("EXPOSE").split() == ["7600", "7601"]


def test_the_data_is_a_volume_that_belongs_to_the_user() -> None:
    uid, gid = DOCKERFILE.user
    assert DOCKERFILE.config.volumes == ["/data"] == [DOCKERFILE.one("WORKDIR")]
    assert any(f"install -d -m 0700 -o {uid} -g {gid} /data" in rest for rest in DOCKERFILE.all("RUN"))


def test_the_command_is_found_where_the_tree_is_copied_to() -> None:
    prefix = DOCKERFILE.runtime_prefix
    assert DOCKERFILE.environment["PATH"].split(":")[0] == f"{prefix}/bin"
    assert f"--from=build {prefix} {prefix}" in DOCKERFILE.all("COPY")


def test_dockerignore_includes_all_copied_files() -> None:
    let_through = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copies = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE.text, flags=re.MULTILINE)
    assert {name for copy in copies for name in copy.split()} == let_through
