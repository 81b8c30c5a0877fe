"""Users: the owners of sessions, facts and documents."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

BEFORE_EVERY_ID = "\0"
"Ids have no control characters."


class UserActivity(NamedTuple):
    """A user with the number of its sessions and their last activity.

    Both are 0 for a user without sessions.
    """

    user_id: str
    session_count: int
    last_active_us: int


@dataclass(frozen=True, slots=True)
class UserQuery:
    """Users of a namespace whose ids begin with `prefix`, in the order of the ids, after that id."""

    namespace: str
    prefix: str = ""
    limit: int = 100
    after_id: str = ""

    @property
    def first(self) -> str:
        """Return the lower bound of the ids to list."""
        return max(self.prefix, self.after_id + BEFORE_EVERY_ID)


class UserReader(Protocol):
    def users(self, query: UserQuery) -> Sequence[UserActivity]:
        """Return the users that own a session, a fact or a document, in the byte order of their ids.

        Superseded facts count. What a session owns does not count: its user, if it has one, is listed for the session.
        """
