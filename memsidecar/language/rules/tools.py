"""Rules for tools in use: programs, languages, services and devices, with their versions."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.language.rules.lexicon import GIVEN_NAMES, LANGUAGES, NOT_NAMES, NOT_TOOLS, PLACES, TOOLS
from memsidecar.language.rules.rule import FactClaim, pattern_rules, with_keywords
from memsidecar.language.rules.values import trim

PROFILE = FactType.USER_PROFILE

MAX_TOOL_WORDS = 4

_VERSION = re.compile(r"v?\d+(?:\.\w+){0,3}(?:\+|x)?|lts", re.IGNORECASE)
_WORD = re.compile(r"[\w+#./-]*[\w+#]")
_AFTER_TOOL = re.compile(
    r"\s*(?:$|[,.!?;:()\-\u2013\u2014\ufffc&]|(?:and|or|but|at|for|on|with|in|as|to|since|because|here|now|mostly"
    r"|daily|every"
    r"|instead|btw|by|these|where|when|while|which|so|if|right|currently|exclusively|too|everywhere|plus|from|under|via"
    r"|inside|over|all|a|though|sadly|heavily|yesterday|today|last|this|lately|recently|anymore|tbh|lol|extensively"
    r"|only"
    r"|primarily|internally|both|rather|until|i|we|unfortunately|exclusively)\b)",
    re.IGNORECASE,
)
_BETWEEN_TOOLS = re.compile(
    r"(?:\s(?:at (?:work|home)|on (?:my|the|our) \w+|for \w+))?(?:,\s*(?:and\s+|plus\s+)?|\s+(?:and|plus|&|\+|with"
    r"|together with|along with)\s+)"
    r"(?:(?:also|some|a bit of|a little|occasionally|sometimes)\s+)?",
    re.IGNORECASE,
)
_FOR_ONCE = re.compile(r"\s*(?:to\s+\w|for (?:this|that|the|an?)\b|here\b|and (?:get|got|it|i get)\b)", re.IGNORECASE)

_ARTICLE = re.compile(r"^(?:the|both|everything (?:on|in|with)|mostly|mainly|only|just|an?)\s", re.IGNORECASE)
_OTHER_NAMES = NOT_TOOLS | NOT_NAMES | LANGUAGES | PLACES | GIVEN_NAMES

_US = r"(?:i|we|my (?:team|company|employer|department)|our (?:team|company|department|whole team))"
_BE = r"(?:i'm|we're|i've been|we've been|i am|we are)"


def _words_of_tool(text: str, *, known_only: bool) -> str:
    """Return the tool at the start of the text with its version: known words, or capitalised ones."""
    words: list[str] = []
    position = 0
    while len(words) < MAX_TOOL_WORDS and (match := _WORD.match(text, position)):
        if not _is_tool_word(match[0], bool(words), known_only):
            break
        words.append(match[0])
        position = match.end()
        if text[position : position + 1] != " ":
            break
        position += 1
    return text[:position].strip() if words and _AFTER_TOOL.match(text, position) else ""


def _is_tool_word(word: str, follows: bool, known_only: bool) -> bool:
    lower = word.lower()
    if lower in TOOLS or (follows and _VERSION.fullmatch(lower)):
        return True
    is_capitalised = any(map(str.isupper, word)) and word[0].isalpha()
    return is_capitalised and (follows or not (known_only or lower in _OTHER_NAMES))


def _list_of_tools(rest: str, *, known_only: bool = False) -> tuple[list[str], str]:
    """Return the tools of a list, and the text behind it."""
    found: list[str] = []
    while tool := _words_of_tool(rest, known_only=known_only):
        found.append(trim(tool))
        known_only = False
        rest = rest[len(tool) :]
        between = _BETWEEN_TOOLS.match(rest)
        if between is None or not _words_of_tool(rest[between.end() :], known_only=known_only):
            break
        rest = rest[between.end() :]
    return found, rest


def tools(rest: str) -> Iterator[str]:
    """Yield the tools of a list: "zsh and neovim", "Postgres 16"."""
    yield from _list_of_tools(_without_article(rest))[0]


def known_tools(rest: str) -> Iterator[str]:
    """Yield tools where a capitalised word may be something else: "we're on Slack", not "we're on Main Street"."""
    yield from _list_of_tools(_without_article(rest), known_only=True)[0]


def _tools_in_use(rest: str) -> Iterator[str]:
    """Yield tools behind "I'm using", but not those of one task: "I'm using sed to rename files"."""
    found, after = _list_of_tools(_without_article(rest))
    if not _FOR_ONCE.match(after):
        yield from found


def _without_article(rest: str) -> str:
    return _ARTICLE.sub("", rest, count=1)


def _shop_tool(rest: str) -> Iterator[str]:
    word = rest.split(maxsplit=1)[0]
    if word.lower() in TOOLS:
        yield word


def tool_key(tool: str) -> str:
    """Return the key of a tool without its version, so that another version supersedes it."""
    words = tool.lower().split()
    name = [word for at, word in enumerate(words) if not at or not _VERSION.fullmatch(word)]
    return f"uses:{' '.join(name)[:60]}"


_CHANGED = re.compile(
    r"(?:i|we)(?:'ve)? (?P<verb>switched|migrated|moved|changed|converted|ported)(?: (?:everything|over|back|away"
    r"|our \w+"
    r"|my \w+)){0,2} from (?P<before>.{2,40}?) to (?P<after>.+)",
    re.IGNORECASE,
)

RULES = [
    *pattern_rules(
        PROFILE,
        tool_key,
        (rf"{_US} (?:use|uses|rely on|relies on|swear by) (?!to\b)", "use uses rely relies swear", tools, 0.8),
        (r"(?:i|we) (?:work (?:\w+ly )?with|write|develop on) ", "work write develop", known_tools, 0.75),
        (
            r"(?:i|we) (?:track|keep|manage|store|take|do|organi[sz]e|plan) (?:(?:my|our|all|the"
            r"|most) )?[\w -]{2,20}? (?:in|with|on) ",
            "track keep manage store take do organise organize plan",
            known_tools,
            0.7,
        ),
        (
            r"we're (?:an?|a pure|mostly an?) (?=[\w+#.]+ (?:shop|team"
            r"|company)\b)",
            "shop team company",
            _shop_tool,
            0.75,
        ),
        (r"(?:my|our) (?:back-?end|front-?end|app|api|service|website|site|project) uses ", "uses", tools, 0.75),
        (
            rf"{_US} (?:run|runs|host|hosts) (?:everything |all of it |it all )?(?:on "
            rf"|in )?",
            "run runs host hosts",
            known_tools,
            0.75,
        ),
        (rf"{_US} deploys? (?:everything )?(?:to|on|with|via|using) ", "deploy deploys", known_tools, 0.75),
        (rf"{_BE} (?:\w+ly )?(?:using|running) ", "using running", _tools_in_use, 0.75),
        (
            rf"{_BE} (?:\w+ly )?(?:on|stuck on|stuck with|coding in|programming in|working with"
            rf"|working in) ",
            "on coding programming working",
            known_tools,
            0.7,
        ),
        (
            rf"{_US} (?:\w+ly )?(?:code|program|develop|write(?: code| everything| most things)?|script"
            rf"|build everything)"
            r"(?: \w+ly)? (?:in|with) ",
            "build code develop program script write",
            known_tools,
            0.8,
        ),
        (
            r"(?:my|our) (?:(?:current|main|whole|tech|technology|dev|usual|default) )*(?:stack|toolchain|tooling"
            r"|setup)"
            r"(?: is| includes| consists of|:) ",
            "setup stack toolchain tooling",
            tools,
            0.8,
        ),
        (
            r"(?:my|our|the) (?:back-?end|front-?end|app|api|service|server|website|codebase|site) (?:is"
            r"|runs) (?:written"
            r" (?:in|with)|built (?:in|with|on)|on|in) ",
            "built is on runs written",
            known_tools,
            0.75,
        ),
        (
            r"(?:i|we)(?:'ve)? (?:just )?(?:switched|upgraded|updated|downgraded|migrated)(?: over| back| everything"
            r"| our \w+"
            r"| my \w+)? to ",
            "downgraded migrated switched updated upgraded",
            tools,
            0.8,
        ),
        (
            r"(?:i|we)(?:'ve)? (?:decided (?:to (?:use|go with|adopt)|on)|chose|chosen|settled on|went with|picked"
            r"|adopted"
            r"|standardi[sz]ed on) ",
            "adopted chose chosen decided picked settled standardised standardized went",
            known_tools,
            0.75,
        ),
    ),
    *pattern_rules(
        PROFILE,
        tool_key,
        (
            rf"{_US} (?:(?:no longer use|stopped using|quit using|got rid of) |don't use (?=.*\banymore\b))",
            "longer using use rid",
            tools,
            0.85,
        ),
        (r"i'm no longer using ", "longer", tools, 0.85),
        holds=False,
    ),
]


@with_keywords("switched migrated moved changed converted ported")
def changed_tool(clause: str) -> Iterator[FactClaim]:
    """Find the tool that another one replaced: "we switched from Jenkins to Nomad"."""
    match = _CHANGED.match(clause)
    if match is None:
        return
    before = list(known_tools(match["before"]))
    after = list(
        tools(match["after"]) if before or match["verb"].lower() == "switched" else known_tools(match["after"])
    )
    if after:
        yield from (FactClaim(PROFILE, tool_key(tool), tool, 0.85, holds=False) for tool in before)
        yield from (FactClaim(PROFILE, tool_key(tool), tool, 0.8) for tool in after[:1])
