"""An agent: adds messages, builds contexts, and reads facts, summaries and patterns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from memsidecar.v1 import context_pb2, knowledge_pb2
from memsidecar.v1.context_pb2 import (
    SECTION_WORKING,
    BuildContextRequest,
    BuildContextResponse,
    Section,
    SectionBudget,
    SectionReceipt,
)
from memsidecar.v1.knowledge_pb2 import Fact, GetPatternsResponse, Summary
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_USER, Message
from tests.scenarios.conversation import Conversation
from tests.scenarios.knowledge_client import KnowledgeClient
from tests.support.process import CALL_SECONDS, Client
from tests.support.waiting import until


@dataclass(frozen=True)
class Agent:
    client: Client
    session_id: str
    namespace: str = ""
    user_id: str = ""

    @property
    def names(self) -> dict[str, Any]:
        return {"namespace": self.namespace, "user_id": self.user_id, "session_id": self.session_id}

    @property
    def conversation(self) -> Conversation:
        return Conversation(self.client, self.session_id, self.namespace, self.user_id)

    @property
    def knowledge_client(self) -> KnowledgeClient:
        """Return a client for knowledge of the user; without a user, of the session."""
        session_id = "" if self.user_id else self.session_id
        return KnowledgeClient(self.client, self.namespace, self.user_id, session_id)

    def turns(self, turns: Iterable[tuple[str, str]]) -> None:
        """Add questions and answers in one batch; an empty answer is omitted."""
        roles_and_texts = [
            (role, text) for turn in turns for role, text in zip((ROLE_USER, ROLE_ASSISTANT), turn, strict=True)
        ]
        self.conversation.add_batch(*(Message(role=role, content=text) for role, text in roles_and_texts if text))

    # -- contexts

    def build(self, seconds: float = CALL_SECONDS, **fields: Any) -> BuildContextResponse:
        return self.built(BuildContextRequest(**{**self.names, **fields}), seconds)

    def build_recent(self, turns: int = 5, seconds: float = CALL_SECONDS) -> BuildContextResponse:
        """Build a context of the newest turns. A conversation of more turns is summarized, even if it would fit."""
        return self.build(seconds, sections=[SectionBudget(section=SECTION_WORKING, top_k=turns)])

    def built(self, request: BuildContextRequest, seconds: float = CALL_SECONDS) -> BuildContextResponse:
        answer: BuildContextResponse = self.client.memory.BuildContext(request, timeout=seconds)
        return answer

    # -- derived knowledge

    def facts(self, **fields: Any) -> list[Fact]:
        return self.knowledge_client.facts(page_size=1_000, **fields)

    def known(self) -> set[tuple[str, str]]:
        """Return keys and values of current facts."""
        return {(fact.key, fact.value) for fact in self.facts()}

    def until_known(self, *wanted: tuple[str, str]) -> None:
        until(lambda: self.known() >= set(wanted))

    def summary(self) -> Summary | None:
        request = knowledge_pb2.GetSummaryRequest(**self.names)
        answer = self.client.knowledge.GetSummary(request, timeout=CALL_SECONDS)
        return answer.summary if answer.HasField("summary") else None

    def summarize(self, max_tokens: int = 0) -> Summary | None:
        request = knowledge_pb2.SummarizeRequest(**self.names, max_tokens=max_tokens)
        answer = self.client.knowledge.Summarize(request, timeout=CALL_SECONDS)
        return answer.summary if answer.HasField("summary") else None

    def patterns(self, refresh: bool = True) -> GetPatternsResponse:
        names = {"namespace": self.namespace, "user_id": self.user_id}
        request = knowledge_pb2.GetPatternsRequest(**names, refresh=refresh)
        answer: GetPatternsResponse = self.client.knowledge.GetPatterns(request, timeout=CALL_SECONDS)
        return answer


def new_agent(client: Client, user: bool = False) -> Agent:
    """Return an agent with a new session, and with a new user on request."""
    return Agent(client, f"session-{uuid4()}", user_id=f"user-{uuid4()}" if user else "")


# -- readers of a response


def section_of(built: BuildContextResponse, name: str) -> SectionReceipt:
    (receipt,) = [section for section in built.receipt.sections if Section.Name(section.section) == f"SECTION_{name}"]
    return receipt


def shown_in(built: BuildContextResponse, name: str) -> list[str]:
    """Return the ids of the included items of a section, in order."""
    return [item.id for item in section_of(built, name).items if item.included]


def degradations(built: BuildContextResponse) -> set[str]:
    return {context_pb2.Degradation.Name(one).removeprefix("DEGRADATION_") for one in built.degraded}


def stored_messages(messages: Sequence[Message]) -> list[Message]:
    """Return the messages of the session, without synthetic ones."""
    return [message for message in messages if not message.synthetic]
