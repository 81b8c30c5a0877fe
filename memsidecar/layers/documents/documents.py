"""Documents as things: whose they are, putting, listing, deleting them."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from memsidecar.domain.session import SessionKey
from memsidecar.layers.at_hand import AtHand
from memsidecar.layers.documents.drafting import Drafting
from memsidecar.layers.working.owning import check_owner, claim
from memsidecar.layers.working.reading import ANSWER_BYTES
from memsidecar.stores.contract import (
    Change,
    DocumentDraft,
    DocumentPage,
    DropDocument,
    Journal,
    Owner,
    PutDocument,
    StoredDocument,
    Ticket,
)
from memsidecar.v1.knowledge_pb2 import Document

OWNERS_KEPT = 10_000
_FIGURES_BYTES = 256
"""What an answer says of a document or a chunk besides its texts, at most."""

T = TypeVar("T")


class Documents:
    """`begin_` hands a command to the journal and returns at once; `settled` is called when it is durable."""

    def __init__(self, journal: Journal, draft: Drafting) -> None:
        self.journal = journal
        self.draft = draft
        self._any: AtHand[bool] = AtHand(OWNERS_KEPT)
        journal.listen(self._committed)

    def _committed(self, changes: Sequence[Change]) -> None:
        """A changed document is told as a change of no session."""
        changed = {change.key.namespace for change in changes if not change.key.session_id}
        if changed:
            self._any.forget(lambda owner: owner.namespace in changed)

    def those_with_any(self, owners: Sequence[Owner]) -> list[Owner]:
        """Most users have no documents, and what is not there need not be searched."""
        return [owner for owner in owners if self._has_any(owner)]

    def _has_any(self, owner: Owner) -> bool:
        return self._any.get(owner, lambda: bool(self.journal.documents(DocumentPage(owner, 1))))

    def owner(self, namespace: str, user_id: str, session_id: str) -> Owner:
        """Whose documents are meant. Raises NotYourSession where the session belongs to another user."""
        if not session_id:
            return Owner(namespace, user_id)
        check_owner(self.journal.head(SessionKey(namespace, session_id)), user_id)
        return Owner(namespace, session_id=session_id)

    def claim(self, namespace: str, user_id: str, session_id: str) -> Owner:
        """The same for whoever puts one: the first user that is named makes the session theirs."""
        claim(self.journal, SessionKey(namespace, session_id), user_id)
        return self.owner(namespace, user_id, session_id)

    def visible(self, namespace: str, user_id: str, session_id: str) -> Sequence[Owner]:
        """Whose documents may be found: everybody's, the user's and the session's.

        A session's user counts as named where only the session is.
        """
        owners = [Owner(namespace)]
        if session_id:
            head = self.journal.head(SessionKey(namespace, session_id))
            check_owner(head, user_id)
            user_id = user_id or (head.user_id if head else "")
            owners.append(Owner(namespace, session_id=session_id))
        return [*owners, Owner(namespace, user_id)] if user_id else owners

    def known(self, owner: Owner, document: Document) -> StoredDocument | None:
        """The document as it is kept, if putting it again would change nothing."""
        stored = self.journal.document(owner, document.id)
        return stored if stored is not None and self.draft.is_same(stored, document) else None

    def begin_putting(self, draft: DocumentDraft, settled: Callable[[Ticket], None] | None = None) -> Ticket:
        return self._begin(Ticket(PutDocument(draft), settled))

    def begin_deleting(self, owner: Owner, document_id: str, settled: Callable[[Ticket], None] | None = None) -> Ticket:
        """Settled when the last byte is gone, which may take a while."""
        return self._begin(Ticket(DropDocument(owner, document_id), settled))

    def _begin(self, ticket: Ticket) -> Ticket:
        self.journal.submit(ticket)
        return ticket

    def page(self, owner: Owner, after_id: str, size: int) -> tuple[Sequence[StoredDocument], bool]:
        """Documents in the order of their ids, as many as one answer holds, and whether there are more."""
        found = self.journal.documents(DocumentPage(owner, size + 1, after_id))
        kept = as_many_as_fit(found[:size], _cover)
        return kept, len(kept) < len(found)


def as_many_as_fit(items: Sequence[T], texts_of: Callable[[T], Iterable[bytes | str]]) -> Sequence[T]:
    """As many as one answer holds, and at least one: a single document or chunk is far smaller than an answer."""
    size = 0
    for at, item in enumerate(items):
        size += _FIGURES_BYTES + sum(len(text.encode() if isinstance(text, str) else text) for text in texts_of(item))
        if at and size > ANSWER_BYTES:
            return items[:at]
    return items


def _cover(document: StoredDocument) -> Iterable[bytes | str]:
    return document.id, document.title, document.source, document.metadata
