"""Retrieval is opened in the background: a failure is logged, and opening is retried."""

import asyncio
import logging
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from memsidecar.api.executors import Executors
from memsidecar.api.server import EPISODIC, Server
from memsidecar.assembly import components, serve
from memsidecar.domain.errors import DataCorrupted
from memsidecar.layers.episodic import EpisodicLimits, EpisodicMemory
from memsidecar.settings import Settings
from memsidecar.stores.contract import Index, IndexUnavailable
from memsidecar.stores.volatile.index import VolatileIndex
from memsidecar.stores.volatile.journal import VolatileJournal


class Health:
    """Records the services that are set to serving."""

    def __init__(self) -> None:
        self.serving: list[str] = []

    async def set_serving(self, service: str) -> None:
        self.serving.append(service)


@pytest.mark.parametrize(
    "problem",
    [ImportError("no lancedb"), DataCorrupted("rotten", file="journal.db"), IndexUnavailable("away"), OSError("full")],
    ids=lambda problem: type(problem).__name__,
)
def test_a_failure_to_open_retrieval_is_logged_and_retried(
    data_dir: Path, problem: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    problems, health = [problem], Health()

    def open_index(_: Settings) -> Index:
        if problems:
            raise problems.pop()
        return VolatileIndex()

    monkeypatch.setattr(serve, "open_index", open_index)
    settings = Settings(data_dir=data_dir)
    with closing(VolatileJournal()) as journal:
        episodic = EpisodicMemory(journal, components.embedders(settings), EpisodicLimits())
        with closing(episodic), caplog.at_level(logging.INFO):

            async def open_twice() -> list[bool]:
                with closing(Executors(1)) as executors:
                    server = cast(Server, health)
                    return [await serve._open_retrieval(settings, episodic, server, executors) for _ in range(2)]

            opened = asyncio.run(open_twice())
            assert (opened, episodic.ready, health.serving) == ([False, True], True, [EPISODIC])
    (line,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert line.exc_info is not None and line.exc_info[1] is problem
