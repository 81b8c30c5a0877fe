"""Counts of the fault and attack programme (`make test-adversary`): attacks that were tried, and that the sidecar held.

Each test reports its attacks through the fixture `attempts`. With ADVERSARY_RESULTS, each test leaves one file in that
folder; `tools.adversary_table` makes the table of all of them.
"""

import json
import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

ROUNDS = int(os.environ.get("ROUNDS", "1"))
"The size of the programme: 1 takes minutes, 100 is the size of the published table."

RESULTS = os.environ.get("ADVERSARY_RESULTS", "")


def random_source(part: object = "") -> random.Random:
    """Return a source of random choices that differ in each run. Its seed is printed; SEED repeats the choices."""
    seed = os.environ.get("SEED", f"{time.time_ns()} {part}")
    print(f"SEED={seed!r}")
    return random.Random(seed)


def scaled(per_round: float) -> int:
    """Return how often to try an attack that has this many attempts in a round; at least once."""
    return max(1, round(per_round * ROUNDS))


@dataclass
class Attack:
    """One row of the table. `expectation` states what is compared after each attempt."""

    name: str
    expectation: str
    tried: int = 0
    held: int = 0

    @contextmanager
    def attempt(self, count: int = 1) -> Iterator[None]:
        """Count attempts; they are held if the block raises nothing."""
        self.tried += count
        yield
        self.held += count


@dataclass
class Attempts:
    """The attacks of one test."""

    attacks: list[Attack] = field(default_factory=list)

    def of(self, name: str, expectation: str) -> Attack:
        attack = Attack(name, expectation)
        self.attacks.append(attack)
        return attack

    def save(self) -> None:
        for attack in self.attacks:
            save_result(vars(attack))


def save_result(result: dict[str, object]) -> None:
    """Save a row, if this run collects them."""
    if RESULTS:
        Path(RESULTS, f"{uuid4()}.json").write_text(json.dumps(result))
