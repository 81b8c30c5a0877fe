"""`memsidecar doctor` of a running sidecar: each injected fault is found, and its remedy is named."""

import json
import shutil
import socket
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memsidecar.access.policy import AccessRole
from memsidecar.cli.diagnosis import certificates_of, validity
from tests.access.access_files import Grant, write_access_file
from tests.cli.commands import CommandLine
from tests.faults.shim import library
from tests.http.http_client import HTTP
from tests.scenarios.index_readiness import until_index_is_ready
from tests.support.forked import run
from tests.support.process import SidecarProcess
from tests.support.small_disk import small_disk_at
from tests.support.waiting import HANG_SECONDS
from tests.tls.authority import DAY, EXPIRED, Authority, Validity
from tests.tls.server import tls_sidecar

LONG = Validity(-DAY, 90 * DAY)
OTHER_VERSION = """\
import runpy, sys
import memsidecar
memsidecar.__version__ = "9.9.9"
sys.argv = ["memsidecar", *sys.argv[4:]]
runpy.run_module("memsidecar", run_name="__main__", alter_sys=True)
"""


@dataclass(frozen=True)
class Injected:
    """Flags and variables of a doctor that must find the fault."""

    flags: tuple[str, ...]
    variables: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Place:
    """A folder for the fault, and a sidecar without one."""

    folder: Path
    sidecar: SidecarProcess

    @property
    def address(self) -> tuple[str, str]:
        return ("--address", self.sidecar.address)


Fault = Callable[[Place], Any]
FAULTS: dict[str, tuple[Fault, str, str, str]] = {}
"By name: the context manager that injects it, and words of its subject, its text and its remedy."


def fault(subject: str, text: str, remedy: str) -> Callable[[Callable[[Place], Iterator[Injected]]], Fault]:
    def register(inject: Callable[[Place], Iterator[Injected]]) -> Fault:
        FAULTS[inject.__name__] = (contextmanager(inject), subject, text, remedy)
        return FAULTS[inject.__name__][0]

    return register


@fault("connection", "nothing listens there", "Start one (memsidecar serve --listen")
def no_sidecar_runs(_: Place) -> Iterator[Injected]:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        yield Injected(("--address", f"127.0.0.1:{reserved.getsockname()[1]}"))


@fault("connection", "does it speak TLS? Then give --ca-file", "give its address with --address")
def the_sidecar_speaks_tls(place: Place) -> Iterator[Injected]:
    with tls_sidecar(place.folder, Authority.new().server(LONG)) as sidecar:
        yield Injected(("--address", sidecar.address, "--timeout", "3"))


@fault("version", "the sidecar has the version 9.9.9", "Install the same version")
def the_sidecar_has_another_version(place: Place) -> Iterator[Injected]:
    script = place.folder / "other_version.py"
    script.write_text(OTHER_VERSION)
    with SidecarProcess(place.folder / "data", wrap=(sys.executable, str(script))) as sidecar:
        yield Injected(("--address", sidecar.address))


@fault("clock", "3600 s ahead of this machine's", "Synchronize both clocks")
def the_clock_is_an_hour_ahead(place: Place) -> Iterator[Injected]:
    shift = place.folder / "shift"
    shift.write_text("3600")
    environ = {"LD_PRELOAD": library("clock"), "CLOCK_SHIFT": str(shift)}
    with SidecarProcess(place.folder / "data", environ=environ) as sidecar:
        yield Injected(("--address", sidecar.address))


@fault("health", "retrieval does not serve", "set index = lancedb")
def the_index_is_off(place: Place) -> Iterator[Injected]:
    with SidecarProcess(place.folder / "data", "--index", "off") as sidecar:
        yield Injected(("--address", sidecar.address))


@fault("index", "3 messages wait for the index, and none was indexed within 5 s", "embedder that does not answer")
def the_index_stands_still(place: Place) -> Iterator[Injected]:
    """Its embedder is at an address where nothing listens."""
    nowhere = ("--embedder", "openai", "--embedder-model", "m", "--embedder-url", "http://127.0.0.1:1/v1")
    flags = ("--index", "volatile", *nowhere, "--embedder-dimensions", "8")
    with SidecarProcess(place.folder / "data", *flags) as sidecar, sidecar.client() as client:
        until_index_is_ready(sidecar)
        for number in range(3):
            client.add("trip", f"I fly to Lisbon on day {number}.")
        yield Injected(("--address", sidecar.address))


@fault("connection", "it speaks HTTP/1, as the sidecar's HTTP listener does", "the address of the gRPC listener")
def the_address_is_that_of_the_http_listener(place: Place) -> Iterator[Injected]:
    with SidecarProcess(place.folder / "data", *HTTP, "--index", "off") as sidecar:
        yield Injected(("--address", sidecar.ready["http_listen"]))


