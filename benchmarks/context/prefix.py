"""Measure the share of a prompt that a provider's cache reuses: `python -m benchmarks.context.prefix --data FILE`.

FILE contains conversations of LoCoMo (licensed CC BY-NC 4.0, so it is not part of this repository). Each conversation
is added turn by turn as one session, and a context is built before each answer. A prefix cache reuses the tokens that a
prompt shares with the previous one, from the beginning to the first difference. For comparison, the same is measured
with all memory in front of the conversation, where many agents put it.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.retrieval.histories import History, locomo
from benchmarks.retrieval.searching import running, stub_of
from memsidecar.domain.message import Role
from memsidecar.tokens.registry import CounterRegistry
from memsidecar.v1 import memory_pb2
from memsidecar.v1.context_pb2 import BuildContextRequest, BuildContextResponse
from memsidecar.v1.message_pb2 import Message
from memsidecar.v1.message_pb2 import Role as RoleName

PROMPT_TOKENS = 200
_PROMPT = "You are a helpful companion who remembers what was said and answers kindly, shortly and to the point. "
_COUNT = CounterRegistry("o200k_base").default.count


@dataclass
class Cache:
    """Cache of a provider for the newest prompt."""

    before: list[str] = field(default_factory=list)
    total: int = 0
    reused: int = 0

    def ask(self, messages: Sequence[str]) -> None:
        self.total += sum(map(_COUNT, messages))
        self.reused += sum(map(_COUNT, _common(self.before, messages)))
        self.before = list(messages)

    @property
    def share(self) -> float:
        return self.reused / self.total if self.total else 0.0


def _common(before: Sequence[str], now: Sequence[str]) -> Iterator[str]:
    for old, new in zip(before, now, strict=False):
        if old != new:
            yield _beginning(old, new)
            return
        yield new


def _beginning(old: str, new: str) -> str:
    """Return the common prefix in whole words."""
    length = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return new[: new.rfind(" ", 0, length) + 1]


def _prompt() -> str:
    text = ""
    while _COUNT(text + _PROMPT) <= PROMPT_TOKENS:
        text += _PROMPT
    return text


def _line(message: Message) -> str:
    return f"{message.role} {message.name}: {message.content}"


def _as_built(context: BuildContextResponse) -> list[str]:
    return list(map(_line, context.messages))


def _memory_first(context: BuildContextResponse, prompt: str) -> list[str]:
    said = [
        f"{message.role} {message.name}: {message.content}" for message in context.messages if not message.synthetic
    ]
    return [f"1 : {prompt}\n{context.memory_text}", *said]


def measure(memory: Any, history: History, session_id: str) -> tuple[float, float]:
    built, first, prompt = Cache(), Cache(), _prompt()
    for name, pending in zip(history.ids, history.rows, strict=True):
        if pending.role == Role.ASSISTANT:
            request = BuildContextRequest(session_id=session_id, system_prompt=prompt)
            context = memory.BuildContext(request)
            built.ask(_as_built(context))
            first.ask(_memory_first(context, prompt))
        message = Message(id=name, role=RoleName.Name(pending.role), name=pending.name, content=pending.text)
        memory.Add(memory_pb2.AddRequest(session_id=session_id, user_id=session_id, message=message))
    return built.share, first.share


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, metavar="FILE", help="LoCoMo's conversations as JSON")
    options = parser.parse_args()
    names = [sample["sample_id"] for sample in json.loads(options.data.read_text())]
    with ExitStack() as opened:
        folder = opened.enter_context(tempfile.TemporaryDirectory(prefix="memsidecar-bench-"))
        memory = opened.enter_context(stub_of(opened.enter_context(running(Path(folder)))))
        for name, history in zip(names, locomo(options.data), strict=True):
            built, first = measure(memory, history, name)
            print(f"{name}: {built:.3f} of the prompt tokens reused; {first:.3f} with memory in front", flush=True)


if __name__ == "__main__":
    main()
