"""What cannot hold together: nobody likes what they dislike."""

from memsidecar.domain.fact import FactType
from memsidecar.layers.semantic.fact import slot_of

LIKES, DISLIKES = "likes", "dislikes:"


def opposite_slot(kind: FactType, key: str, value: str) -> int | None:
    """Where the opposite of a fact would be; None for facts that have none."""
    if kind is FactType.INTEREST and key == LIKES:
        return slot_of(FactType.PREFERENCE, DISLIKES + value, value)
    if kind is FactType.PREFERENCE and key.startswith(DISLIKES):
        return slot_of(FactType.INTEREST, LIKES, value)
    return None
