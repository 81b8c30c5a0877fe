"""The stable prefix, which providers cache: a context starts as the one before it, or reports where it differs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from memsidecar.v1.context_pb2 import BuildContextResponse
from memsidecar.v1.message_pb2 import Message
from tests.context_wire.agent import Agent, new_agent, shown_in, stored_messages
from tests.context_wire.generated_conversation import PROMPT, turns
from tests.context_wire.invariants import COUNTERS, digest_of
from tests.scenarios.index_readiness import until_index_is_ready
from tests.support.process import Client, SidecarProcess

TURNS = 100
REUSED_SHARE = 0.85


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    """Default settings with retrieval: retrieved items come after the cached prefix."""
    with SidecarProcess(tmp_path_factory.mktemp("prefix") / "data", "--index", "volatile") as running:
        until_index_is_ready(running)
        yield running


@pytest.fixture(scope="module")
def contexts(sidecar: SidecarProcess) -> list[BuildContextResponse]:
    with sidecar.client() as client:
        return list(contexts_of(new_agent(client, user=True)))


def contexts_of(agent: Agent) -> Iterator[BuildContextResponse]:
    for question, answer in turns(TURNS):
        agent.conversation.add(question)
        yield agent.build(system_prompt=PROMPT)
        agent.conversation.assistant(answer)


def reasons(before: BuildContextResponse, after: BuildContextResponse) -> set[str]:
    """Return the reasons for a changed prefix: new facts, a new summary, or an advanced window."""
    add_history = {name for name in ("FACTS", "HINTS", "SUMMARY") if shown_in(before, name) != shown_in(after, name)}
    moved = stored_messages(before.messages)[0].id != stored_messages(after.messages)[0].id
    return add_history | ({"MOVED"} if moved else set())


def test_the_prefix_is_the_same_unless_there_is_a_reason(contexts: list[BuildContextResponse]) -> None:
    kept = 0
    for before, after in pairwise(contexts):
        assert before.stable_prefix_sha256 == digest_of(before.messages[: before.stable_prefix_count])
        same = digest_of(after.messages[: before.stable_prefix_count]) == before.stable_prefix_sha256
        assert same or reasons(before, after), (before, after)
        kept += same
    assert kept >= 80


def test_the_prefix_is_all_but_retrieved_items_and_the_newest_question(contexts: list[BuildContextResponse]) -> None:
    for built in contexts:
        rest = built.messages[built.stable_prefix_count :]
        assert len(rest) == 1 + rest[0].synthetic
        assert not any(message.synthetic for message in built.messages[1 : built.stable_prefix_count])


@dataclass
class Cache:
    """Prompt cache of a provider: reuses the common prefix with the newest prompt, up to the first different word.

    Retrieved memory and the newest message are new in every prompt: what is counted is the rest, which can be reused.
    """

    before: list[Message] = field(default_factory=list)
    total: int = 0
    reused: int = 0

    def ask(self, messages: Sequence[Message]) -> None:
        """Send a prompt. `messages` are those that can be reused."""
        self.total += sum(message.tokens for message in messages)
        for old, new in zip(self.before, messages, strict=False):
            if (old.role, old.content) != (new.role, new.content):
                self.reused += COUNTERS.default.count(common(old.content, new.content)) if old.role == new.role else 0
                break
            self.reused += new.tokens
        self.before = list(messages)


def common(old: str, new: str) -> str:
    length = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return new[: new.rfind(" ", 0, length) + 1]


def test_most_of_a_prompt_is_reused(contexts: list[BuildContextResponse]) -> None:
    cache = Cache()
    for built in contexts:
        cache.ask(built.messages[: built.stable_prefix_count])
    assert cache.reused / cache.total >= REUSED_SHARE, cache.reused / cache.total


def test_with_the_query_appended_the_whole_conversation_is_stable(client: Client) -> None:
    agent, before = new_agent(client), BuildContextResponse()
    for question, answer in turns(4):
        built = agent.build(query=question, append_query=True, system_prompt=PROMPT)
        assert built.messages[-1].content == question
        assert (
            digest_of(built.messages[: before.stable_prefix_count]) == before.stable_prefix_sha256
            or not before.messages
        )
        agent.turns([(question, answer)])
        before = built
    assert before.stable_prefix_count == 1 + 6
