"""The kinds of owned state: between them, all RPCs that write, except those of concurrent writers of one session."""

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from memsidecar.v1 import knowledge_pb2 as knowledge
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1 import session_pb2 as session
from memsidecar.v1.context_pb2 import DEGRADATION_STALE
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.faults.owned_state import AnyState, NextChange, OwnedState
from tests.support.process import CALL_SECONDS, Client

MAX_ITEMS = 8
"A state with more items is made smaller, so that it stays quick to read."


def long_text(word: str) -> str:
    """Return a text of up to some pages, with the word in each sentence."""
    size = int(hashlib.sha256(word.encode()).hexdigest()[:4], 16) % 150
    return " ".join(f"The report {word} has part {part}." for part in range(size + 1))


SessionChange = Callable[[Client, random.Random, int, Any], NextChange]


class SessionState(OwnedState):
    """The messages, scores and policy of a session: (policy, ((id, content, score), ...)), None without a session."""

    def empty(self) -> None:
        return None

    def read(self, client: Client) -> Any:
        found = client.sessions.GetSession(session.GetSessionRequest(session_id=self.name), timeout=CALL_SECONDS)
        messages = client.all(self.name, include_pruned=True)
        if not found.HasField("session"):
            assert not messages, "messages without a session"
            return None
        stats = found.session.stats
        assert stats.message_count + stats.pruned_count == len(messages)
        stored = tuple((message.id, message.content, message.evaluation_score) for message in messages)
        return found.session.policy.auto_prune_tokens, stored

    def texts(self, found: Any) -> Any:
        return found and [(message_id, content) for message_id, content, _ in found[1]]

    def next_change(self, client: Client, chance: random.Random) -> NextChange:
        policy, messages = self.state or (0, ())
        kinds: list[SessionChange] = [self._add, self._add_batch, self._store_interaction, self._set_policy]
        if self.state is not None:
            kinds.append(self._delete)
        if messages:
            kinds += [self._annotate, self._clear]
        if len(messages) > 4 * MAX_ITEMS:
            kinds = [self._clear, self._delete]
        return chance.choice(kinds)(client, chance, policy, messages)

    def _message(self) -> tuple[Message, tuple[str, str, float]]:
        word = self.new_word()
        return Message(id=word, role=ROLE_USER, content=long_text(word)), (word, long_text(word), 0.0)

    def _add(self, client: Client, _: random.Random, policy: int, messages: Any) -> NextChange:
        message, stored = self._message()
        request = memory.AddRequest(session_id=self.name, message=message)
        state = (policy, (*messages, stored))
        return NextChange("Add", state, lambda: client.memory.Add(request, timeout=CALL_SECONDS))

    def _add_batch(self, client: Client, chance: random.Random, policy: int, messages: Any) -> NextChange:
        made = [self._message() for _ in range(chance.randint(2, 4))]
        request = memory.AddBatchRequest(session_id=self.name, messages=[message for message, _ in made])
        state = (policy, (*messages, *(stored for _, stored in made)))
        return NextChange("AddBatch", state, lambda: client.memory.AddBatch(request, timeout=CALL_SECONDS))

    def _store_interaction(self, client: Client, _: random.Random, policy: int, messages: Any) -> NextChange:
        word = self.new_word()
        request = memory.StoreInteractionRequest(
            session_id=self.name, interaction_id=word, user_message=f"q {word}", assistant_message=long_text(word)
        )
        turn = ((f"{word}/user", f"q {word}", 0.0), (f"{word}/assistant", long_text(word), 0.0))
        state = (policy, (*messages, *turn))
        return NextChange(
            "StoreInteraction", state, lambda: client.memory.StoreInteraction(request, timeout=CALL_SECONDS)
        )

    def _annotate(self, client: Client, chance: random.Random, policy: int, messages: Any) -> NextChange:
        at, score = chance.randrange(len(messages)), float(chance.randint(1, 10))
        message_id, content, _ = messages[at]
        request = memory.AnnotateRequest(session_id=self.name, message_id=message_id, evaluation_score=score)
        state = (policy, (*messages[:at], (message_id, content, score), *messages[at + 1 :]))
        return NextChange("Annotate", state, lambda: client.memory.Annotate(request, timeout=CALL_SECONDS))

    def _set_policy(self, client: Client, chance: random.Random, _: int, messages: Any) -> NextChange:
        tokens = chance.randint(10_000_000, 20_000_000)
        policy = session.SessionPolicy(auto_prune_tokens=tokens)
        request = session.SetPolicyRequest(session_id=self.name, policy=policy)
        return NextChange(
            "SetPolicy", (tokens, messages), lambda: client.sessions.SetPolicy(request, timeout=CALL_SECONDS)
        )

    def _clear(self, client: Client, _: random.Random, policy: int, __: Any) -> NextChange:
        request = memory.ClearRequest(session_id=self.name)
        return NextChange("Clear", (policy, ()), lambda: client.memory.Clear(request, timeout=CALL_SECONDS))

    def _delete(self, client: Client, _: random.Random, __: int, ___: Any) -> NextChange:
        request = session.DeleteSessionRequest(session_id=self.name)
        return NextChange("DeleteSession", None, lambda: client.sessions.DeleteSession(request, timeout=CALL_SECONDS))


