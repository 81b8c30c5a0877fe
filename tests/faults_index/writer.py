"""A writer that adds, annotates and erases messages until the sidecar is gone."""

import random
import threading
from typing import Any, Self

import grpc

from memsidecar.v1 import memory_pb2 as pb
from tests.faults_index.acknowledged import AcknowledgedMessages, new_word
from tests.support.process import CALL_SECONDS, Client

ERASED_AFTER = 7


class Writer:
    """Runs on its own thread. Session `growing` only grows, `scratch` is cleared repeatedly, if it `erases`."""

    def __init__(
        self,
        client: Client,
        acknowledged: AcknowledgedMessages,
        name: str,
        random_source: random.Random,
        *,
        erases: bool,
    ) -> None:
        self._client = client
        self._acknowledged = acknowledged
        self._growing, self._scratch = f"growing-{name}", f"scratch-{name}"
        self._random = random_source
        self._erases = erases
        self._open: tuple[str, str, str] | None = None
        "Session, text and word of the unacknowledged message; an empty text for an erasure."
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
                self._add(self._growing)
                self._add(self._scratch)
                if self._erases and number % ERASED_AFTER == 0:
                    self._clear()
        except grpc.RpcError as error:
            failed: Any = error
            self.codes.add(failed.code())

    def _add(self, session: str) -> None:
        word = new_word()
        text = f"some message {word}"
        self._open = (session, text, word)
        names: dict[str, Any] = {"namespace": self._acknowledged.namespace, "user_id": self._acknowledged.user_id}
        answer = self._client.add(session, text, **names)
        self._open = None
        self._acknowledged.record(session, answer.sequence, text, word)
        if self._random.random() < 0.2:
            request = pb.AnnotateRequest(
                **self._acknowledged.scope_ids(session), message_id=answer.message_id, evaluation_score=0.5
            )
            self._client.memory.Annotate(request, timeout=CALL_SECONDS)

    def _clear(self) -> None:
        self._open = (self._scratch, "", "")
        self._acknowledged.clear(self._client, self._scratch)
        self._open = None

    def complete(self, client: Client) -> None:
        """After the restart, find out whether the unacknowledged call was committed, and record it."""
        if self._open is None:
            return
        session, text, word = self._open
        names: dict[str, Any] = {"namespace": self._acknowledged.namespace, "user_id": self._acknowledged.user_id}
        found = client.all(session, **names)
        if not text and not found:
            self._acknowledged.remove(session)
        elif text and found and found[-1].content == text:
            self._acknowledged.record(session, found[-1].sequence, text, word)
