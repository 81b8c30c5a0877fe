"""The table of namespace limits, which is replaced as a whole."""

from memsidecar.access.policy import LimitTable, NamespaceLimits
from memsidecar.domain.quota import Quota

DEFAULT = NamespaceLimits(calls_per_second=10, quota=Quota(sessions=5))
OWN = NamespaceLimits(calls_per_second=1, quota=Quota(sessions=1))


def test_a_namespace_without_limits_of_its_own_has_the_default() -> None:
    table = LimitTable(DEFAULT, {"research": OWN})
    assert table.of("research") is OWN and table.of("other") is DEFAULT
    assert table.quota("research") == OWN.quota and table.quota("other") == DEFAULT.quota


def test_replacing_the_table_keeps_the_default() -> None:
    table = LimitTable(DEFAULT, {"research": OWN})
    table.replace({"other": OWN})
    assert table.of("research") is DEFAULT and table.of("other") is OWN