class FactState(OwnedState):
    """The facts of a user, superseded ones too: {(key, value, is current)}."""

    def empty(self) -> frozenset[Any]:
        return frozenset()

    def _list(self, client: Client) -> list[knowledge.Fact]:
        request = knowledge.ListFactsRequest(user_id=self.name, include_history=True, page_size=1000)
        return list(client.knowledge.ListFacts(request, timeout=CALL_SECONDS).facts)

    def read(self, client: Client) -> frozenset[Any]:
        facts = self._list(client)
        found = frozenset((fact.key, fact.value, not fact.HasField("valid_until")) for fact in facts)
        assert len(found) == len(facts), "a fact is stored twice"
        return found

    def texts(self, found: Any) -> Any:
        return {(key, value) for key, value, _ in found}

    def next_change(self, client: Client, chance: random.Random) -> NextChange:
        if len(self.state) > chance.randint(1, 2 * MAX_ITEMS):
            return self._delete(client, chance)
        put = {f"key {at}": self.new_word() for at in chance.sample(range(4), chance.randint(1, 3))}
        kind = knowledge.FACT_TYPE_USER_PROFILE
        facts = [knowledge.Fact(type=kind, key=key, value=value) for key, value in put.items()]
        request = knowledge.PutFactsRequest(user_id=self.name, facts=facts)
        kept = {(key, value, current and key not in put) for key, value, current in self.state}
        state = frozenset(kept | {(key, value, True) for key, value in put.items()})
        return NextChange("PutFacts", state, lambda: client.knowledge.PutFacts(request, timeout=CALL_SECONDS))

    def _delete(self, client: Client, chance: random.Random) -> NextChange:
        fact = chance.choice(self._list(client))
        request = knowledge.DeleteFactRequest(user_id=self.name, fact_id=fact.id)
        state = frozenset(known for known in self.state if known[1] != fact.value)
        return NextChange("DeleteFact", state, lambda: client.knowledge.DeleteFact(request, timeout=CALL_SECONDS))


