"""Components of artifacts in this process, assembled as in `memsidecar.assembly`."""

from typing import Any

from memsidecar.domain.session import SessionKey
from memsidecar.layers.artifacts.artifact import ArtifactValidator, StoredArtifact
from memsidecar.layers.artifacts.artifacts import Artifacts, PutArtifactRequest
from memsidecar.layers.artifacts.offload import Offloader
from memsidecar.layers.working.window_update import WindowUpdater
from memsidecar.stores.contract import Journal
from memsidecar.tokens.contract import Counter
from memsidecar.tokens.registry import CounterRegistry
from memsidecar.v1.knowledge_pb2 import Artifact
from tests.support.waiting import result_of

KEY = SessionKey("default", "s1")
CHARS4: Counter = CounterRegistry("chars4").default
MAX_CONTENT_BYTES = 1 << 20
KEEP_TOKENS = 128


def artifacts_over(journal: Journal, counter: Counter = CHARS4) -> Artifacts:
    offloading = Offloader(journal, WindowUpdater(journal), counter, KEEP_TOKENS)
    return Artifacts(journal, ArtifactValidator(counter, MAX_CONTENT_BYTES), offloading)


def put(artifacts: Artifacts, artifact_id: str = "", content: str = "", **fields: Any) -> StoredArtifact:
    request_fields: dict[str, Any] = {
        name: fields.pop(name) for name in ("offload_message_id", "preview_tokens") if name in fields
    }
    artifact = Artifact(id=artifact_id, content=content, **fields)
    artifacts.validator.check(artifact, "offload_message_id" in request_fields)
    return artifacts.put(PutArtifactRequest(KEY, "", artifact, **request_fields))


def delete(artifacts: Artifacts, artifact_id: str) -> None:
    result_of(lambda on_done: artifacts.submit_delete(KEY, artifact_id, on_done))
