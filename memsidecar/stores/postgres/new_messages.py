"""New rows of `messages`, relative to the last lsn of their namespace after the commit."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from memsidecar.domain.message import Draft, StoredMessage
from memsidecar.stores.postgres.namespaces import NamespaceChanges
from memsidecar.stores.postgres.rows import columns

INSERT_MESSAGES = """INSERT INTO messages(session, sequence, namespace, lsn, role, flags, tokens, displayed_tokens,
    time_us, commit_us, exchange, score, id, fingerprint, body, displayed_body, vector)
  SELECT v[i][1], v[i][2], v[i][3], n.lsn - v[i][4], v[i][5], v[i][6], v[i][7], v[i][8], v[i][9], v[i][10], v[i][11],
    m.score, m.id, m.fingerprint, m.body, m.displayed_body, m.vector
  FROM (SELECT %b::bigint[]) AS numbers(v) CROSS JOIN
    unnest(%b::float8[], %b::text[], %b::bytea[], %b::bytea[], %b::bytea[], %b::bytea[]) WITH ORDINALITY
      AS m(score, id, fingerprint, body, displayed_body, vector, i)
    JOIN {} n ON n.number = v[i][3]"""
"Takes the lsns from a relation with the number and the last lsn of each namespace."


class NewMessageRow(NamedTuple):
    namespace: str
    session: int
    lsn: int
    commit_us: int
    draft: Draft
    message: StoredMessage
    displayed: StoredMessage | None

    def numbers(self, changes: NamespaceChanges) -> list[int | None]:
        """Return the columns that are numbers, given what the transaction changes of the namespace."""
        message = self.message
        return [
            self.session,
            message.sequence,
            changes.number,
            changes.back(self.lsn),
            message.role,
            message.flags,
            message.tokens,
            self.displayed.tokens if self.displayed else message.tokens,
            message.time_us,
            self.commit_us,
            message.exchange,
        ]

    def others(self) -> Sequence[Any]:
        """Return the other columns."""
        draft, displayed_body = self.draft, self.displayed.body if self.displayed else None
        return self.message.score, draft.id, draft.fingerprint, self.message.body, displayed_body, draft.vector


def message_columns(messages: Iterable[tuple[NewMessageRow, NamespaceChanges]]) -> Sequence[Any]:
    """Return the parameters of INSERT_MESSAGES."""
    messages = list(messages)
    return [[new.numbers(changes) for new, changes in messages], *columns(new.others() for new, _ in messages)]
