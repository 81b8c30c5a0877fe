"""SetPolicy: how a session, or every session of a namespace without a policy of its own, prunes itself."""

from memsidecar.domain.quota import Usage
from memsidecar.domain.session import Head, Policy, SessionKey
from memsidecar.stores.contract import Change, PolicySet, SetPolicy
from memsidecar.stores.journal.staging import Stage, owned


def set_policy(stage: Stage, command: SetPolicy) -> PolicySet:
    head = _session(stage, command) if command.key.session_id else None
    if head is not None:
        head.policy = command.policy
        stage.keep(head)
        stage.changes.append(Change(head.key, head))
    _save(stage, command.key, command.policy)
    return PolicySet(head)


def _session(stage: Stage, command: SetPolicy) -> Head:
    before = stage.head(command.key)
    if before is None:
        stage.book(command.key.namespace, Usage(sessions=1))
        return stage.new(command.key, command.user_id)
    head = owned(before, command.user_id)
    stage.claim(before, head)
    return head


def _save(stage: Stage, key: SessionKey, policy: Policy | None) -> None:
    if policy is None:
        stage.do("DELETE FROM policies WHERE namespace = ? AND session_id = ?", *key)
        return
    columns = (policy.auto_prune_tokens, policy.strategy, policy.model, policy.summarize)
    stage.do("INSERT OR REPLACE INTO policies VALUES (?, ?, ?, ?, ?, ?)", *key, *columns)
