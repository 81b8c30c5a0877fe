"""Somebody who talks until the sidecar is gone: messages one by one, annotations, and erasures in between."""

import random
import threading
from typing import Any, Self

import grpc

from memsidecar.v1 import memory_pb2 as pb
from tests.faults_index.acknowledged import Kept, new_word
from tests.support.process import CALL_SECONDS, Client

ERASED_AFTER = 7


class Writer:
    """A thread of its own. Sessions `said` only grow, `scratch` is cleared again and again, if it `erases`."""

    def __init__(self, client: Client, kept: Kept, name: str, chance: random.Random, *, erases: bool) -> None:
        self._client = client
        self._kept = kept
        self._said, self._scratch = f"said-{name}", f"scratch-{name}"
        self._chance = chance
        self._erases = erases
        self._open: tuple[str, str, str] | None = None
        "Session, text and word of the message whose answer never came; a text of nothing for an erasure."
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.codes: set[grpc.StatusCode] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join(CALL_SECONDS)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        try:
            for number in range(1_000_000):
                self._say(self._said)
                self._say(self._scratch)
                if self._erases and number % ERASED_AFTER == 0:
                    self._clear()
        except grpc.RpcError as error:
            failed: Any = error
            self.codes.add(failed.code())

    def _say(self, session: str) -> None:
        word = new_word()
        text = f"something was said {word}"
        self._open = (session, text, word)
        names: dict[str, Any] = {"namespace": self._kept.namespace, "user_id": self._kept.user_id}
        answer = self._client.add(session, text, **names)
        self._open = None
        self._kept.note(session, answer.sequence, text, word)
        if self._chance.random() < 0.2:
            request = pb.AnnotateRequest(
                **self._kept.names(session), message_id=answer.message_id, evaluation_score=0.5
            )
            self._client.memory.Annotate(request, timeout=CALL_SECONDS)

    def _clear(self) -> None:
        self._open = (self._scratch, "", "")
        self._kept.clear(self._client, self._scratch)
        self._open = None

    def complete(self, client: Client) -> None:
        """After the restart: the call without an answer was carried out as a whole, or not at all. Say which."""
        if self._open is None:
            return
        session, text, word = self._open
        names: dict[str, Any] = {"namespace": self._kept.namespace, "user_id": self._kept.user_id}
        found = client.all(session, **names)
        if not text and not found:
            self._kept.forget(session)
        elif text and found and found[-1].content == text:
            self._kept.note(session, found[-1].sequence, text, word)
