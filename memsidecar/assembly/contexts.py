"""What builds contexts, put together."""

from memsidecar.api.bridge import Bridge
from memsidecar.api.building import BuildContextApi
from memsidecar.assembly import parts
from memsidecar.assembly.layers import Layers
from memsidecar.context.builder import Building
from memsidecar.context.relevance import Taste
from memsidecar.context.retrieval import Retrieval
from memsidecar.context.sources import Gathering
from memsidecar.domain.message import Role
from memsidecar.layers.documents.documents import FindChunks
from memsidecar.settings import Settings


def context_api(settings: Settings, layers: Layers, find_chunks: FindChunks, bridge: Bridge) -> BuildContextApi:
    budgets = parts.budgets(settings)
    gathering = Gathering(layers.working, layers.facts, layers.keep_up, layers.procedural.hints, layers.artifacts)
    taste = Taste(settings.similarity_threshold, settings.episodic_min_quality, settings.episodic_recency_weight)
    retrieval = Retrieval(
        layers.episodic,
        layers.documents,
        find_chunks,
        budgets,
        settings.episodic_recency_weight,
        settings.episodic_recency_half_life_days,
        settings.rerank_top_n,
    )
    role = Role[settings.retrieved_role.upper()]
    return BuildContextApi(
        Building(gathering, layers.echoes, budgets, taste, role, layers.is_behind), retrieval, bridge
    )
