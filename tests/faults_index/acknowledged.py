"""Acknowledged messages of one namespace: the oracle of what must be readable, found and indexed."""

from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from memsidecar.layers.episodic.log_tail import MAX_FALLBACK_MESSAGES
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1 import session_pb2
from memsidecar.v1.context_pb2 import Degradation
from memsidecar.v1.message_pb2 import SCOPE_NAMESPACE, Message, Role
from tests.faults_index.index_files import Place
from tests.support.process import CALL_SECONDS, Client

FLAGS = ("--index", "lancedb", "--tokenizer", "chars4", "--log-calls", "none", "--index-linger-ms", "0")
"Each batch is one commit of LanceDB."

TOPICS = (
    "our cat sleeps on the sofa",
    "the invoice is due on Friday",
    "we fly to Lisbon in May",
    "he plays the violin",
)


def new_word() -> str:
    """Return a unique word that is its own stem."""
    return f"w{uuid4().int % 10**15:015d}"


@dataclass
class AcknowledgedMessages:
    """Messages of one namespace, written by one caller at a time."""

    namespace: str = "default"
    user_id: str = "alice"
    contents: dict[Place, str] = field(default_factory=dict)
    "The content of each acknowledged message."
    words: dict[Place, str] = field(default_factory=dict)
    "The unique word of each message."

    def scope_ids(self, session: str) -> dict[str, Any]:
        return {"namespace": self.namespace, "user_id": self.user_id, "session_id": session}

    @property
    def sessions(self) -> set[str]:
        return {session for session, _ in self.contents}

    # -- writing

    def add(self, client: Client, session: str, content: str = "", **fields: Any) -> pb.AddResponse:
        word = new_word()
        text = f"{content or TOPICS[len(self.contents) % len(TOPICS)]} {word}"
        answer = client.add(session, text, namespace=self.namespace, user_id=self.user_id, **fields)
        self.record(session, answer.sequence, text, word)
        return answer

    def add_many(self, client: Client, session: str, count: int) -> None:
        """Add messages in one batch."""
        words = [new_word() for _ in range(count)]
        texts = [f"{TOPICS[at % len(TOPICS)]} {word}" for at, word in enumerate(words)]
        messages = [Message(role=Role.ROLE_USER, content=text) for text in texts]
        request = pb.AddBatchRequest(**self.scope_ids(session), messages=messages)
        answer = client.memory.AddBatch(request, timeout=CALL_SECONDS)
        for result, text, word in zip(answer.results, texts, words, strict=True):
            self.record(session, result.sequence, text, word)

    def record(self, session: str, sequence: int, text: str, word: str) -> None:
        self.contents[session, sequence] = text
        self.words[session, sequence] = word

    def clear(self, client: Client, session: str) -> list[str]:
        """Clear the session; return the words that must not be found from now on."""
        client.memory.Clear(pb.ClearRequest(**self.scope_ids(session)), timeout=CALL_SECONDS)
        return self.remove(session)

    def delete(self, client: Client, session: str) -> list[str]:
        client.sessions.DeleteSession(session_pb2.DeleteSessionRequest(**self.scope_ids(session)), timeout=CALL_SECONDS)
        return self.remove(session)

    def remove(self, session: str) -> list[str]:
        gone = [place for place in self.contents if place[0] == session]
        for place in gone:
            del self.contents[place]
        return [self.words.pop(place) for place in gone]

    # -- checks

    def check_readable(self, client: Client) -> None:
        for session in self.sessions:
            names: dict[str, Any] = {"namespace": self.namespace, "user_id": self.user_id}
            found = {(session, message.sequence): message.content for message in client.all(session, **names)}
            assert found == {place: text for place, text in self.contents.items() if place[0] == session}

    def search(self, client: Client, query: str, **fields: Any) -> pb.SearchResponse:
        names = {"namespace": self.namespace, "user_id": self.user_id}
        wanted = {"mode": pb.SEARCH_MODE_HYBRID, "limit": 10, **names, **fields}
        answer: pb.SearchResponse = client.memory.Search(pb.SearchRequest(query=query, **wanted), timeout=CALL_SECONDS)
        return answer

    def check_found(self, client: Client, places: list[Place] | None = None, **fields: Any) -> set[int]:
        """Check that each message is the best hit of its own word; return all degradations.

        Without the index, only the newest messages are searched: an older one may be missed, if the response says so.
        """
        degraded: set[int] = set()
        newest = set(
            list(self.contents)[-MAX_FALLBACK_MESSAGES // 2 :]
        )  # half: unacknowledged messages are searched, too
        for place in places or self.sample():
            answer = self.search(client, self.words[place], **fields)
            contents = [hit.message.content for hit in answer.hits]
            is_index_unavailable = Degradation.DEGRADATION_INDEX_UNAVAILABLE in answer.degraded
            is_searched = not is_index_unavailable or len(self.contents) <= MAX_FALLBACK_MESSAGES or place in newest
            assert contents[:1] == [self.contents[place]] or not is_searched, (
                place,
                contents[:3],
                list(answer.degraded),
            )
            degraded.update(answer.degraded)
        return degraded

    def sample(self) -> list[Place]:
        """Return the oldest, the newest and two in between."""
        places = list(self.contents)
        return [places[0], places[len(places) // 3], places[len(places) * 2 // 3], places[-1]]

    def has_no_degradation(self, client: Client) -> bool:
        """Search in RAM and in the table; return whether no response has a degradation."""
        scopes: list[dict[str, Any]] = [{}, {"scope": SCOPE_NAMESPACE}]
        return not any(self.check_found(client, **scope) for scope in scopes)


def degradations(*names: str) -> set[int]:
    return {Degradation.Value(f"DEGRADATION_{name}") for name in names}
