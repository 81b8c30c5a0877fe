"""Retention: how long, and how many, items of each layer are kept."""

from dataclasses import dataclass

MAX_AGE_SECONDS = 100 * 365 * 86_400
"Limit on the limits: a hundred years."


@dataclass(frozen=True, slots=True)
class RetentionLimit:
    """Items older than `max_age_seconds` go, and all but the newest `max_count`. 0 means no limit."""

    max_age_seconds: int = 0
    max_count: int = 0

    def cutoff_us(self, now_us: int) -> int | None:
        """Return the time before which items go; None without a limit on the age."""
        return now_us - self.max_age_seconds * 1_000_000 if self.max_age_seconds else None

    def __bool__(self) -> bool:
        return bool(self.max_age_seconds or self.max_count)


@dataclass(frozen=True, slots=True)
class Retention:
    """The limits of each layer. Without any, everything is kept."""

    messages: RetentionLimit = RetentionLimit()
    facts: RetentionLimit = RetentionLimit()
    artifacts: RetentionLimit = RetentionLimit()
    documents: RetentionLimit = RetentionLimit()

    @property
    def limits(self) -> tuple[RetentionLimit, RetentionLimit, RetentionLimit, RetentionLimit]:
        return self.messages, self.facts, self.artifacts, self.documents

    def __bool__(self) -> bool:
        return any(self.limits)


KEEP_ALL = Retention()
