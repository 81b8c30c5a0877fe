"""Settings of retention: how long, and how many, items of each layer are kept."""

from __future__ import annotations

from pydantic import BaseModel, Field

from memsidecar.settings.types import Days, Items, Name, Seconds

_POLICIES = " 0: no limit. A policy of the session or the namespace with a retention replaces all of these limits."
_MAX_DAYS, _MAX_COUNT = 36_500, 2_147_483_647


def _age(items: str) -> float:
    value: float = Field(default=0.0, ge=0, le=_MAX_DAYS, description=f"Days after which {items} erased.{_POLICIES}")
    return value


def _count(items: str) -> int:
    value: int = Field(default=0, ge=0, le=_MAX_COUNT, description=f"{items} that are kept, the newest.{_POLICIES}")
    return value


class RetentionSettings(BaseModel):
    """See docs/retention.md."""

    retention_messages_max_age_days: Days = _age("messages, by the time at which they were stored, are")
    retention_messages_max_count: Items = _count("Messages of a session")
    retention_facts_max_age_days: Days = _age("facts, by their last mention, are")
    retention_facts_max_count: Items = _count("Facts of an owner, superseded ones included,")
    retention_artifacts_max_age_days: Days = _age("artifacts, by their create time, are")
    retention_artifacts_max_count: Items = _count("Artifacts of a session")
    retention_documents_max_age_days: Days = _age("documents, by their create time, are")
    retention_documents_max_count: Items = _count("Documents of an owner")
    retention_interval_seconds: Seconds = Field(
        default=3_600.0,
        ge=0.05,
        le=86_400,
        description="Seconds between two runs that erase what exceeds the limits.",
    )
    legal_hold_tag: Name = Field(
        default="",
        max_length=512,
        description="Metadata key, or key=value, of messages under legal hold: no limit erases them, nor their "
        "exchanges. Calls that erase do.",
    )
