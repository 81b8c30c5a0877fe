"""Invalid TLS files stop the start with a message that names the file, without a password prompt."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memsidecar.access.certificates import CertificateFiles, InvalidCertificates, read_certificates
from tests.support.process import SidecarProcess
from tests.tls.authority import Authority, ec_key, key_pem
from tests.tls.server import tls_flags

AUTHORITY = Authority.new()
REFUSED = 1
WRONG_USAGE = 2
PASSWORD = b"open sesame"


def whole(folder: Path) -> None:
    AUTHORITY.server().write(folder)
    (folder / "ca.crt").write_bytes(AUTHORITY.pem)


def encrypted(folder: Path) -> None:
    whole(folder)
    pair = AUTHORITY.server()
    (folder / "tls.crt").write_bytes(pair.certificate_pem)
    (folder / "tls.key").write_bytes(key_pem(pair.key, PASSWORD))


def mismatched(folder: Path) -> None:
    whole(folder)
    (folder / "tls.key").write_bytes(key_pem(ec_key()))


def without(name: str) -> Callable[[Path], None]:
    return replaced(name, None)


def replaced(name: str, data: bytes | None) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        whole(folder)
        (folder / name).unlink()
        if data is not None:
            (folder / name).write_bytes(data)

    return spoil


CASES: dict[str, tuple[Callable[[Path], None], str]] = {
    "encrypted key": (encrypted, "tls_key_file"),
    "key of another certificate": (mismatched, "tls_key_file"),
    "no certificate": (without("tls.crt"), "tls_certificate_file"),
    "garbage for an authority": (replaced("ca.crt", b"\xffgarbage"), "tls_client_ca_file"),
}
# The same for the function that reads the files, without a process for each.
MORE_CASES: dict[str, tuple[Callable[[Path], None], str]] = {
    "no key": (without("tls.key"), "tls_key_file"),
    "no authority": (without("ca.crt"), "tls_client_ca_file"),
    "garbage for a certificate": (replaced("tls.crt", b"\x00garbage"), "tls_certificate_file"),
    "garbage for a key": (replaced("tls.key", b"-----BEGIN PRIVATE KEY-----\nnope\n"), "tls_key_file"),
    "an empty authority": (replaced("ca.crt", b""), "tls_client_ca_file"),
    "a key for an authority": (replaced("ca.crt", key_pem(ec_key())), "tls_client_ca_file"),
}


@pytest.mark.parametrize(("spoil", "setting"), (CASES | MORE_CASES).values(), ids=CASES | MORE_CASES)
def test_unusable_files_are_named(tmp_path: Path, spoil: Callable[[Path], None], setting: str) -> None:
    spoil(tmp_path)
    files = CertificateFiles(tmp_path / "tls.crt", tmp_path / "tls.key", tmp_path / "ca.crt")
    with pytest.raises(InvalidCertificates) as refused:
        read_certificates(files)
    assert setting in str(refused.value)
    assert str(tmp_path) in str(refused.value)


def start(data_dir: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memsidecar", "serve", "--data-dir", str(data_dir), "--index", "off"]
    command += ["--listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0", "--http-listen", "", *flags]
    # No terminal, and a standard input on which a password prompt would hang.
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(("spoil", "setting"), CASES.values(), ids=CASES)
def test_unusable_files_stop_the_start(tmp_path: Path, spoil: Callable[[Path], None], setting: str) -> None:
    spoil(tmp_path)
    ended = start(tmp_path / "data", *tls_flags(tmp_path, mutual=True))
    assert ended.returncode == REFUSED
    assert ended.stdout == "", "it never was ready"
    assert setting in ended.stderr
    assert str(tmp_path) in ended.stderr
    assert "PRIVATE KEY" not in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "pass phrase" not in ended.stderr.lower()


def test_a_key_alone_is_wrong_usage(tmp_path: Path) -> None:
    whole(tmp_path)
    ended = start(tmp_path / "data", "--tls-key-file", str(tmp_path / "tls.key"))
    assert ended.returncode == WRONG_USAGE
    assert "tls_certificate_file" in ended.stderr


def test_an_insecure_listener_is_logged_at_every_start(tmp_path: Path) -> None:
    flags = ("--listen", "0.0.0.0:0", "--insecure-listen", "allow")
    with SidecarProcess(tmp_path / "data", *flags) as sidecar:
        assert sidecar.log().count("INSECURE") == 1
        sidecar.stop()
        sidecar.start()
        assert sidecar.log().count("INSECURE") == 2


def test_an_insecure_listener_is_rejected_by_default(tmp_path: Path) -> None:
    ended = start(tmp_path / "data", "--listen", "0.0.0.0:0")
    assert ended.returncode == WRONG_USAGE
    assert "tls_certificate_file" in ended.stderr
