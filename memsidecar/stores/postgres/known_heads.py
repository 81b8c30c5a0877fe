"""What this process wrote last: heads of sessions, and the rows of their namespaces."""

from collections.abc import Iterable, Mapping, Sequence

from cachetools import LRUCache

from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.stores.contract import Append, SetPolicy
from memsidecar.stores.postgres.locks import LockedRows, LockTargets
from memsidecar.stores.postgres.namespaces import NamespaceChanges
from memsidecar.stores.postgres.transaction import PostgresTransaction

MAX_HEADS = 16_384
"A head takes about 1 KB."

KnownRows = Mapping[SessionKey, SessionHead]
"Heads by which a commit was prepared."


class KnownHeads:
    """LRU cache. Another process may have changed what it has: a commit that rests on it compares. Used by one thread.

    A namespace stays known while a session of it is.
    """

    def __init__(self) -> None:
        self._heads: LRUCache[SessionKey, SessionHead] = LRUCache(MAX_HEADS)
        self._namespaces: LRUCache[str, NamespaceChanges] = LRUCache(MAX_HEADS)

    def rows(self, commands: Sequence[Append]) -> LockedRows | None:
        """Return the rows that the commands change, not locked; None if a session is not known."""
        heads: dict[SessionKey, SessionHead | None] = {}
        namespaces: dict[str, NamespaceChanges] = {}
        for command in commands:
            key = command.key
            if key not in self._heads or key.namespace not in self._namespaces:
                return None
            heads[key] = self._heads[key]
            if key.namespace not in namespaces:
                namespaces[key.namespace] = self._namespaces[key.namespace].unchanged()
        return LockedRows(None, LockTargets(), namespaces, heads, {}, {})

    def remember(self, transaction: PostgresTransaction) -> None:
        """Take over what a transaction has committed."""
        for key, head in transaction.heads.items():
            if head is None:
                self._heads.pop(key, None)
            else:
                self._heads[key] = head
        for changes in transaction.namespaces:
            self._namespaces[changes.name] = changes.unchanged()
        for pending, _ in transaction.results:
            if isinstance(pending.command, SetPolicy) and not pending.command.key.session_id:
                self._forget_namespace(pending.command.key.namespace)

    def _forget_namespace(self, namespace: str) -> None:
        """Forget the heads with the old default policy."""
        self.forget([key for key in self._heads if key.namespace == namespace])

    def forget(self, keys: Iterable[SessionKey]) -> None:
        for key in keys:
            self._heads.pop(key, None)