class ArtifactState(OwnedState):
    """The artifacts of a session: {id: word of its content}."""

    def empty(self) -> dict[str, str]:
        return {}

    def read(self, client: Client) -> dict[str, str]:
        request = knowledge.ListArtifactsRequest(session_id=self.name)
        found = {
            artifact.id: artifact
            for artifact in client.knowledge.ListArtifacts(request, timeout=CALL_SECONDS).artifacts
        }
        assert all(artifact.content == long_text(artifact.source) for artifact in found.values())
        return {artifact_id: artifact.source for artifact_id, artifact in found.items()}

    def next_change(self, client: Client, chance: random.Random) -> NextChange:
        if self.state and chance.random() < 0.3:
            gone = chance.choice(list(self.state))
            left = {artifact_id: word for artifact_id, word in self.state.items() if artifact_id != gone}
            delete = knowledge.DeleteArtifactRequest(session_id=self.name, artifact_id=gone)
            return NextChange(
                "DeleteArtifact", left, lambda: client.knowledge.DeleteArtifact(delete, timeout=CALL_SECONDS)
            )
        artifact_id, word = f"artifact {chance.randint(1, 4)}", self.new_word()
        artifact = knowledge.Artifact(id=artifact_id, source=word, content=long_text(word))
        put = knowledge.PutArtifactRequest(session_id=self.name, artifact=artifact)
        state = {**self.state, artifact_id: word}
        return NextChange("PutArtifact", state, lambda: client.knowledge.PutArtifact(put, timeout=CALL_SECONDS))


class DocumentState(OwnedState):
    """The documents of a user: {id: word of its text}. Each found chunk is of the listed version."""

    def empty(self) -> dict[str, str]:
        return {}

    def read(self, client: Client) -> dict[str, str]:
        request = knowledge.ListDocumentsRequest(user_id=self.name)
        documents = client.knowledge.ListDocuments(request, timeout=CALL_SECONDS).documents
        found = {document.id: document.title for document in documents}
        hits = self._search(client)
        for hit in hits:
            assert hit.chunk.text in long_text(found[hit.chunk.document_id]), "a chunk of another version"
        chunks = Counter(hit.chunk.document_id for hit in hits)
        assert chunks == {document.id: document.chunk_count for document in documents}, "a chunk is missing"
        return found

    def _search(self, client: Client) -> Sequence[knowledge.DocumentHit]:
        """Return all chunks. On a busy machine a search may end before it has read the whole log, and says so."""
        search = knowledge.SearchDocumentsRequest(user_id=self.name, query="report part", limit=100)
        while True:
            response = client.knowledge.SearchDocuments(search, timeout=CALL_SECONDS)
            if DEGRADATION_STALE not in response.degraded:
                return list(response.hits)

    def next_change(self, client: Client, chance: random.Random) -> NextChange:
        if self.state and chance.random() < 0.3:
            gone = chance.choice(list(self.state))
            left = {document_id: word for document_id, word in self.state.items() if document_id != gone}
            delete = knowledge.DeleteDocumentRequest(user_id=self.name, document_id=gone)
            return NextChange(
                "DeleteDocument", left, lambda: client.knowledge.DeleteDocument(delete, timeout=CALL_SECONDS)
            )
        document_id, word = f"document {chance.randint(1, 4)}", self.new_word()
        document = knowledge.Document(id=document_id, title=word, text=long_text(word))
        put = knowledge.PutDocumentRequest(user_id=self.name, document=document)
        state = {**self.state, document_id: word}
        return NextChange("PutDocument", state, lambda: client.knowledge.PutDocument(put, timeout=CALL_SECONDS))


class SummaryState(OwnedState):
    """The messages of a session, and the newest that its summary covers: (messages, covered)."""

    def empty(self) -> tuple[int, int]:
        return 0, 0

    def read(self, client: Client) -> tuple[int, int]:
        request = knowledge.GetSummaryRequest(session_id=self.name)
        summary = client.knowledge.GetSummary(request, timeout=CALL_SECONDS).summary
        assert bool(summary.text) == bool(summary.last_sequence)
        messages = client.all(self.name)
        assert [message.sequence for message in messages] == list(range(1, len(messages) + 1))
        return len(messages), summary.last_sequence

    def acknowledged(self, response: Any, expected: Any) -> Any:
        """Return what the response says of the summary: a failed one leaves the old one."""
        if isinstance(response, knowledge.SummarizeResponse):
            return expected[0], response.summary.last_sequence
        return expected

    def next_change(self, client: Client, chance: random.Random) -> NextChange:
        count, covered = self.state
        if count > covered and chance.random() < 0.4:
            summarize = knowledge.SummarizeRequest(session_id=self.name)
            return NextChange(
                "Summarize", (count, count), lambda: client.knowledge.Summarize(summarize, timeout=CALL_SECONDS)
            )
        text = f"The house {self.new_word()} in Lisbon was built in {1900 + count}."
        message = Message(role=ROLE_USER, content=text)
        add = memory.AddRequest(session_id=self.name, message=message)
        return NextChange("Add", (count + 1, covered), lambda: client.memory.Add(add, timeout=CALL_SECONDS))


