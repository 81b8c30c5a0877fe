"""A language model on a real socket that finds no facts, and answers requests for summaries as a test chooses."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from tests.context_wire.agent import Agent
from tests.endpoint import server as serve
from tests.endpoint.server import Behaviour
from tests.language.model_server import ModelServer, answer_with, has_format
from tests.support.process import SidecarProcess

NAME = "some/model"
GOOD = "The user asked about huts in the mountains, and each hut has some beds."

no_facts = answer_with('{"facts": []}')


def of_summaries(behave: Behaviour) -> Behaviour:
    """Return the behaviour for requests for summaries; those for facts are answered validly."""
    return lambda handler, request: (no_facts if has_format(request) else behave)(handler, request)


good = of_summaries(answer_with(GOOD))
ANSWERS: dict[str, str] = {
    "NONE": "NONE",
    "nothing": "",
    "garbage": "xk3 9fj qqz vbn \u0000 \u202e \ufffd",
    "a refusal": "I'm sorry, I can't summarise that.",
    "far too long": "hut " * 5_000,
}


def twice_as_long() -> Behaviour:
    return of_summaries(answer_with(" ".join(f"Hut {at} has {at + 7} beds." for at in range(90))))


FAILURES: dict[str, Callable[[Event], Behaviour]] = {
    "malformed JSON": lambda _: serve.content(b'{"choices": [{"message": '),
    "500": lambda _: serve.status(500),
    "hangs": serve.silent_until,
}


def timeout_for(failure: str) -> float:
    """Return the timeout in seconds: short for a server that hangs, else long enough for a busy machine."""
    return 0.4 if failure == "hangs" else 30.0


@contextmanager
def with_model(data_dir: Path, server: ModelServer, *flags: str, failure: str = "") -> Iterator[SidecarProcess]:
    timeout = ("--model-timeout-seconds", str(timeout_for(failure)))
    model = ("--model-url", server.url, "--model-name", NAME, *timeout)
    with SidecarProcess(data_dir, *model, *flags) as running:
        yield running
        assert "Traceback" not in running.log()


def add_turns_about_huts(agent: Agent, turns: int, first: int = 0) -> None:
    numbers = range(first, first + turns)
    agent.turns((f"What about hut number {at}?", f"Hut {at} has {at + 7} beds.") for at in numbers)
