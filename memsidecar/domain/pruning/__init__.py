"""What leaves a window and what is cut shorter: decisions only, no store and no clock."""

from memsidecar.domain.pruning.exchange import link_exchange
from memsidecar.domain.pruning.removal import NO_RELEVANCE, Removal, RemovalCriteria, WindowView, plan_removal
from memsidecar.domain.pruning.truncation import truncate_middle
from memsidecar.domain.pruning.units import ImportanceWeights

__all__ = [
    "NO_RELEVANCE",
    "ImportanceWeights",
    "RemovalCriteria",
    "Removal",
    "WindowView",
    "link_exchange",
    "plan_removal",
    "truncate_middle",
]
