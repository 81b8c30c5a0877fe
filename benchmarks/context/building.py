"""Compare BuildContext over gRPC with the Search that it contains, for a user with few messages and one with many.

Both calls ask the same questions in the user's scope, one call at a time. The Search returns as many hits as the build
loads at its budget (`hits_at`). What a build takes beyond it is the conversation, facts, corrections and neighbours of
the memories, packing, counting and the receipt.

The server has no minimum of relevance. The questions are random words, which by default nearly no memory is relevant
to, so that a build would have nothing to do.
"""

import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import requests
from benchmarks.measuring import Result
from benchmarks.retrieval import corpus
from benchmarks.retrieval.effort import Effort
from benchmarks.retrieval.searching import load, running
from benchmarks.retrieval.watching import IndexFiles, until_indexed, until_quiet
from benchmarks.servers import Figures, Running, Shape
from memsidecar.context.budgets import Budgets, section_limits
from memsidecar.context.retrieval import loaded_hits
from memsidecar.settings import Settings
from memsidecar.v1.context_pb2 import SECTION_EPISODIC, BuildContextRequest

QUESTIONS = 500
CALLERS = 8
FEW_SHARE = 100
"The user with few messages has this fraction (1 / FEW_SHARE) of the other's."
BEYOND_SEARCH_MS, GROWTH, P99_BESIDE_P50 = 3, 1.5, 4
BUDGETS = (800, 2_000, 8_000)
DEFAULT_BUDGET = Budgets().context
_SYSTEM = "You are a helpful assistant who remembers what was said and answers to the point. " * 6
"Fits the share of the system prompt at the smallest budget."


@dataclass
class Times:
    """Medians of rounds at one budget, in microseconds; those of many callers at the default budget only."""

    user: str
    budget: int
    search: list[float] = field(default_factory=list)
    context: list[float] = field(default_factory=list)
    crowded: list[Figures] = field(default_factory=list)

    @property
    def beyond_ms(self) -> float:
        return statistics.median(b - a for a, b in zip(self.search, self.context, strict=True)) / 1_000


def building(effort: Effort, folder: Path) -> Iterator[Result]:
    sizes = {"few": max(1, effort.messages // FEW_SHARE), "many": effort.messages}
    with running(folder, "--similarity-threshold", "0") as server:
        for user, size in sizes.items():
            load(server, list(_turns(user, size)))
        until_indexed(IndexFiles.of(folder / "data"), sum(sizes.values()))
        until_quiet(server)
        times = [Times(user, budget) for user in sizes for budget in BUDGETS]
        for _ in range(effort.rounds):
            for measured in times:
                _round(server, folder, effort, measured)
    yield from _results(sizes, times)


def _turns(user: str, size: int) -> Iterator[corpus.Turn]:
    """Yield turns that all belong to the user."""
    for turn in corpus.turns(size):
        yield corpus.Turn(f"{user}-{turn.id}", user, f"{user}-{turn.session}", turn.text)


def _round(server: Running, folder: Path, effort: Effort, times: Times) -> None:
    user, budget, questions = times.user, times.budget, corpus.queries(QUESTIONS)
    searches = requests.write(folder / f"{user}-searches", corpus.searches(user, questions, hits_at(budget)))
    contexts = requests.write(folder / f"{user}-contexts", _contexts(user, questions, budget))
    one, crowd = Shape(1, 1, effort.seconds), Shape(CALLERS, CALLERS, effort.seconds)
    times.search.append(server.load("Search", searches, one, repeat=True).p50_us)
    times.context.append(server.load("BuildContext", contexts, one, repeat=True).p50_us)
    if budget == DEFAULT_BUDGET:
        times.crowded.append(server.load("BuildContext", contexts, crowd, repeat=True))


def hits_at(budget: int) -> int:
    """Return how many hits a build loads at a budget with default settings."""
    limits = section_limits(budget, budget, Budgets(), {})
    return loaded_hits(limits[SECTION_EPISODIC], Settings().rerank_top_n)


def _contexts(user: str, questions: list[str], budget: int) -> Iterator[bytes]:
    """Yield requests for a session of the user with fifty messages."""
    session = f"{user}-{corpus.turns(1)[0].session}"
    for question in questions:
        yield BuildContextRequest(
            namespace=corpus.NAMESPACE,
            user_id=user,
            session_id=session,
            query=question,
            system_prompt=_SYSTEM,
            max_tokens=budget,
        ).SerializeToString()


def _results(sizes: dict[str, int], times: list[Times]) -> Iterator[Result]:
    for measured in times:
        name = f"BuildContext of {measured.budget:,} tokens, a user with {sizes[measured.user]:,} messages"
        yield Result(
            f"{name}: p50 beyond that of its Search",
            measured.beyond_ms,
            BEYOND_SEARCH_MS,
            at_most=True,
            unit="ms",
            details={
                "p50_us": statistics.median(measured.context),
                "p50_us of its Search": statistics.median(measured.search),
                "hits of its Search": hits_at(measured.budget),
            },
        )
    few, many = [measured for measured in times if measured.budget == DEFAULT_BUDGET]
    for measured in (few, many):
        spread = statistics.median(each.p99_us / each.p50_us for each in measured.crowded)
        name = f"BuildContext, a user with {sizes[measured.user]:,} messages: p99 / p50 of {CALLERS} callers"
        yield Result(name, spread, P99_BESIDE_P50, at_most=True)
    grown = statistics.median(many.search) - statistics.median(few.search)
    ratio = (statistics.median(many.context) - grown) / statistics.median(few.context)
    name = f"BuildContext, {sizes['many']:,} messages / {sizes['few']:,}, p50 without what Search grows"
    yield Result(name, ratio, GROWTH, at_most=True)


def everything(effort: Effort) -> Iterator[Result]:
    with tempfile.TemporaryDirectory(prefix="memsidecar-bench-") as folder:
        yield from building(effort, Path(folder))
