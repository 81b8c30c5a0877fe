"""Compare BuildContext over gRPC with the Search that it contains, for a user with few messages and one with many."""

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
from memsidecar.v1.context_pb2 import BuildContextRequest

QUESTIONS = 500
CALLERS = 8
FEW_SHARE = 100
"The user with few messages has this fraction (1 / FEW_SHARE) of the other's."
BEYOND_SEARCH_MS, GROWTH, P99_BESIDE_P50 = 3, 1.5, 4
POOL = 20
"Number of messages that BuildContext ranks and reads by default."
_SYSTEM = "You are a helpful assistant who remembers what was said and answers to the point. " * 12


@dataclass
class Times:
    """Medians of rounds, in microseconds."""

    search: list[float] = field(default_factory=list)
    context: list[float] = field(default_factory=list)
    crowded: list[Figures] = field(default_factory=list)

    @property
    def beyond_ms(self) -> float:
        return statistics.median(b - a for a, b in zip(self.search, self.context, strict=True)) / 1_000


def building(effort: Effort, folder: Path) -> Iterator[Result]:
    sizes = {"few": max(1, effort.messages // FEW_SHARE), "many": effort.messages}
    with running(folder) as server:
        for user, size in sizes.items():
            load(
                server,
                [
                    corpus.Turn(f"{user}-{turn.id}", user, f"{user}-{turn.session}", turn.text)
                    for turn in corpus.turns(size)
                ],
            )
        until_indexed(IndexFiles.of(folder / "data"), sum(sizes.values()))
        until_quiet(server)
        times = {user: Times() for user in sizes}
        for _ in range(effort.rounds):
            for user, measured in times.items():
                _round(server, folder, effort, user, measured)
    yield from _results(sizes, times)


def _turns(user: str, size: int) -> Iterator[corpus.Turn]:
    """Yield turns that all belong to the user."""
    for turn in corpus.turns(size):
        yield corpus.Turn(f"{user}-{turn.id}", user, f"{user}-{turn.session}", turn.text)


def _round(server: Running, folder: Path, effort: Effort, user: str, times: Times) -> None:
    questions = corpus.queries(QUESTIONS)
    searches = requests.write(folder / f"{user}-searches", corpus.searches(user, questions, POOL))
    contexts = requests.write(folder / f"{user}-contexts", _contexts(user, questions))
    one, crowd = Shape(1, 1, effort.seconds), Shape(CALLERS, CALLERS, effort.seconds)
    times.search.append(server.load("Search", searches, one, repeat=True).p50_us)
    times.context.append(server.load("BuildContext", contexts, one, repeat=True).p50_us)
    times.crowded.append(server.load("BuildContext", contexts, crowd, repeat=True))


def _contexts(user: str, questions: list[str]) -> Iterator[bytes]:
    """Yield requests for a session of the user with fifty messages."""
    session = f"{user}-{corpus.turns(1)[0].session}"
    for question in questions:
        yield BuildContextRequest(
            namespace=corpus.NAMESPACE, user_id=user, session_id=session, query=question, system_prompt=_SYSTEM
        ).SerializeToString()


def _results(sizes: dict[str, int], times: dict[str, Times]) -> Iterator[Result]:
    for user, size in sizes.items():
        name, measured = f"BuildContext, a user with {size:,} messages", times[user]
        details = {
            "p50_us": statistics.median(measured.context),
            "p50_us of its Search": statistics.median(measured.search),
        }
        yield Result(
            f"{name}: p50 beyond that of its Search",
            measured.beyond_ms,
            BEYOND_SEARCH_MS,
            at_most=True,
            unit="ms",
            details=details,
        )
        spread = statistics.median(each.p99_us / each.p50_us for each in measured.crowded)
        yield Result(f"{name}: p99 / p50 of {CALLERS} callers", spread, P99_BESIDE_P50, at_most=True)
    few, many = times["few"], times["many"]
    grown = statistics.median(many.search) - statistics.median(few.search)
    ratio = (statistics.median(many.context) - grown) / statistics.median(few.context)
    name = f"BuildContext, {sizes['many']:,} messages / {sizes['few']:,}, p50 without what Search grows"
    yield Result(name, ratio, GROWTH, at_most=True)


def everything(effort: Effort) -> Iterator[Result]:
    with tempfile.TemporaryDirectory(prefix="memsidecar-bench-") as folder:
        yield from building(effort, Path(folder))
