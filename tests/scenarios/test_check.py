"""`memsidecar check` against running sidecars: output, exit codes, and the deletion of its session."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from memsidecar.v1.session_pb2 import ListSessionsRequest
from tests.scenarios.certificates import Authority, Certificate
from tests.support.forked import run
from tests.support.process import Client, SidecarProcess

STEPS = ["ready", "added", "built", "deleted"]
SOON = ("--timeout", "1")


def memsidecar(*arguments: str, **variables: str) -> CompletedProcess[str]:
    outside = {name: value for name, value in os.environ.items() if not name.startswith("MEMSIDECAR_")}
    return run(*arguments, environ={**outside, **variables}, timeout=60)


def check(*arguments: str, **variables: str) -> CompletedProcess[str]:
    done = memsidecar("check", *arguments, **variables)
    assert "Traceback" not in done.stderr
    return done


def steps(done: CompletedProcess[str]) -> list[str]:
    return [line.partition(":")[0] for line in done.stdout.splitlines()]


def assert_passes(done: CompletedProcess[str]) -> None:
    assert (done.returncode, steps(done), done.stderr) == (0, STEPS, "")


def assert_fails(done: CompletedProcess[str], *reasons: str) -> None:
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    for reason in reasons:
        assert reason in done.stderr


def sessions(client: Client, namespace: str) -> list[str]:
    answer = client.sessions.ListSessions(ListSessionsRequest(namespace=namespace))
    return [session.session_id for session in answer.sessions]


# -- a sidecar without access control


def test_a_working_sidecar_passes_and_keeps_no_session(sidecar: SidecarProcess, client: Client, namespace: str) -> None:
    done = check("--address", sidecar.address, "--namespace", namespace)
    assert_passes(done)
    assert "of 1000 tokens" in done.stdout
    assert sessions(client, namespace) == []


def test_the_address_may_come_from_the_environment(sidecar: SidecarProcess) -> None:
    assert_passes(check(MEMSIDECAR_ADDRESS=sidecar.address))


def test_a_unix_socket_is_checked_as_well(data_dir: Path, tmp_path: Path) -> None:
    address = f"unix:{tmp_path}/s"
    with SidecarProcess(data_dir, "--listen", address):
        assert_passes(check("--address", address, MEMSIDECAR_TOKEN="not-required"))


def test_a_sidecar_that_starts_later_is_awaited(data_dir: Path, tmp_path: Path) -> None:
    address = f"unix:{tmp_path}/s"
    results: list[CompletedProcess[str]] = []
    waiting = threading.Thread(target=lambda: results.append(check("--address", address)))
    waiting.start()
    time.sleep(1)
    with SidecarProcess(data_dir, "--listen", address):
        waiting.join()
    assert_passes(results[0])


def test_an_address_where_nothing_listens_is_not_ready() -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{reserved.getsockname()[1]}"
        assert_fails(check("--address", address, *SOON), address, "nothing listens there")


def test_a_listener_that_never_responds_is_not_ready() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        assert_fails(check("--address", f"127.0.0.1:{silent.getsockname()[1]}", *SOON), "not ready after 1 s")


def test_a_health_listener_is_no_sidecar(sidecar: SidecarProcess) -> None:
    done = check("--address", sidecar.ready["health_listen"])
    assert_fails(done, "Add is refused with UNIMPLEMENTED")


def test_an_invalid_namespace_is_refused_with_the_reason(sidecar: SidecarProcess) -> None:
    done = check("--address", sidecar.address, "--namespace", "n" * 257)
    assert_fails(done, "Add is refused with INVALID_ARGUMENT", "namespace")


# -- flags


@pytest.mark.parametrize("address", ["127.0.0.1", "http://127.0.0.1:7600", "unix:", "a b:1", "::1:7600"])
def test_an_invalid_address_is_a_usage_error(address: str) -> None:
    for done in (check("--address", address), check(MEMSIDECAR_ADDRESS=address)):
        assert done.returncode == 2 and "neither host:port nor unix:/path" in done.stderr


@pytest.mark.parametrize("seconds", ["soon", "-1", "nan", "inf"])
def test_an_invalid_timeout_is_a_usage_error(seconds: str) -> None:
    assert check("--timeout", seconds).returncode == 2


@pytest.mark.parametrize("flag", ["--token-file", "--ca-file", "--certificate-file"])
def test_a_file_that_cannot_be_read_is_named(flag: str, tmp_path: Path) -> None:
    file = str(tmp_path / "missing")
    others = () if flag != "--certificate-file" else ("--key-file", file, "--ca-file", __file__)
    done = check(flag, file, *others)
    assert done.returncode == 2 and file in done.stderr


def test_a_certificate_without_its_key_is_a_usage_error() -> None:
    assert check("--certificate-file", __file__, "--ca-file", __file__).returncode == 2


def test_a_token_is_not_sent_in_plaintext_over_a_network() -> None:
    done = check("--address", "192.0.2.1:7600", *SOON, MEMSIDECAR_TOKEN="secret")
    assert done.returncode == 2 and "--ca-file" in done.stderr
    assert "secret" not in done.stderr


def test_a_token_is_sent_in_plaintext_with_insecure() -> None:
    done = check("--address", "no-such-host.invalid:7600", "--insecure", *SOON, MEMSIDECAR_TOKEN="secret")
    assert_fails(done, "no-such-host.invalid:7600 is not ready")


# -- a sidecar with a certificate and an access file


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.new(tmp_path_factory.mktemp("pki") / "authority")


@pytest.fixture(scope="module")
def certificate(authority: Authority) -> Certificate:
    return authority.sign("localhost")


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a token file for each role, and the access file of them all, for the namespace "default"."""
    folder = tmp_path_factory.mktemp("tokens")
    files = {"access": folder / "access.toml"}
    files["access"].touch()
    for role in ("read", "write", "admin"):
        made = memsidecar(
            "token",
            "new",
            "--name",
            role,
            "--role",
            role,
            "--namespace",
            "default",
            "--access-file",
            str(files["access"]),
        )
        assert made.returncode == 0, made.stderr
        files[role] = folder / role
        files[role].write_text(made.stdout)
    return files


