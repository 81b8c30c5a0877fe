"""What leaves a window and what is cut shorter: decisions only, no store and no clock."""

from memsidecar.domain.pruning.exchange import link_exchange
from memsidecar.domain.pruning.removal import NO_RELEVANCE, PrunePlan, Removal, WindowView, plan_removal
from memsidecar.domain.pruning.truncation import shorten
from memsidecar.domain.pruning.units import Importance

__all__ = [
    "NO_RELEVANCE",
    "Importance",
    "PrunePlan",
    "Removal",
    "WindowView",
    "link_exchange",
    "plan_removal",
    "shorten",
]
