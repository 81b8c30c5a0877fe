"""The settings of the language model that writes summaries and finds facts, where there is one."""

from __future__ import annotations

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from memsidecar.settings.values import Name, OptionalFile, Requests, Seconds, Url


class LanguageSettings(BaseModel):
    """Who is asked. Without a model, rules find facts and summaries are made of what was said."""

    model_url: Url = Field(
        default="",
        description="Base address of a language model that speaks /v1/chat/completions (Ollama, vLLM, hosted ...), "
        "such as http://127.0.0.1:11434/v1. Whatever is said is sent there. Empty: no model, rules do what they can.",
    )
    model_name: Name = Field(
        default="",
        validate_default=True,
        description="Model that is asked for at model_url. Facts and summaries name it.",
    )
    model_key_file: OptionalFile = Field(
        default=None, description="File that holds the model's key, if it wants one. Read at start."
    )
    model_timeout_seconds: Seconds = Field(
        default=30.0,
        gt=0,
        le=3600,
        description="Seconds that the model may take for one answer before it is asked again. It works in the "
        "background, so no caller waits; a model on a slow machine needs more.",
    )
    model_concurrency: Requests = Field(
        default=1,
        ge=1,
        le=64,
        description="Most requests to the model at once. One, because a model on the same machine answers many no "
        "sooner than one after the other, and shares its processor with the agent.",
    )

    @field_validator("model_name")
    @classmethod
    def _together_with_an_address(cls, name: str, settings: ValidationInfo) -> str:
        # An address that was refused is told already.
        if "model_url" not in settings.data:
            return name
        if settings.data["model_url"] and not name:
            raise ValueError("is empty: expected the name of the model at model_url")
        if name and not settings.data["model_url"]:
            raise ValueError("is given without model_url: expected both, or none")
        return name
