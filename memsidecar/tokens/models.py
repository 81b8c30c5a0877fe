"""Table of models: tokenizer, context window and default budget by model name.

Windows are in tokens, as documented by the vendors. Where models of one name differ, the smallest is used: a budget
that is too small loses recall, and one that is too large fails the request.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache

PRESETS: Mapping[str, int] = {"short": 4_000, "normal": 16_000, "long": 32_000}
"""Session budgets by name, in tokens."""

UNKNOWN_WINDOW_BUDGET = 8_000
MAX_DERIVED_BUDGET = 32_000
_WINDOW_FRACTION = 10
"A budget is a tenth of the window: models use long contexts badly, and each token is paid for in every turn."
_MAX_WINDOW_FRACTION = 2
"A small window: half of it is left to the answer and to what the caller adds."

_MIN_SIMILARITY = 0.7
"Below it, the nearest known name is no likely meaning of an unknown one."

O200K = "o200k_base"
CL100K = "cl100k_base"
UNKNOWN_MODEL = "o200k_base estimate"

# Estimates of `families`, for vendors whose vocabulary is not part of the package.
CLAUDE = "claude estimate"
CLAUDE_4_7 = "claude-4.7 estimate"
GEMINI = "gemini estimate"
LLAMA_2 = "llama-2 estimate"
LLAMA_3 = "llama-3 estimate"
LLAMA_4 = "llama-4 estimate"
MISTRAL = "mistral estimate"
QWEN = "qwen estimate"
DEEPSEEK = "deepseek estimate"


@dataclass(frozen=True)
class Model:
    """A family of models: `pattern` is searched in the normalized name, at the beginning of a word.

    `name` is a usual name of one of them. It is suggested for a similar name that is unknown.
    """

    name: str
    pattern: str
    tokenizer: str
    window: int
    budget: int | None = None

    def matches(self, normalized: str) -> bool:
        return re.search(rf"(?<![a-z0-9])(?:{self.pattern})", normalized) is not None

    @property
    def budget_tokens(self) -> int:
        """Return the given budget, else a tenth of the window, at least that of an unknown model if half holds it."""
        floor = min(UNKNOWN_WINDOW_BUDGET, self.window // _MAX_WINDOW_FRACTION)
        return self.budget or min(max(self.window // _WINDOW_FRACTION, floor), MAX_DERIVED_BUDGET)


@dataclass(frozen=True)
class ModelProfile:
    """`window_tokens` is None if the window is unknown; `counter_name` is empty for the server's default."""

    name: str
    counter_name: str
    window_tokens: int | None
    budget_tokens: int
    known: bool = True


# The first match is used, so special patterns are before general ones. A version's dot may be ".", "-" or "p".
_OPENAI = (
    Model("gpt-oss-120b", r"gpt-oss", O200K, 131_072),
    Model("gpt-5-chat-latest", r"gpt-5(?:\.\d+)?-chat", O200K, 128_000),
    Model("gpt-5", r"gpt-5", O200K, 400_000),
    Model("gpt-4.5", r"gpt-4[.p-]5(?!\d)", O200K, 128_000),
    Model("gpt-4.1", r"gpt-4[.p-]1(?!\d)", O200K, 1_047_576),
    Model("gpt-4o", r"(?:chat)?gpt-4o", O200K, 128_000, 16_000),
    Model("gpt-4-turbo", r"gpt-4-(?:turbo|vision|1106|0125)", CL100K, 128_000, 12_000),
    Model("gpt-4-32k", r"gpt-4-32k", CL100K, 32_768),
    Model("gpt-4", r"gpt-4(?![.\w])", CL100K, 8_192),
    Model("gpt-3.5-turbo-instruct", r"gpt-3[.p-]?5-turbo-instruct", CL100K, 4_096),
    Model("gpt-3.5-turbo", r"gpt-3[.p-]?5", CL100K, 16_385),
    Model("o1-mini", r"o1-(?:mini|preview)", O200K, 128_000),
    Model("o3", r"o(?:1|3|4-mini)(?![.\w])", O200K, 200_000),
)

_ANTHROPIC = (
    Model("claude-instant", r"claude-instant|claude-(?:v?[12](?!\d|[.p-]1(?!\d)))", CLAUDE, 100_000),
    Model("claude-2.1", r"claude-v?2", CLAUDE, 200_000),
    Model("claude-3-opus", r"claude-3(?![.p-]?[57](?!\d))", CLAUDE, 200_000),
    Model(
        "claude-opus-4-7",
        r"claude-(?:(?:opus|sonnet|haiku)-)?(?:4[.p-](?:[7-9]|\d\d)|[5-9]|1\d)(?!\d)|claude-(?:fable|mythos)",
        CLAUDE_4_7,
        200_000,
        24_000,
    ),
    Model("claude-sonnet-4-5", r"claude", CLAUDE, 200_000, 24_000),
)