@fault("access", "UNAUTHENTICATED", "Give a valid token (--token-file)")
def the_token_is_unknown(place: Place) -> Iterator[Injected]:
    with restricted(place) as (sidecar, token_file):
        token_file.write_text(Grant("stranger", ("*",)).text)
        yield Injected(("--address", sidecar.address, "--token-file", str(token_file)))


@fault("access", "PERMISSION_DENIED", "Give the caller a role in the namespace")
def the_token_is_for_another_namespace(place: Place) -> Iterator[Injected]:
    with restricted(place) as (sidecar, token_file):
        yield Injected(("--address", sidecar.address, "--token-file", str(token_file), "--namespace", "other"))


@contextmanager
def restricted(place: Place) -> Iterator[tuple[SidecarProcess, Path]]:
    grant = Grant("agent", ("mine",), AccessRole.ADMIN)
    access_file = write_access_file(place.folder / "access.toml", [grant])
    token_file = place.folder / "token"
    token_file.write_text(grant.text)
    token_file.chmod(0o600)
    with SidecarProcess(place.folder / "data", "--access-file", str(access_file)) as sidecar:
        yield sidecar, token_file


@fault("certificate", "is about to expire", "Renew the certificate")
def the_certificate_of_the_sidecar_is_about_to_expire(place: Place) -> Iterator[Injected]:
    yield from with_certificate(place, Validity(-DAY, 5 * DAY))


@fault("certificate", "expired at", "Renew the certificate")
def the_certificate_of_the_sidecar_has_expired(place: Place) -> Iterator[Injected]:
    yield from with_certificate(place, EXPIRED)


def with_certificate(place: Place, validity_of_server: Validity) -> Iterator[Injected]:
    authority = Authority.new()
    ca_file = place.folder / "ca.crt"
    ca_file.write_bytes(authority.pem)
    with tls_sidecar(place.folder, authority.server(validity_of_server)) as sidecar:
        yield Injected(("--address", sidecar.address, "--ca-file", str(ca_file), "--timeout", "3"))


@fault("client certificate", "is about to expire", "Renew the certificate")
def the_certificate_of_the_client_is_about_to_expire(place: Place) -> Iterator[Injected]:
    authority = Authority.new()
    certificate, key = authority.client(validity=Validity(-DAY, 5 * DAY)).write(place.folder, "client")
    ca_file = place.folder / "ca.crt"
    ca_file.write_bytes(authority.pem)
    files = ("--ca-file", str(ca_file), "--certificate-file", str(certificate), "--key-file", str(key))
    yield Injected((*place.address, *files, "--timeout", "1"))


@fault("token file", "has the mode 644", "chmod 600")
def every_user_may_read_the_token(place: Place) -> Iterator[Injected]:
    token_file = place.folder / "token"
    token_file.write_text(Grant("agent", ("*",)).text)
    token_file.chmod(0o644)
    yield Injected((*place.address, "--token-file", str(token_file)))


@fault("server key", "has the mode 644", "chmod 600")
def every_user_may_read_the_key_of_the_server(place: Place) -> Iterator[Injected]:
    certificate, key = Authority.new().server(LONG).write(place.folder)
    key.chmod(0o644)
    files = {"MEMSIDECAR_TLS_CERTIFICATE_FILE": str(certificate), "MEMSIDECAR_TLS_KEY_FILE": str(key)}
    yield Injected(place.address, files)


@fault("access file", "the token of agent", "memsidecar token new")
def the_own_token_is_about_to_end(place: Place) -> Iterator[Injected]:
    grant = Grant("agent", ("*",), expires=datetime.now(UTC) + timedelta(days=3))
    access_file = write_access_file(place.folder / "access.toml", [grant])
    variables = {"MEMSIDECAR_ACCESS_FILE": str(access_file), "MEMSIDECAR_TOKEN": grant.text}
    yield Injected(place.address, variables)


@fault("access file", "access.toml", "Correct it")
def the_access_file_is_broken(place: Place) -> Iterator[Injected]:
    access_file = place.folder / "access.toml"
    access_file.write_text("[[tokens]]\nnonsense = 1\n")
    yield Injected(place.address, {"MEMSIDECAR_ACCESS_FILE": str(access_file)})


@fault("configuration", "the nearest known one is MEMSIDECAR_LISTEN", "Correct or remove it")
def a_variable_is_mistyped(place: Place) -> Iterator[Injected]:
    yield Injected(place.address, {"MEMSIDECAR_LISTN": "127.0.0.1:0"})


@fault("configuration", "can be changed by other users", "chmod go-w")
def every_user_may_change_the_settings(place: Place) -> Iterator[Injected]:
    config = place.folder / "settings.toml"
    config.write_text('log_level = "info"\n')
    config.chmod(0o666)
    yield Injected((*place.address, "--config", str(config)))


@fault("configuration", "the token would go to 192.0.2.1:7600 for all to read", "Correct the flag")
def the_token_would_be_sent_in_plaintext(_: Place) -> Iterator[Injected]:
    yield Injected(("--address", "192.0.2.1:7600"), {"MEMSIDECAR_TOKEN": Grant("agent", ("*",)).text})


