"""What a background task promises."""

from typing import Protocol

from memsidecar.domain.errors import SidecarError
from memsidecar.stores.contract import Chapter


class NotNow(SidecarError):
    """Something the task needs is away; nobody's message is to blame, and the same will work later."""


class Task(Protocol):
    """Follows the log of each namespace in order, and keeps its position where it keeps its result: in one commit.

    So a crash neither loses nor repeats an effect. All methods are called on the runner's thread.
    """

    name: str

    def position(self, namespace: str) -> int:
        """The last entry whose effect is kept. Raises NotNow."""

    def take(self, namespace: str, chapter: Chapter) -> None:
        """Make the effect of these entries durable, and with it the position.

        Raises NotNow to be called again later with the same entries. Any other exception is laid at the entries'
        door: they are tried one by one, and the one that fails again and again is set aside.
        """

    def rest(self, idle: bool) -> bool:
        """Chores between chapters; `idle` when the log is quiet. True if there is more to do at once."""
