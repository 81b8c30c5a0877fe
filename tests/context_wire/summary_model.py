"""A language model behind a real socket that knows no facts, and says of summaries what a test wants."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from tests.context_wire.agent import Agent
from tests.endpoint import server as serve
from tests.endpoint.server import Behaviour
from tests.language.model_server import ModelServer, has_format, said
from tests.support.process import SidecarProcess

NAME = "some/model"
GOOD = "The user asked about huts in the mountains, and each hut has some beds."

no_facts = said('{"facts": []}')


def of_summaries(behave: Behaviour) -> Behaviour:
    """Only the questions for facts are answered well."""
    return lambda handler, request: (no_facts if has_format(request) else behave)(handler, request)


good = of_summaries(said(GOOD))
ANSWERS: dict[str, str] = {
    "NONE": "NONE",
    "nothing": "",
    "garbage": "xk3 9fj qqz vbn \u0000 \u202e \ufffd",
    "a refusal": "I'm sorry, I can't summarise that.",
    "far too long": "hut " * 5_000,
}


def twice_as_long() -> Behaviour:
    return of_summaries(said(" ".join(f"Hut {at} has {at + 7} beds." for at in range(90))))


FAILURES: dict[str, Callable[[Event], Behaviour]] = {
    "malformed JSON": lambda _: serve.content(b'{"choices": [{"message": '),
    "500": lambda _: serve.status(500),
    "hangs": serve.silent_until,
}


def patience_with(failure: str) -> float:
    """In seconds: short for what hangs. Whatever answers may take its time, as it does on a busy machine."""
    return 0.4 if failure == "hangs" else 30.0


@contextmanager
def with_model(data_dir: Path, server: ModelServer, *flags: str, failure: str = "") -> Iterator[SidecarProcess]:
    patience = ("--model-timeout-seconds", str(patience_with(failure)))
    model = ("--model-url", server.url, "--model-name", NAME, *patience)
    with SidecarProcess(data_dir, *model, *flags) as running:
        yield running
        assert "Traceback" not in running.log()


def talk_of_huts(agent: Agent, turns: int, first: int = 0) -> None:
    numbers = range(first, first + turns)
    agent.turns((f"What about hut number {at}?", f"Hut {at} has {at + 7} beds.") for at in numbers)
