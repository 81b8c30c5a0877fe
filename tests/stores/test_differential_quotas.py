"""The stores of `test_differential_notes` with quotas: the same is refused, and nothing grows past a limit."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from memsidecar.domain.quota import Quota, Usage
from memsidecar.stores.contract import Command, Owner, RecordKind
from tests.conformance.builders import note, revising
from tests.stores.test_differential import OWNERS
from tests.stores.test_differential_notes import NotesDifferential
from tests.support.differential import EXAMPLES

quotas = st.builds(Quota, st.integers(0, 3), st.integers(0, 12), st.integers(0, 300))


class QuotasDifferential(NotesDifferential):
    def __init__(self) -> None:
        super().__init__()
        self.before: dict[str, Usage] = {}

    @rule(namespace=st.sampled_from("no"), quota=quotas)
    def set_quota(self, namespace: str, quota: Quota) -> None:
        self.quotas[namespace] = quota

    @rule(owner=st.sampled_from(OWNERS), names=st.lists(st.sampled_from("wxyz"), max_size=4), size=st.integers(0, 99))
    def put_facts_at_once(self, owner: Owner, names: list[str], size: int) -> None:
        group: list[Command] = [
            revising(note("x" * size, name=one), owner=owner, kind=RecordKind.FACT) for one in names
        ]
        assert self.outcomes(self.disk, group) == self.outcomes(self.ram, group)

    @invariant()
    def nothing_grows_past_its_limit(self) -> None:
        """But for bytes, which patterns and learned facts may add: the reference decides what is refused of others."""
        for namespace in "no":
            quota, before, now = self.quota(namespace), self.before.get(namespace, Usage()), self.disk.usage(namespace)
            assert now.sessions <= max(before.sessions, quota.sessions) or not quota.sessions
            assert now.messages <= max(before.messages, quota.messages) or not quota.messages
            self.before[namespace] = now


TestQuotasDifferential = QuotasDifferential.TestCase
TestQuotasDifferential.settings = settings(
    max_examples=EXAMPLES, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