@pytest.fixture(scope="module")
def secured(
    tmp_path_factory: pytest.TempPathFactory, certificate: Certificate, tokens: dict[str, Path]
) -> Iterator[str]:
    """Start a sidecar that requires TLS and a token, and return its address with a host name."""
    flags = ("--tls-certificate-file", str(certificate.file), "--tls-key-file", str(certificate.key))
    with SidecarProcess(
        tmp_path_factory.mktemp("secured") / "data", *flags, "--access-file", str(tokens["access"])
    ) as running:
        yield running.address.replace("127.0.0.1", "localhost")


def test_tls_and_a_token_pass(secured: str, authority: Authority, tokens: dict[str, Path]) -> None:
    for flags, variables in (
        (("--token-file", str(tokens["admin"])), {}),
        ((), {"MEMSIDECAR_TOKEN_FILE": str(tokens["admin"])}),
        ((), {"MEMSIDECAR_TOKEN": tokens["admin"].read_text()}),
    ):
        assert_passes(check("--address", secured, "--ca-file", str(authority.file), *flags, **variables))


def test_tls_may_come_from_the_environment(secured: str, authority: Authority, tokens: dict[str, Path]) -> None:
    variables = {"MEMSIDECAR_ADDRESS": secured, "MEMSIDECAR_TOKEN_FILE": str(tokens["admin"])}
    assert_passes(check(**variables, MEMSIDECAR_CA_FILE=str(authority.file)))
    assert_fails(check(*SOON, **variables, MEMSIDECAR_TLS="true"), "not signed by")
    for wrong in (
        {"MEMSIDECAR_TLS": "perhaps"},
        {"MEMSIDECAR_TLS": "false", "MEMSIDECAR_CA_FILE": str(authority.file)},
    ):
        done = check(**variables, **wrong)
        assert done.returncode == 2
        assert "MEMSIDECAR_TLS" in done.stderr


def test_a_token_without_permission_to_delete_leaves_its_session_and_a_message(
    secured: str, authority: Authority, tokens: dict[str, Path]
) -> None:
    done = check("--address", secured, "--ca-file", str(authority.file), "--token-file", str(tokens["write"]))
    assert (done.returncode, steps(done)) == (0, ["ready", "added", "built", "not deleted"])
    assert "memsidecar-check-" in done.stdout.splitlines()[-1]


def test_a_token_that_may_only_read_is_refused(secured: str, authority: Authority, tokens: dict[str, Path]) -> None:
    done = check("--address", secured, "--ca-file", str(authority.file), "--token-file", str(tokens["read"]))
    assert_fails(done, "Add is refused with PERMISSION_DENIED")


def test_no_token_and_a_wrong_one_are_refused(secured: str, authority: Authority) -> None:
    for variables in ({}, {"MEMSIDECAR_TOKEN": "wrong"}):
        done = check("--address", secured, "--ca-file", str(authority.file), **variables)
        assert_fails(done, "refused with UNAUTHENTICATED")
        assert "wrong" not in done.stderr


def test_a_certificate_of_another_authority_is_not_trusted(secured: str, tmp_path: Path) -> None:
    other = Authority.new(tmp_path / "other")
    assert_fails(check("--address", secured, "--ca-file", str(other.file), *SOON), "not signed by --ca-file")


def test_a_certificate_for_another_name_is_not_trusted(secured: str, authority: Authority) -> None:
    by_number = secured.replace("localhost", "127.0.0.1")
    assert_fails(check("--address", by_number, "--ca-file", str(authority.file), *SOON), "for another name")


def test_plaintext_to_a_sidecar_with_tls_has_its_own_message(secured: str) -> None:
    assert_fails(check("--address", secured, *SOON), "does it speak TLS?")


def test_tls_to_a_sidecar_without_tls_has_its_own_message(sidecar: SidecarProcess, authority: Authority) -> None:
    assert_fails(check("--address", sidecar.address, "--ca-file", str(authority.file), *SOON), "does not speak TLS")


def test_a_file_without_a_certificate_is_reported(secured: str) -> None:
    assert_fails(check("--address", secured, "--ca-file", __file__, *SOON), "hold no certificate")


def test_a_client_certificate_is_sent_to_a_sidecar_that_requires_one(
    data_dir: Path, authority: Authority, certificate: Certificate
) -> None:
    flags = ("--tls-certificate-file", str(certificate.file), "--tls-key-file", str(certificate.key))
    with SidecarProcess(data_dir, *flags, "--tls-client-ca-file", str(authority.file)) as sidecar:
        common = ("--address", sidecar.address.replace("127.0.0.1", "localhost"), "--ca-file", str(authority.file))
        caller = authority.sign("agent")
        credentials = ("--certificate-file", str(caller.file), "--key-file", str(caller.key))
        assert_passes(check(*common, *credentials))
        assert_fails(check(*common, *SOON), "does it want a certificate?")