@fault("data directory", "every user of this machine may read", "chmod go=")
def every_user_may_read_the_data_directory(place: Place) -> Iterator[Injected]:
    directory = place.sidecar.data_dir
    mode = stat.S_IMODE(directory.stat().st_mode)
    directory.chmod(0o755)
    yield Injected((*place.address, "--data-dir", str(directory)))
    directory.chmod(mode)


@fault("data directory", "files that no sidecar made: notes.txt", "Move them elsewhere")
def a_foreign_file_is_in_the_data_directory(place: Place) -> Iterator[Injected]:
    foreign = place.sidecar.data_dir / "notes.txt"
    foreign.write_text("not ours")
    yield Injected((*place.address, "--data-dir", str(place.sidecar.data_dir)))
    foreign.unlink()


@fault("data directory", "is on tmpfs, which is kept in memory", "Move it to a local disk")
def the_data_directory_is_in_memory(_: Place) -> Iterator[Injected]:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, SidecarProcess(Path(folder) / "data") as sidecar:
        yield Injected(("--address", sidecar.address, "--data-dir", str(sidecar.data_dir)))


@fault("disk", "MiB are free for", "Free space or enlarge the volume")
def the_disk_is_almost_full(place: Place) -> Iterator[Injected]:
    with small_disk_at(place.folder / "disk", 48 << 20) as disk, SidecarProcess(disk / "data") as sidecar:
        yield Injected(("--address", sidecar.address, "--data-dir", str(sidecar.data_dir)))


@pytest.fixture
def place(memory: CommandLine, tmp_path: Path) -> Place:
    return Place(tmp_path, memory.sidecar)


def doctor(injected: Injected) -> tuple[int, list[dict[str, str]]]:
    done = run("doctor", *injected.flags, environ=injected.variables, timeout=HANG_SECONDS)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("name", FAULTS)
def test_the_doctor_finds_the_fault_and_names_its_remedy(place: Place, name: str) -> None:
    inject, subject, text, remedy = FAULTS[name]
    with inject(place) as injected:
        code, findings = doctor(injected)
    faults = [finding for finding in findings if finding["level"] == "fault"]
    found = [
        each for each in faults if each["subject"] == subject and text in each["text"] and remedy in each["remedy"]
    ]
    assert code == 1 and len(found) == 1, findings
    assert all(finding["remedy"] for finding in faults)


def test_twelve_faults_are_injected_at_least() -> None:
    assert len(FAULTS) >= 12


def test_a_sound_sidecar_has_no_fault(memory: CommandLine) -> None:
    flags = ("--address", memory.sidecar.address, "--data-dir", str(memory.sidecar.data_dir))
    code, findings = doctor(Injected(flags))
    assert code == 0 and {finding["level"] for finding in findings} <= {"ok", "warning"}
    subjects = {finding["subject"] for finding in findings if finding["level"] == "ok"}
    assert subjects >= {"connection", "version", "clock", "health", "search", "index", "disk", "configuration"}


def test_a_person_reads_the_remedy_below_the_fault(memory: CommandLine) -> None:
    done = memory.run("doctor", "--table", MEMSIDECAR_LISTN="x")
    assert done.returncode == 1 and done.stderr.endswith("1 fault, 0 warnings\n")
    assert "fault       configuration: MEMSIDECAR_LISTN: unknown setting" in done.stdout
    assert "\n            -> Correct or remove it" in done.stdout


def test_a_data_directory_alone_is_examined_offline(memory: CommandLine, tmp_path: Path) -> None:
    copy = shutil.copytree(memory.sidecar.data_dir, tmp_path / "copy")
    done = memory.run("doctor", "--data-dir", str(copy))
    assert (done.returncode, done.stdout) == (0, f"{copy}: whole\n")


def test_probes_learn_neither_version_nor_time(memory: CommandLine) -> None:
    done = memory.run("doctor", "--address", memory.sidecar.ready["health_listen"])
    assert "a version that does not tell its number" in done.stdout


@pytest.mark.parametrize("ends", [DAY, 20_000 * DAY], ids=["two digits of the year", "four digits"])
def test_the_validity_of_a_certificate_is_read(ends: timedelta) -> None:
    pair = Authority.new().server(Validity(-DAY, ends))
    (certificate,) = certificates_of(pair.certificate_pem.decode())
    begins_at, ends_at = validity(certificate)
    known = pair.chain[0]
    assert (begins_at, ends_at) == (known.not_valid_before_utc.timestamp(), known.not_valid_after_utc.timestamp())


@pytest.mark.parametrize("content", [b"", b"\x30", b"\x30\x82", b"\x30\x03\x02\x01\x00", b"nonsense"])
def test_bytes_that_are_no_certificate_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="not a certificate"):
        validity(content)
