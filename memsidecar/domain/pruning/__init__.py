"""Pruning decisions as pure functions: which messages leave a window, which texts are truncated."""

from memsidecar.domain.pruning.removal import NO_RELEVANCE, Removal, RemovalCriteria, WindowView, plan_removal
from memsidecar.domain.pruning.truncation import truncate_middle
from memsidecar.domain.pruning.units import ImportanceWeights, link_exchange, without_exchanges

__all__ = [
    "NO_RELEVANCE",
    "ImportanceWeights",
    "Removal",
    "RemovalCriteria",
    "WindowView",
    "link_exchange",
    "plan_removal",
    "truncate_middle",
    "without_exchanges",
]
