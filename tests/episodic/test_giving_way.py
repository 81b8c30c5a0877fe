"""Making rows for the index gives way after every text, and changes nothing by it."""

from collections.abc import Callable
from contextlib import closing

import numpy as np

from memsidecar.domain.session import SessionKey
from memsidecar.layers.episodic.harvesting import TEXTS_AT_ONCE, Gathering, Vectoring
from memsidecar.stores.contract import Append, Harvest, Journal
from memsidecar.stores.volatile import VolatileJournal
from tests.conformance.said import carry_out, draft
from tests.episodic.parts import ToyEmbedder

MESSAGES = 3 * TEXTS_AT_ONCE


def harvested(journal: Journal, give_way: Callable[[], None]) -> Harvest:
    gathering = Gathering(journal)
    for entry in journal.news("a", 0, 1_000):
        gathering.take(entry)
    return gathering.harvest(Vectoring(ToyEmbedder()), give_way)


def test_others_are_let_go_first_between_any_two_texts() -> None:
    pauses: list[None] = []
    with closing(VolatileJournal()) as journal:
        drafts = [draft(f"tea number {at}") for at in range(MESSAGES)]
        carry_out(journal, Append(SessionKey("a", "s"), "", drafts))
        plain = harvested(journal, lambda: None)
        polite = harvested(journal, lambda: pauses.append(None))
    assert len(pauses) >= MESSAGES
    assert plain.episodes is not None
    assert polite.episodes is not None
    assert plain.episodes.words == polite.episodes.words
    assert np.array_equal(plain.episodes.vectors, polite.episodes.vectors)
