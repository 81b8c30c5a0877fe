"""Settings of contexts: section budgets, and when facts, patterns and summaries are derived."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from memsidecar.settings.types import Conversations, Days, Items, Messages, Score, Seconds, Share, Tokens, Turns, Users

_SCALES = " At a budget of 8,000; it scales with the budget."
_FLOWS = " Tokens that other sections leave extend it."


class ContextSettings(BaseModel):
    """See docs/context.md for the packing of a context."""

    context_budget: Tokens = Field(
        default=8_000,
        ge=1,
        le=10_000_000,
        description="Tokens of a context when neither the request nor its model sets a number.",
    )
    context_fill: Share = Field(
        default=1.0,
        ge=0,
        le=1,
        description="How far sections may grow beyond their shares with tokens that others leave: 0 not at all, 1 up "
        "to their ceilings. A request can set it.",
    )
    system_budget: Tokens = Field(
        default=1_000,
        ge=0,
        le=1_000_000,
        description="Tokens of a system prompt above which a warning is logged. It is never cut." + _SCALES,
    )
    profile_budget: Tokens = Field(
        default=2_000, ge=0, le=1_000_000, description="Maximum tokens of the caller's profile in a context." + _SCALES
    )
    facts_budget: Tokens = Field(
        default=200, ge=0, le=1_000_000, description="Guaranteed tokens of facts in a context." + _SCALES + _FLOWS
    )
    hints_budget: Tokens = Field(
        default=100, ge=0, le=1_000_000, description="Maximum tokens of hints from patterns in a context." + _SCALES
    )
    summary_budget: Tokens = Field(
        default=400,
        ge=16,
        le=1_000_000,
        description="Maximum tokens of a rolling summary, when it is made and in a context." + _SCALES,
    )
    artifacts_budget: Tokens = Field(
        default=200,
        ge=0,
        le=1_000_000,
        description="Guaranteed tokens of tool artifacts in a context." + _SCALES + _FLOWS,
    )
    documents_budget: Tokens = Field(
        default=800,
        ge=0,
        le=1_000_000,
        description="Guaranteed tokens of document chunks in a context." + _SCALES + _FLOWS,
    )
    episodic_budget: Tokens = Field(
        default=400,
        ge=0,
        le=1_000_000,
        description="Guaranteed tokens of retrieved messages in a context." + _SCALES + _FLOWS,
    )
    memory_budget: Tokens = Field(
        default=800,
        ge=0,
        le=1_000_000,
        description="Maximum tokens of facts, hints, summary and artifacts together, so that derived memory does not "
        "displace the conversation." + _SCALES,
    )
    working_max_turns: Turns = Field(
        default=10,
        ge=1,
        le=100_000,
        description="Maximum turns that a context shows of a conversation that does not fit whole. More with a budget "
        "above 8,000.",
    )
    working_max_tokens: Tokens = Field(
        default=4_000,
        ge=0,
        le=10_000_000,
        description="Guaranteed tokens of the conversation in a context." + _SCALES + _FLOWS,
    )
    working_min_turns: Turns = Field(
        default=5,
        validate_default=True,
        ge=0,
        le=100_000,
        description="Turns that are evicted only after everything else.",
    )
    retrieved_role: Literal["system", "user"] = Field(
        default="system",
        description="Role of the message with the retrieved memory. Use user for models that accept system messages "
        "at the beginning only.",
    )

    episodic_top_k: Items = Field(
        default=3, ge=0, le=1_000, description="Retrieved messages within the share of their section."
    )
    episodic_top_k_max: Items = Field(
        default=30,
        validate_default=True,
        ge=0,
        le=1_000,
        description="Maximum retrieved messages in a context when the request sets no number.",
    )
    episodic_min_quality: Score = Field(
        default=7.0,
        ge=0,
        le=10,
        description="Minimum evaluation score of a retrieved message. Messages without a score are not affected.",
    )
    episodic_recency_weight: Share = Field(
        default=0.3, ge=0, lt=1, description="Share of recency in the score of a retrieved message, in a context."
    )
    episodic_recency_half_life_days: Days = Field(
        default=30.0, gt=0, le=36_500, description="Days after which the recency of a message counts half."
    )
    similarity_threshold: Share = Field(
        default=0.25,
        ge=0,
        le=1,
        description="Minimum relevance of a retrieved message or chunk: a probability. 0: no minimum.",
    )
    rerank_top_n: Items = Field(
        default=20,
        ge=1,
        le=1_000,
        description="Minimum messages that are loaded before the best are chosen; two for each one that the section "
        "may have, if that is more and they may fit.",
    )

    facts_every_turns: Turns = Field(
        default=5,
        ge=1,
        le=1_000,
        description="Turns of a session between two fact extractions. Fewer find facts sooner, and change the "
        "beginning of contexts, which providers cache, more often.",
    )
    facts_quiet_seconds: Seconds = Field(
        default=3.0,
        ge=0,
        le=86_400,
        description="Seconds without a message after which facts are extracted, however few turns a session has.",
    )
    facts_max: Items = Field(
        default=8, ge=0, le=1_000, description="Facts within the share of their section. More are shown as they fit."
    )
    facts_cache_size: Users = Field(default=100, ge=1, le=1_000_000, description="Users whose facts are cached in RAM.")
    patterns_every_conversations: Conversations = Field(
        default=100,
        ge=1,
        le=1_000_000,
        description="Conversations of a user after which the patterns are computed again. GetPatterns can request it.",
    )
    summary_every_messages: Messages = Field(
        default=12, ge=2, le=100_000, description="Messages of a session between two rolling summaries."
    )
    summary_tail_tokens: Tokens = Field(
        default=3_000,
        ge=1,
        le=10_000_000,
        description="Tokens without a summary from which on one is made, however few messages they are.",
    )
    summary_keep_messages: Messages = Field(
        default=6, ge=0, le=100_000, description="Newest messages that a summary leaves out."
    )

    @field_validator("episodic_top_k_max")
    @classmethod
    def _check_episodic_items(cls, maximum: int, settings: ValidationInfo) -> int:
        if maximum < settings.data.get("episodic_top_k", maximum):
            raise ValueError("is less than episodic_top_k")
        return maximum

    @field_validator("working_min_turns")
    @classmethod
    def _check_working_turns(cls, minimum: int, settings: ValidationInfo) -> int:
        if minimum > settings.data.get("working_max_turns", minimum):
            raise ValueError("is more than working_max_turns")
        return minimum
