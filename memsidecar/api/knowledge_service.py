"""memsidecar.v1.KnowledgeService: decode, call, encode."""

from dataclasses import dataclass
from typing import ClassVar

from google.protobuf.descriptor import ServiceDescriptor

from memsidecar.api.artifacts import ArtifactCalls
from memsidecar.api.documents import DocumentCalls
from memsidecar.api.facts import FactCalls
from memsidecar.api.learned import LearnedCalls
from memsidecar.v1 import knowledge_pb2 as pb


@dataclass(frozen=True, kw_only=True)
class KnowledgeService(FactCalls, ArtifactCalls, DocumentCalls, LearnedCalls):
    """One part for each kind of thing that is known."""

    descriptor: ClassVar[ServiceDescriptor] = pb.DESCRIPTOR.services_by_name["KnowledgeService"]
