"""SetPolicy: how a session, or every session of a namespace without a policy of its own, prunes itself."""

from memsidecar.domain.session import Policy, SessionKey
from memsidecar.stores.contract import Change, PolicySet, SetPolicy
from memsidecar.stores.journal.claim import claimed
from memsidecar.stores.journal.staging import Stage


def set_policy(stage: Stage, command: SetPolicy) -> PolicySet:
    head = claimed(stage, command.key, command.user_id) if command.key.session_id else None
    if head is not None:
        head.policy = command.policy
        stage.keep(head)
        stage.changes.append(Change(head.key, head))
    _save(stage, command.key, command.policy)
    return PolicySet(head)


def _save(stage: Stage, key: SessionKey, policy: Policy | None) -> None:
    if policy is None:
        stage.do("DELETE FROM policies WHERE namespace = ? AND session_id = ?", *key)
        return
    columns = (policy.auto_prune_tokens, policy.strategy, policy.model, policy.summarize)
    stage.do("INSERT OR REPLACE INTO policies VALUES (?, ?, ?, ?, ?, ?)", *key, *columns)
