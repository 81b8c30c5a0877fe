"""How much a namespace may ask for and keep."""

from dataclasses import dataclass

from memsidecar.domain.quota import NO_QUOTA, Quota


@dataclass(frozen=True)
class Allowance:
    """`calls_per_second` may be passed for a moment, by what a second brings; 0: no limit."""

    calls_per_second: float = 0.0
    kept: Quota = NO_QUOTA