class UserState(OwnedState):
    """What a user has in two layers: (ids of the messages of a session, values of facts). ForgetUser erases both."""

    def empty(self) -> tuple[tuple[str, ...], frozenset[str]]:
        return (), frozenset()

    def read(self, client: Client) -> tuple[tuple[str, ...], frozenset[str]]:
        request = knowledge.ListFactsRequest(user_id=self.name, include_history=True, page_size=1000)
        facts = client.knowledge.ListFacts(request, timeout=CALL_SECONDS).facts
        messages = client.all(self.name)
        assert all(message.content == long_text(message.id) for message in messages)
        return tuple(message.id for message in messages), frozenset(fact.value for fact in facts)

    def next_change(self, client: Client, chance: random.Random) -> NextChange:
        messages, facts = self.state
        if len(messages) + len(facts) > chance.randint(1, 2 * MAX_ITEMS):
            forget = session.ForgetUserRequest(user_id=self.name)
            return NextChange(
                "ForgetUser", self.empty(), lambda: client.sessions.ForgetUser(forget, timeout=CALL_SECONDS)
            )
        word = self.new_word()
        if chance.random() < 0.5:
            message = Message(id=word, role=ROLE_USER, content=long_text(word))
            add = memory.AddRequest(session_id=self.name, user_id=self.name, message=message)
            state = ((*messages, word), facts)
            return NextChange("Add", state, lambda: client.memory.Add(add, timeout=CALL_SECONDS))
        fact = knowledge.Fact(type=knowledge.FACT_TYPE_INTEREST, key="likes", value=word)
        put = knowledge.PutFactsRequest(user_id=self.name, facts=[fact])
        state = (messages, facts | {word})
        return NextChange("PutFacts", state, lambda: client.knowledge.PutFacts(put, timeout=CALL_SECONDS))


class UsageState(OwnedState):
    """The calibration factor of a model. A report below half of the estimate is ignored, so it is a read."""

    def empty(self) -> float:
        return 1.0

    def _request(self, actual_tokens: int) -> memory.ReportUsageRequest:
        return memory.ReportUsageRequest(
            model=f"claude-{self.name}", estimated_tokens=1_000, actual_tokens=actual_tokens
        )

    def read(self, client: Client) -> float:
        return float(client.memory.ReportUsage(self._request(1), timeout=CALL_SECONDS).factor)

    def texts(self, found: Any) -> None:
        """Return nothing: a factor is a number."""

    def next_change(self, client: Client, chance: random.Random) -> NextChange:
        request = self._request(chance.randint(900, 1_500))
        return NextChange("ReportUsage", AnyState(), lambda: client.memory.ReportUsage(request, timeout=CALL_SECONDS))

    def acknowledged(self, response: Any, expected: Any) -> float:
        del expected
        return float(response.factor)


KINDS: tuple[type[OwnedState], ...] = (
    SessionState,
    FactState,
    ArtifactState,
    DocumentState,
    SummaryState,
    UserState,
    UsageState,
)


def one_of_each(name: str) -> list[OwnedState]:
    return [kind(f"{kind.__name__.removesuffix('State').lower()}{name}") for kind in KINDS]
