"""What was acknowledged in one namespace, kept by the test: the oracle of what must be readable, found and indexed."""

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
"Each batch is a commit of LanceDB's then."

TOPICS = (
    "our cat sleeps on the sofa",
    "the invoice is due on Friday",
    "we fly to Lisbon in May",
    "he plays the violin",
)


def new_word() -> str:
    """A word that is nowhere else, and that no analysis of words changes."""
    return f"w{uuid4().int % 10**15:015d}"


@dataclass
class Kept:
    """Sessions of one namespace, written by one caller at a time."""

    namespace: str = "default"
    user_id: str = "alice"
    said: dict[Place, str] = field(default_factory=dict)
    "The content of what was acknowledged."
    words: dict[Place, str] = field(default_factory=dict)
    "The word in it that is nowhere else."

    def names(self, session: str) -> dict[str, Any]:
        return {"namespace": self.namespace, "user_id": self.user_id, "session_id": session}

    @property
    def sessions(self) -> set[str]:
        return {session for session, _ in self.said}

    # -- writing

    def say(self, client: Client, session: str, content: str = "", **fields: Any) -> pb.AddResponse:
        word = new_word()
        text = f"{content or TOPICS[len(self.said) % len(TOPICS)]} {word}"
        answer = client.add(session, text, namespace=self.namespace, user_id=self.user_id, **fields)
        self.note(session, answer.sequence, text, word)
        return answer

    def say_many(self, client: Client, session: str, count: int) -> None:
        """In one batch."""
        words = [new_word() for _ in range(count)]
        texts = [f"{TOPICS[at % len(TOPICS)]} {word}" for at, word in enumerate(words)]
        messages = [Message(role=Role.ROLE_USER, content=text) for text in texts]
        request = pb.AddBatchRequest(**self.names(session), messages=messages)
        answer = client.memory.AddBatch(request, timeout=CALL_SECONDS)
        for result, text, word in zip(answer.results, texts, words, strict=True):
            self.note(session, result.sequence, text, word)

    def note(self, session: str, sequence: int, text: str, word: str) -> None:
        self.said[session, sequence] = text
        self.words[session, sequence] = word

    def clear(self, client: Client, session: str) -> list[str]:
        """The words that must be nowhere from now on."""
        client.memory.Clear(pb.ClearRequest(**self.names(session)), timeout=CALL_SECONDS)
        return self.forget(session)

    def delete(self, client: Client, session: str) -> list[str]:
        client.sessions.DeleteSession(session_pb2.DeleteSessionRequest(**self.names(session)), timeout=CALL_SECONDS)
        return self.forget(session)

    def forget(self, session: str) -> list[str]:
        gone = [place for place in self.said if place[0] == session]
        for place in gone:
            del self.said[place]
        return [self.words.pop(place) for place in gone]

    # -- what must hold

    def check_readable(self, client: Client) -> None:
        for session in self.sessions:
            names: dict[str, Any] = {"namespace": self.namespace, "user_id": self.user_id}
            found = {(session, one.sequence): one.content for one in client.all(session, **names)}
            assert found == {place: text for place, text in self.said.items() if place[0] == session}

    def search(self, client: Client, query: str, **fields: Any) -> pb.SearchResponse:
        names = {"namespace": self.namespace, "user_id": self.user_id}
        wanted = {"mode": pb.SEARCH_MODE_HYBRID, "limit": 10, **names, **fields}
        answer: pb.SearchResponse = client.memory.Search(pb.SearchRequest(query=query, **wanted), timeout=CALL_SECONDS)
        return answer

    def check_found(self, client: Client, places: list[Place] | None = None, **fields: Any) -> set[int]:
        """Each by its own word, best of all; what was missing meanwhile.

        While the index is away, only the newest are looked through: an older one may be missed, if the answer says so.
        """
        lacks: set[int] = set()
        newest = set(
            list(self.said)[-MAX_FALLBACK_MESSAGES // 2 :]
        )  # half: what a kill left unanswered is looked at, too
        for place in places or self.some_places():
            answer = self.search(client, self.words[place], **fields)
            contents = [hit.message.content for hit in answer.hits]
            away = Degradation.DEGRADATION_INDEX_UNAVAILABLE in answer.degraded
            looked_at = not away or len(self.said) <= MAX_FALLBACK_MESSAGES or place in newest
            assert contents[:1] == [self.said[place]] or not looked_at, (place, contents[:3], list(answer.degraded))
            lacks.update(answer.degraded)
        return lacks

    def some_places(self) -> list[Place]:
        """The oldest, the newest and two in between."""
        places = list(self.said)
        return [places[0], places[len(places) // 3], places[len(places) * 2 // 3], places[-1]]

    def lacks_nothing(self, client: Client) -> bool:
        """In RAM and in the table, by words and by meaning."""
        scopes: list[dict[str, Any]] = [{}, {"scope": SCOPE_NAMESPACE}]
        return not any(self.check_found(client, **scope) for scope in scopes)


def lack(*names: str) -> set[int]:
    return {Degradation.Value(f"DEGRADATION_{name}") for name in names}