_GOOGLE = (
    Model("gemini-1.0-pro", r"gemini-1[.p-]0", GEMINI, 32_760),
    Model("gemini-2.5-pro", r"gemini-(?:.*-)?pro(?!\w)", GEMINI, 1_000_000, 32_000),
    Model("gemini-2.5-flash", r"gemini", GEMINI, 1_048_576),
    Model("gemma-3n", r"gemma-?3n|gemma-?3[:-](?:1b|270m)", GEMINI, 32_768),
    Model("gemma-3", r"gemma-?3(?!\d)", GEMINI, 128_000),
    Model("gemma-2", r"gemma(?:-?2)?(?!-?\d)|gemma-\d+b", GEMINI, 8_192),
)

# Before Meta and Qwen, because distilled models contain their names.
_DEEPSEEK = (Model("deepseek-chat", r"deepseek", DEEPSEEK, 64_000, 8_000),)

_META = (
    Model("llama-4-scout", r"llama-?v?4-scout", LLAMA_4, 10_000_000),
    Model("llama-4-maverick", r"llama-?v?4(?!\d)", LLAMA_4, 1_000_000),
    Model("llama-3.1", r"llama-?v?3[.p-]1(?![\db])", LLAMA_3, 128_000, 12_000),
    Model("llama-3.3", r"llama-?v?3[.p-][23](?![\db])", LLAMA_3, 128_000),
    Model("llama-3", r"llama-?v?3(?![.\d])", LLAMA_3, 8_192),
    Model("llama-2", r"llama-?v?2(?![.\d])", LLAMA_2, 4_096),
)

# Mistral's older models have a vocabulary like Llama 2's, its newer ones have Tekken.
_MISTRAL = (
    Model("mistral-large-2411", r"mistral-large(?:-instruct)?-24\d\d", LLAMA_2, 128_000),
    Model(
        "mistral-large",
        r"mistral-(?:large|medium|nemo)|open-mistral-nemo|pixtral|ministral|devstral",
        MISTRAL,
        128_000,
    ),
    Model("mistral-small-2409", r"mistral-small(?:-24b.*)?-24\d\d(?!\d)", LLAMA_2, 32_000),
    Model("mistral-small-2501", r"mistral-small(?:-24b.*)?-2501(?!\d)", MISTRAL, 32_000),
    Model("mistral-small", r"mistral-small", MISTRAL, 128_000),
    Model("magistral-medium", r"magistral", MISTRAL, 40_000),
    Model("codestral-22b", r"codestral(?::22b|-22b|-2405)", LLAMA_2, 32_000),
    Model("codestral", r"codestral", MISTRAL, 256_000),
    Model("mixtral-8x22b", r"(?:open-)?mixtral-?[:-]?8x22b", LLAMA_2, 65_536),
    Model("mixtral-8x7b", r"(?:open-)?mixtral", LLAMA_2, 32_768),
    Model("mistral-7b", r"(?:open-)?mistral(?:-7b|-tiny|-saba|:|$)", LLAMA_2, 32_768),
)

_QWEN = (
    Model("qwen3-coder", r"qwen-?3(?:\.\d+)?-(?:coder|max)", QWEN, 262_144),
    Model("qwen3", r"qwen-?3|qwen-?2[.p-]5(?!\d)|qwq", QWEN, 131_072),
    Model("qwen-max", r"qwen-?max", QWEN, 32_768),
    Model("qwen-plus", r"qwen-?(?:plus|turbo|coder)", QWEN, 131_072),
    Model("qwen2", r"qwen-?(?:2|1[.p-]5)(?!\d)", QWEN, 32_768),
)

MODELS = (*_OPENAI, *_ANTHROPIC, *_GOOGLE, *_DEEPSEEK, *_META, *_MISTRAL, *_QWEN)


# Bounded, because names come from clients.
@lru_cache(maxsize=256)
def lookup(name: str) -> ModelProfile:
    """Return the profile of a model by any spelling of its name.

    An unknown model has no window; its tokens are estimated as those of o200k_base. The name of a preset gives its
    budget and the server's default counter.
    """
    if not name or name in PRESETS:
        return ModelProfile(name, "", None, PRESETS.get(name, UNKNOWN_WINDOW_BUDGET))
    normalized = _normalize(name)
    for model in MODELS:
        if model.matches(normalized):
            return ModelProfile(name, model.tokenizer, model.window, model.budget_tokens)
    return ModelProfile(name, UNKNOWN_MODEL, None, UNKNOWN_WINDOW_BUDGET, known=False)


@lru_cache(maxsize=256)
def nearest_name(name: str) -> str:
    """Return the known name that is most similar to an unknown one ("gpt4o": "gpt-4o"); empty if none is similar."""
    known = [model.name for model in MODELS]
    return next(iter(get_close_matches(_normalize(name), known, n=1, cutoff=_MIN_SIMILARITY)), "")


def _normalize(name: str) -> str:
    """Return the name in lower case with hyphens, without a provider before it and an owner's id after it."""
    last = name.strip().lower().rstrip("/").rpartition("/")[2]
    tuned = re.match(r"(?:.*:)?ft:([^:]+)", last)
    return re.sub(r"[\s_]+", "-", tuned[1] if tuned else last)
