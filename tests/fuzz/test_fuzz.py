"""A short share of `make fuzz`: no input is answered with an internal error, ends the process, or hangs."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.fuzz.__main__ import check, start_sidecar
from tests.fuzz.files import fuzz_access_files, fuzz_settings_files
from tests.fuzz.import_files import fuzz_import_files
from tests.fuzz.wire import fuzz_page_tokens, fuzz_requests
from tests.support.process import SidecarProcess

SEED = 20_261_118


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    with start_sidecar(tmp_path_factory.mktemp("fuzz")) as running:
        yield running


def ignore() -> None:
    """Show no progress."""


def test_an_arbitrary_request_gets_a_documented_status(sidecar: SidecarProcess) -> None:
    statuses = fuzz_requests(3_000, Random(SEED), sidecar, ignore)
    assert statuses.keys() >= {"OK", "INVALID_ARGUMENT", "NOT_FOUND"}, "the inputs reach the layers"
    check(sidecar)


def test_an_arbitrary_page_token_is_refused(sidecar: SidecarProcess) -> None:
    assert fuzz_page_tokens(1_000, Random(SEED), sidecar, ignore).keys() == {"OK", "INVALID_ARGUMENT"}
    check(sidecar)


def test_an_arbitrary_access_file_is_read_or_refused(tmp_path: Path) -> None:
    fuzz_access_files(2_000, Random(SEED), tmp_path, ignore)


def test_an_arbitrary_settings_file_is_read_or_refused(tmp_path: Path) -> None:
    fuzz_settings_files(1_000, Random(SEED), tmp_path, ignore)


def test_an_arbitrary_import_file_is_read_or_refused(tmp_path: Path) -> None:
    fuzz_import_files(2_000, Random(SEED), tmp_path, ignore)
