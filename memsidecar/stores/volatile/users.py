"""Reads of users in the RAM journal."""

from collections import defaultdict
from collections.abc import Sequence

from memsidecar.domain.session import SessionHead
from memsidecar.stores.contract import Owner, RecordKind, UserActivity, UserQuery
from memsidecar.stores.volatile.state import JournalState


def list_users(state: JournalState, query: UserQuery) -> Sequence[UserActivity]:
    sessions = _sessions_by_user(state, query.namespace)
    owners = {*state.documents.owners(), *state.records.owners_of_kind(RecordKind.FACT)}
    user_ids = sessions.keys() | {owner.user_id for owner in owners if _is_user(owner, query.namespace)}
    listed = [each for each in user_ids if each >= query.first and each.startswith(query.prefix)]
    return [_activity(user_id, sessions[user_id]) for user_id in sorted(listed)[: query.limit]]


def _sessions_by_user(state: JournalState, namespace: str) -> defaultdict[str, list[SessionHead]]:
    sessions: defaultdict[str, list[SessionHead]] = defaultdict(list)
    for session in state.sessions.values():
        if session.key.namespace == namespace and session.user_id:
            sessions[session.user_id].append(state.head(session))
    return sessions


def _is_user(owner: Owner, namespace: str) -> bool:
    return owner.namespace == namespace and owner.user_id != ""


def _activity(user_id: str, sessions: Sequence[SessionHead]) -> UserActivity:
    return UserActivity(user_id, len(sessions), max((head.last_active_us for head in sessions), default=0))
