"""Table of models: tokenizer, context window and default budget by model name.

Windows are in tokens, as documented by the vendors. Where models of one name differ, the smallest is used: a budget
that is too small loses recall, and one that is too large fails the request.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

PRESETS: Mapping[str, int] = {"short": 4_000, "normal": 16_000, "long": 32_000}
"""Session budgets by name, in tokens."""

UNKNOWN_WINDOW_BUDGET = 8_000
MAX_DERIVED_BUDGET = 32_000

# For vendors that publish no vocabulary, and for unknown models.
ESTIMATED = "chars/4"
O200K = "o200k_base"
CL100K = "cl100k_base"


@dataclass(frozen=True)
class Model:
    """A family of models: `pattern` is searched in the normalized name, at the beginning of a word."""

    pattern: str
    window: int
    budget: int | None = None
    tokenizer: str = ESTIMATED

    def matches(self, normalized: str) -> bool:
        return re.search(rf"(?<![a-z0-9])(?:{self.pattern})", normalized) is not None

    @property
    def budget_tokens(self) -> int:
        return self.budget or min(self.window // 10, MAX_DERIVED_BUDGET)


@dataclass(frozen=True)
class ModelProfile:
    """`window_tokens` is None if the window is unknown; `counter_name` is empty for the server's default."""

    name: str
    counter_name: str
    window_tokens: int | None
    budget_tokens: int


# The first match is used, so special patterns are before general ones. A version's dot may be ".", "-" or "p".
_OPENAI = (
    Model(r"gpt-oss", 131_072, tokenizer=O200K),
    Model(r"gpt-5(?:\.\d+)?-chat", 128_000, tokenizer=O200K),
    Model(r"gpt-5", 400_000, tokenizer=O200K),
    Model(r"gpt-4[.p-]5(?!\d)", 128_000, tokenizer=O200K),
    Model(r"gpt-4[.p-]1(?!\d)", 1_047_576, tokenizer=O200K),
    Model(r"(?:chat)?gpt-4o", 128_000, 16_000, O200K),
    Model(r"gpt-4-(?:turbo|vision|1106|0125)", 128_000, 12_000, CL100K),
    Model(r"gpt-4-32k", 32_768, tokenizer=CL100K),
    Model(r"gpt-4(?![.\w])", 8_192, tokenizer=CL100K),
    Model(r"gpt-3[.p-]?5-turbo-instruct", 4_096, tokenizer=CL100K),
    Model(r"gpt-3[.p-]?5", 16_385, tokenizer=CL100K),
    Model(r"o1-(?:mini|preview)", 128_000, tokenizer=O200K),
    Model(r"o(?:1|3|4-mini)(?![.\w])", 200_000, tokenizer=O200K),
)

_ANTHROPIC = (
    Model(r"claude-instant|claude-(?:v?[12](?!\d|[.p-]1(?!\d)))", 100_000),
    Model(r"claude-v?2", 200_000),
    Model(r"claude-3(?![.p-]?[57](?!\d))", 200_000),
    Model(r"claude", 200_000, 24_000),
)

_GOOGLE = (
    Model(r"gemini-1[.p-]0", 32_760),
    Model(r"gemini-(?:.*-)?pro(?!\w)", 1_000_000, 32_000),
    Model(r"gemini", 1_048_576),
    Model(r"gemma-?3n|gemma-?3[:-](?:1b|270m)", 32_768),
    Model(r"gemma-?3(?!\d)", 128_000),
    Model(r"gemma(?:-?2)?(?!-?\d)|gemma-\d+b", 8_192),
)

# Before Meta and Qwen, because distilled models contain their names.
_DEEPSEEK = (Model(r"deepseek", 64_000, 8_000),)

_META = (
    Model(r"llama-?v?4-scout", 10_000_000),
    Model(r"llama-?v?4(?!\d)", 1_000_000),
    Model(r"llama-?v?3[.p-]1(?![\db])", 128_000, 12_000),
    Model(r"llama-?v?3[.p-][23](?![\db])", 128_000),
    Model(r"llama-?v?3(?![.\d])", 8_192),
    Model(r"llama-?v?2(?![.\d])", 4_096),
)

_MISTRAL = (
    Model(r"mistral-(?:large|medium|nemo)|open-mistral-nemo|pixtral|ministral|devstral", 128_000),
    Model(r"mistral-small(?:-24b.*)?-2(?:4\d\d|501)(?!\d)", 32_000),
    Model(r"mistral-small", 128_000),
    Model(r"magistral", 40_000),
    Model(r"codestral(?::22b|-22b|-2405)", 32_000),
    Model(r"codestral", 256_000),
    Model(r"(?:open-)?mixtral-?[:-]?8x22b", 65_536),
    Model(r"(?:open-)?mixtral", 32_768),
    Model(r"(?:open-)?mistral(?:-7b|-tiny|-saba|:|$)", 32_768),
)

_QWEN = (
    Model(r"qwen-?3(?:\.\d+)?-(?:coder|max)", 262_144),
    Model(r"qwen-?3|qwen-?2[.p-]5(?!\d)|qwq", 131_072),
    Model(r"qwen-?max", 32_768),
    Model(r"qwen-?(?:plus|turbo|coder)", 131_072),
    Model(r"qwen-?(?:2|1[.p-]5)(?!\d)", 32_768),
)

MODELS = (*_OPENAI, *_ANTHROPIC, *_GOOGLE, *_DEEPSEEK, *_META, *_MISTRAL, *_QWEN)


# Bounded, because names come from clients.
@lru_cache(maxsize=256)
def lookup(name: str) -> ModelProfile:
    """Return the profile of a model by any spelling of its name; an unknown one is estimated and has no window.

    The name of a preset gives its budget and the server's default counter.
    """
    if not name or name in PRESETS:
        return ModelProfile(name, "", None, PRESETS.get(name, UNKNOWN_WINDOW_BUDGET))
    normalized = _normalize(name)
    for model in MODELS:
        if model.matches(normalized):
            return ModelProfile(name, model.tokenizer, model.window, model.budget_tokens)
    return ModelProfile(name, ESTIMATED, None, UNKNOWN_WINDOW_BUDGET)


def _normalize(name: str) -> str:
    """Return the name in lower case with hyphens, without a provider before it and an owner's id after it."""
    last = name.strip().lower().rstrip("/").rpartition("/")[2]
    tuned = re.match(r"(?:.*:)?ft:([^:]+)", last)
    return re.sub(r"[\s_]+", "-", tuned[1] if tuned else last)
