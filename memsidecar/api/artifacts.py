"""PutArtifact, ListArtifacts, DeleteArtifact."""

import time
from dataclasses import dataclass

from google.protobuf.struct_pb2 import Struct

from memsidecar.api.executors import Executors
from memsidecar.api.page_tokens import PageTokens
from memsidecar.api.wire import at_least, key_of, page_size_of, timestamp_of
from memsidecar.domain.errors import InvalidField
from memsidecar.domain.ids import check_id, optional_id
from memsidecar.layers.artifacts.artifact import StoredArtifact
from memsidecar.layers.artifacts.artifacts import Artifacts, PutArtifactRequest
from memsidecar.v1 import knowledge_pb2 as pb


@dataclass(frozen=True)
class ArtifactHandlers:
    executors: Executors
    artifacts: Artifacts
    page_tokens: PageTokens

    async def put_artifact(self, request: pb.PutArtifactRequest) -> pb.PutArtifactResponse:
        key = key_of(request)
        if not request.HasField("artifact"):
            raise InvalidField("artifact", "is required")
        message_id = optional_id("offload_message_id", request.offload_message_id)
        preview_tokens = at_least("preview_tokens", request.preview_tokens, 0)
        self.artifacts.validator.check(request.artifact, bool(message_id))
        put = PutArtifactRequest(key, request.user_id, request.artifact, message_id, preview_tokens)
        return pb.PutArtifactResponse(artifact=encode_artifact(await self.executors.run_write(self.artifacts.put, put)))

    async def list_artifacts(self, request: pb.ListArtifactsRequest) -> pb.ListArtifactsResponse:
        key, size = key_of(request), page_size_of(request.page_size)
        after, now_us = self.page_tokens.decode(request, int, str), time.time_ns() // 1000
        artifacts, last = await self.executors.run_read(self.artifacts.page, key, request.user_id, after, size, now_us)
        token = self.page_tokens.encode(request, last)
        return pb.ListArtifactsResponse(
            artifacts=[encode_artifact(artifact) for artifact in artifacts], next_page_token=token
        )

    async def delete_artifact(self, request: pb.DeleteArtifactRequest) -> pb.DeleteArtifactResponse:
        key, artifact_id = key_of(request), check_id("artifact_id", request.artifact_id)
        await self.executors.run_read(self.artifacts.check_owner, key, request.user_id)
        await self.executors.wait_for(self.artifacts.submit_delete(key, artifact_id, self.executors.on_done))
        return pb.DeleteArtifactResponse()


def encode_artifact(stored: StoredArtifact) -> pb.Artifact:
    return pb.Artifact(
        id=stored.id,
        source=stored.source,
        content=stored.content,
        create_time=timestamp_of(stored.create_time_us),
        expire_time=None if stored.expire_time_us is None else timestamp_of(stored.expire_time_us),
        metadata=Struct.FromString(stored.metadata) if stored.metadata else None,
        tokens=stored.tokens,
        message_id=stored.message_id,
    )
