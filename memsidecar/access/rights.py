"""Roles, and what a caller may do with them."""

from dataclasses import dataclass
from enum import IntEnum

EVERY_NAMESPACE = "*"


class Role(IntEnum):
    """Each includes those before it."""

    READ = 1
    WRITE = 2
    ADMIN = 3


ROLE_NAMES = tuple(role.name.lower() for role in Role)


@dataclass(frozen=True)
class Caller:
    """Somebody whose credentials are good. `name` is for the audit log; two may share it while one is rotated."""

    name: str
    role: Role
    namespaces: frozenset[str]

    def may_enter(self, namespace: str) -> bool:
        return namespace in self.namespaces or EVERY_NAMESPACE in self.namespaces


ANYBODY = Caller("anybody", Role.ADMIN, frozenset({EVERY_NAMESPACE}))
"Who calls where no access file is configured: whoever reaches the address."
