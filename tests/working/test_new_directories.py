"""Every new parent of a data directory is synced, so that power loss does not remove it."""

from pathlib import Path

from tests.faults.shim import Shim
from tests.support.process import SidecarProcess
from tests.working.components import QUICK

NEW = ("one", "two", "three", "data")


def test_the_parent_of_every_new_directory_is_synced(tmp_path: Path) -> None:
    shim = Shim(tmp_path)
    deep = tmp_path.joinpath(*NEW)
    flags = (*QUICK, "--data-dir", str(deep))
    with SidecarProcess(tmp_path / "log", *flags, environ=shim.environ) as sidecar, sidecar.client() as client:
        client.add("s", "hello")
        synced = {Path(sync.path) for name in (tmp_path.name, *NEW) for sync in shim.syncs(name)}
    assert (deep / "journal.db").exists()
    assert synced >= {deep, *(parent for parent in deep.parents if parent.is_relative_to(tmp_path))}
