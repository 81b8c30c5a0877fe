"""A real sidecar for the tests that need one."""

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.forked_sidecar import ForkServer
from runner.sidecar_process import SidecarProcess


@pytest.fixture(scope="session")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    folder: Path = tmp_path_factory.mktemp("sidecar")
    server = ForkServer()
    process = SidecarProcess(server, folder, "127.0.0.1:0", ["--index", "volatile"])
    yield process
    process.kill()
    server.close()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a coroutine test in a new event loop."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
