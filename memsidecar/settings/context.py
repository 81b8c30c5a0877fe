"""The settings of a context: how the budget is divided, and what is learned behind everybody's back."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from memsidecar.settings.types import Conversations, Days, Items, Messages, Score, Seconds, Share, Tokens, Turns, Users

_SCALES = " At a budget of 8,000; it scales with the budget."


class ContextSettings(BaseModel):
    """See docs/context.md for how a context is fitted."""

    context_budget: Tokens = Field(
        default=8_000,
        ge=1,
        le=10_000_000,
        description="Tokens of a context when neither the request nor its model says how many.",
    )
    system_budget: Tokens = Field(
        default=1_000,
        ge=0,
        le=1_000_000,
        description="Tokens of a system prompt above which the log warns. It is never cut." + _SCALES,
    )
    profile_budget: Tokens = Field(
        default=2_000, ge=0, le=1_000_000, description="Most tokens of the caller's profile in a context." + _SCALES
    )
    facts_budget: Tokens = Field(
        default=200, ge=0, le=1_000_000, description="Most tokens of facts in a context." + _SCALES
    )
    hints_budget: Tokens = Field(
        default=100, ge=0, le=1_000_000, description="Most tokens of hints from patterns in a context." + _SCALES
    )
    summary_budget: Tokens = Field(
        default=400,
        ge=16,
        le=1_000_000,
        description="Most tokens of a rolling summary, when it is made and in a context." + _SCALES,
    )
    artifacts_budget: Tokens = Field(
        default=200, ge=0, le=1_000_000, description="Most tokens of tool artifacts in a context." + _SCALES
    )
    documents_budget: Tokens = Field(
        default=800, ge=0, le=1_000_000, description="Most tokens of document chunks in a context." + _SCALES
    )
    episodic_budget: Tokens = Field(
        default=400, ge=0, le=1_000_000, description="Most tokens of what was said before in a context." + _SCALES
    )
    memory_budget: Tokens = Field(
        default=800,
        ge=0,
        le=1_000_000,
        description="Most tokens of facts, hints, summary and artifacts together: what was distilled must not crowd "
        "out what was said." + _SCALES,
    )
    working_max_turns: Turns = Field(
        default=10, ge=1, le=100_000, description="Most turns of the conversation that a context shows as they were."
    )
    working_max_tokens: Tokens = Field(
        default=4_000, ge=0, le=10_000_000, description="Most tokens of the conversation in a context." + _SCALES
    )
    working_min_turns: Turns = Field(
        default=5,
        validate_default=True,
        ge=0,
        le=100_000,
        description="Turns that stay while anything else can go; fewer only when nothing else is left to leave out.",
    )
    retrieved_role: Literal["system", "user"] = Field(
        default="system",
        description="Role of the message that carries what was retrieved for a turn. user, for models that take "
        "system messages at the beginning only.",
    )

    episodic_top_k: Items = Field(
        default=3, ge=0, le=1_000, description="Memories in a context when the request names no number."
    )
    episodic_min_quality: Score = Field(
        default=7.0,
        ge=0,
        le=10,
        description="Least evaluation score of a memory in a context. Messages that nobody judged are not held to it.",
    )
    episodic_recency_weight: Share = Field(
        default=0.3, ge=0, lt=1, description="Share of a memory's score that is its recency, in a context."
    )
    episodic_recency_half_life_days: Days = Field(
        default=30.0, gt=0, le=36_500, description="Days after which a memory's recency counts half."
    )
    similarity_threshold: Share = Field(
        default=0.25, ge=0, le=1, description="Least score of a memory in a context, its recency left out of account."
    )
    rerank_top_n: Items = Field(
        default=20,
        ge=1,
        le=1_000,
        description="Memories that are ranked before the best are chosen, at least; four for each one asked for.",
    )

    facts_every_turns: Turns = Field(
        default=5,
        ge=1,
        le=1_000,
        description="Turns of a session between two looks for facts in it. Fewer find them sooner and change the "
        "beginning of contexts, which providers cache, more often.",
    )
    facts_quiet_seconds: Seconds = Field(
        default=3.0,
        ge=0,
        le=86_400,
        description="Seconds of silence after which facts are looked for in a session, however few turns it had.",
    )
    facts_max: Items = Field(default=8, ge=0, le=1_000, description="Most facts in a context.")
    facts_cache_size: Users = Field(
        default=100, ge=1, le=1_000_000, description="Users whose facts stay in RAM, so that a context need not read."
    )
    patterns_every_conversations: Conversations = Field(
        default=100,
        ge=1,
        le=1_000_000,
        description="Conversations of a user after which their patterns are computed anew. GetPatterns can ask for it.",
    )
    summary_every_messages: Messages = Field(
        default=12, ge=2, le=100_000, description="Messages of a session between two rolling summaries."
    )
    summary_tail_tokens: Tokens = Field(
        default=3_000,
        ge=1,
        le=10_000_000,
        description="Tokens that no summary speaks for yet from which on one is made, however few messages they are.",
    )
    summary_keep_messages: Messages = Field(
        default=6, ge=0, le=100_000, description="Newest messages that a summary leaves as they were said."
    )

    @field_validator("working_min_turns")
    @classmethod
    def _no_more_than_the_most(cls, least: int, settings: ValidationInfo) -> int:
        if least > settings.data.get("working_max_turns", least):
            raise ValueError("is more than working_max_turns")
        return least
