"""`memsidecar doctor` and `memsidecar reindex`."""

from contextlib import ExitStack

from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm

from memsidecar.assembly.components import embedders
from memsidecar.assembly.storage import open_index, open_journal
from memsidecar.domain.errors import StartRefused
from memsidecar.layers.episodic.memory import IndexRebuild
from memsidecar.settings import Settings
from memsidecar.stores.sqlite.integrity import examine


def run_doctor(settings: Settings) -> int:
    """Examine the data directory and return the exit code: 0 if it has no damage."""
    findings = examine(settings.data_dir)
    for finding in findings:
        print(finding)
    print(f"{settings.data_dir}: {'damaged' if findings else 'whole'}")
    return 1 if findings else 0


def run_reindex(settings: Settings) -> int:
    """Rebuild the index from the journal and return the exit code."""
    if settings.journal == "volatile" or settings.index != "lancedb":
        raise StartRefused("there is no index on disk to rebuild: the journal or the index is not stored on disk")
    if not settings.data_dir.is_dir():
        raise StartRefused(f"{settings.data_dir} is not a data directory")
    configured_embedders = embedders(settings)
    with ExitStack() as opened:
        journal = open_journal(settings)
        opened.callback(journal.close)
        index = open_index(settings)
        opened.callback(index.close)
        reindex = IndexRebuild(journal, index, configured_embedders)
        opened.enter_context(logging_redirect_tqdm())
        bar = opened.enter_context(tqdm(total=reindex.total(), unit=" entries", desc="indexing"))
        reindex(bar.update)
    return 0
