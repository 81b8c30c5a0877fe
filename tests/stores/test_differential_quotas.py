"""The stores of `test_differential_records` with quotas: equal rejections, and no usage past its limit."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from memsidecar.domain.quota import Quota, Usage
from memsidecar.stores.contract import Command, Owner, RecordKind
from tests.conformance.builders import new_record, upsert_command
from tests.stores.test_differential import OWNERS
from tests.stores.test_differential_records import RecordsDifferential
from tests.support.differential import EXAMPLES

quotas = st.builds(Quota, st.integers(0, 3), st.integers(0, 12), st.integers(0, 300))


class QuotasDifferential(RecordsDifferential):
    def __init__(self) -> None:
        super().__init__()
        self.before: dict[str, Usage] = {}

    @rule(namespace=st.sampled_from("no"), quota=quotas)
    def set_quota(self, namespace: str, quota: Quota) -> None:
        self.quotas[namespace] = quota

    @rule(owner=st.sampled_from(OWNERS), names=st.lists(st.sampled_from("wxyz"), max_size=4), size=st.integers(0, 99))
    def put_facts_in_one_group(self, owner: Owner, names: list[str], size: int) -> None:
        group: list[Command] = [
            upsert_command(new_record("x" * size, name=name), owner=owner, kind=RecordKind.FACT) for name in names
        ]
        assert self.results(self.disk, group) == self.results(self.ram, group)

    @invariant()
    def no_usage_grows_past_its_limit(self) -> None:
        """Check all but bytes, which patterns and extracted facts may add past the limit."""
        for namespace in "no":
            quota, before, now = self.quota(namespace), self.before.get(namespace, Usage()), self.disk.usage(namespace)
            assert now.sessions <= max(before.sessions, quota.sessions) or not quota.sessions
            assert now.messages <= max(before.messages, quota.messages) or not quota.messages
            self.before[namespace] = now


TestQuotasDifferential = QuotasDifferential.TestCase
TestQuotasDifferential.settings = settings(
    max_examples=EXAMPLES, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
