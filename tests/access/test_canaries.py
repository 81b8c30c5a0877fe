"""The search for secrets in logs is able to fail."""

from pathlib import Path

import pytest

from tests.support import canaries
from tests.support.process import SidecarProcess

ADDRESS = "nowhere:1"
SPOKEN = "the heron stands in the reeds"


def test_a_log_without_secrets_passes() -> None:
    canaries.record_content(ADDRESS, SPOKEN)
    canaries.check_log("call method=Add code=OK\n", ADDRESS)
    canaries.check_log(f"said: {SPOKEN}", "nowhere:2")


@pytest.mark.parametrize(
    "logged",
    [
        f"said: {canaries.CANARY}",
        f"said: {SPOKEN}!",
        f"with {canaries.secret('msc_0123456789ab_made-up')} in it",
    ],
)
def test_secrets_and_content_are_found(logged: str) -> None:
    canaries.record_content(ADDRESS, f'"{SPOKEN}"\nsaid the fox')
    with pytest.raises(AssertionError, match="the log holds secrets or content"):
        canaries.check_log(f"a line\n{logged}\nanother", ADDRESS)


def test_a_key_in_a_file_is_a_secret(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("-----BEGIN KEY-----\nQm90aCBoYWx2ZXMgb2YgdGhlIGtleQ\n-----END KEY-----\n")
    canaries.record_key_files(("--tls-key-file", str(key), "--listen", "x:1"))
    with pytest.raises(AssertionError):
        canaries.check_log("loaded Qm90aCBoYWx2ZXMgb2YgdGhlIGtleQ", ADDRESS)
    canaries.check_log("loaded -----BEGIN KEY-----", ADDRESS)


def test_a_sidecar_that_logged_a_secret_fails_its_test(tmp_path: Path) -> None:
    sidecar = SidecarProcess(tmp_path / "data")
    with sidecar.log_path.open("a") as log:
        log.write(f"said: {canaries.CANARY}\n")
    with pytest.raises(AssertionError, match="the log holds secrets or content"):
        sidecar.kill()
