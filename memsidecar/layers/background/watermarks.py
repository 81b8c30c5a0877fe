"""How far each background task has come, in the terms of whoever waits for it: the sequences of a session."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from memsidecar.domain.session import Head
from memsidecar.stores.contract import Journal

Reached = Callable[[str], int | None]
"Up to which entry of a namespace's log a task is done; None where that is not known yet. Asked on any thread."


@dataclass(frozen=True)
class Watermarks:
    journal: Journal
    tasks: Mapping[str, Reached]

    def __call__(self, namespace: str, heads: Sequence[Head]) -> Sequence[Mapping[str, int]]:
        """For each of these sessions of the namespace, by task; with one read for all of them."""
        lsns = {task: lsn for task, reached in self.tasks.items() if (lsn := reached(namespace)) is not None}
        sequences = iter(self.journal.sequences_at([(head, lsn) for head in heads for lsn in lsns.values()]))
        return [dict(zip(lsns, islice(sequences, len(lsns)), strict=True)) for _ in heads]
