"""A watched file is reloaded when its new version is complete and valid; until then the old one is used."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memsidecar.access.access_file import read_access_file
from memsidecar.access.file_watcher import ReloadingFile
from memsidecar.access.policy import AccessPolicy, NamespaceLimits
from tests.access.access_files import Grant, write_access_file

OLD, NEW = Grant("old", ("n",)), Grant("new", ("n",))
KEEPS_OLD_VERSION = "the new one cannot be used, and the old one stays"


def watch(file: Path, *before_readings: Callable[[], object]) -> ReloadingFile[AccessPolicy]:
    """Watch the file; call each of `before_readings` before one reading."""
    actions = iter(before_readings)

    def read() -> AccessPolicy:
        next(actions, lambda: None)()
        return read_access_file(file, NamespaceLimits())

    return ReloadingFile("access_file", (file,), read)


def callers(watched: ReloadingFile[AccessPolicy]) -> set[str]:
    watched.poll()
    return {token.caller.name for token in watched.value.tokens.values()}


def overwrite(file: Path, text: str) -> None:
    """Write in place, after a pause: timestamps of file systems have a resolution of milliseconds."""
    time.sleep(0.02)
    file.write_text(text, encoding="utf-8")


@pytest.fixture
def watched(access_file: Path) -> ReloadingFile[AccessPolicy]:
    write_access_file(access_file, [OLD])
    return watch(access_file)


def test_a_file_that_is_replaced_is_read_again(watched: ReloadingFile[AccessPolicy], access_file: Path) -> None:
    assert callers(watched) == {"old"}
    write_access_file(access_file, [OLD, NEW])
    assert callers(watched) == {"old", "new"}
    write_access_file(access_file, [NEW])
    assert callers(watched) == {"new"}


def test_a_file_that_is_written_in_place_is_read_again(watched: ReloadingFile[AccessPolicy], access_file: Path) -> None:
    overwrite(access_file, NEW.lines)
    assert callers(watched) == {"new"}


def test_a_change_that_keeps_size_and_time_is_noticed(watched: ReloadingFile[AccessPolicy], access_file: Path) -> None:
    before = access_file.stat()
    overwrite(access_file, NEW.lines)
    os.utime(access_file, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = access_file.stat()
    assert (after.st_ino, after.st_size, after.st_mtime_ns) == (before.st_ino, before.st_size, before.st_mtime_ns)
    assert callers(watched) == {"new"}


def mount(folder: Path, version: str, grants: list[Grant]) -> Path:
    """Mount a secret as Kubernetes does: the file links into ..data, a folder link that is swapped atomically."""
    (folder / version).mkdir()
    write_access_file(folder / version / "access.toml", grants)
    link = folder / "..data_tmp"
    link.symlink_to(version)
    link.replace(folder / "..data")
    if not (folder / "access.toml").is_symlink():
        (folder / "access.toml").symlink_to("..data/access.toml")
    return folder / "access.toml"


def test_a_mounted_secret_is_read_again_when_its_links_are_swapped(tmp_path: Path) -> None:
    watched = watch(mount(tmp_path, "..2026_01", [OLD]))
    assert callers(watched) == {"old"}
    mount(tmp_path, "..2026_02", [NEW])
    assert callers(watched) == {"new"}
    mount(tmp_path, "..2026_03", [OLD, NEW])
    assert callers(watched) == {"old", "new"}


def test_a_file_that_did_not_change_is_not_read(access_file: Path) -> None:
    reads: list[int] = []
    write_access_file(access_file, [OLD])
    watched = watch(access_file, *[lambda: reads.append(1)] * 9)
    for _ in range(5):
        watched.poll()
    assert len(reads) == 1


def test_an_invalid_file_changes_nothing_and_is_logged_once(
    watched: ReloadingFile[AccessPolicy], access_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    access_file.write_text(OLD.lines.replace("role", "rolle"), encoding="utf-8")
    for _ in range(3):
        assert callers(watched) == {"old"}
    assert caplog.text.count(KEEPS_OLD_VERSION) == 1 and "rolle" in caplog.text
    assert OLD.token.hash not in caplog.text
    access_file.write_text("tokens = 5", encoding="utf-8")
    assert callers(watched) == {"old"}
    assert caplog.text.count(KEEPS_OLD_VERSION) == 2
    write_access_file(access_file, [NEW])
    assert callers(watched) == {"new"}


def test_a_file_that_becomes_invalid_again_is_logged_again(
    watched: ReloadingFile[AccessPolicy], access_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    aside = access_file.with_name("aside")
    for times in (1, 2):
        access_file.rename(aside)
        assert callers(watched) == {"old"}
        assert caplog.text.count(KEEPS_OLD_VERSION) == times
        aside.rename(access_file)
        assert callers(watched) == {"old"}


def test_a_removed_file_changes_nothing_until_it_is_back(
    watched: ReloadingFile[AccessPolicy], access_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    access_file.unlink()
    for _ in range(3):
        assert callers(watched) == {"old"}
    assert caplog.text.count(KEEPS_OLD_VERSION) == 1 and "No such file" in caplog.text
    write_access_file(access_file, [NEW])
    assert callers(watched) == {"new"}


def test_the_last_token_can_be_revoked(watched: ReloadingFile[AccessPolicy], access_file: Path) -> None:
    access_file.write_text("", encoding="utf-8")
    assert callers(watched) == set()


def test_a_file_that_changes_while_it_is_read_is_loaded_by_the_next_poll(access_file: Path) -> None:
    write_access_file(access_file, [OLD])
    watched = watch(access_file, lambda: None, lambda: write_access_file(access_file, [NEW]))
    write_access_file(access_file, [OLD, NEW])
    assert callers(watched) == {"old"}  # [OLD, NEW] was gone before it was read
    assert callers(watched) == {"new"}


def test_a_file_that_changes_at_the_first_reading_is_read_again(access_file: Path) -> None:
    write_access_file(access_file, [OLD])
    watched = watch(access_file, lambda: write_access_file(access_file, [NEW]))
    assert callers(watched) == {"new"}
    write_access_file(access_file, [OLD])
    assert callers(watched) == {"old"}


def test_a_file_with_too_deep_nesting_changes_nothing(watched: ReloadingFile[AccessPolicy], access_file: Path) -> None:
    access_file.write_text("tokens = " + "[" * 5_000, encoding="utf-8")
    assert callers(watched) == {"old"}
