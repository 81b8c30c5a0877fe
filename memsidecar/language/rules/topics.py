"""Topics and open questions."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.language.rules.lexicon import listed
from memsidecar.language.rules.rule import Claim, matching, table
from memsidecar.language.rules.values import is_telling, trimmed, up_to_the_end

DOMAIN, QUESTION = FactType.DOMAIN, FactType.QUESTION

_VAGUE = re.compile(
    r"(?:(?:an?|the|some|my|our|this|that|new|big|small|little|side|personal|school|work|simple|similar"
    r"|another|quick|few|couple of|different|few different)\s+)*(?:it|this|that|something|some|bug|bugs"
    r"|problem|problems|issue|issues|project|projects|stuff|things?|thing|myself|one|assignment|homework|task"
    r"|tasks|ticket|"
    r"feature|fix|pr|pull request|code|script|file|function|windows|linux|mac|macos|ubuntu|laptop|weekends?"
    r"|weekdays|mondays|plane|train|bus|night shift|page|solution|lot|way|these|those|few|ways|my|me|getting"
    r"|being|making|improving|it now|same)$",
    re.IGNORECASE,
)
_LEADS_TO = re.compile(
    r"(?:an?|the|my|our|this|some) (?:\w+ ){0,2}?(?:project|thesis|paper|dissertation|book|article|essay"
    r"|report|course|novel|talk|presentation|phd|research|study) (?:about|on|in|called|for|to|around"
    r"|related to|regarding) ",
    re.IGNORECASE,
)


def _topic(rest: str) -> Iterator[str]:
    ahead = _LEADS_TO.match(rest)
    rest = rest[ahead.end() :] if ahead else rest
    phrase = re.sub(r"^(?:an?|the|my|our|some) ", "", up_to_the_end(rest), flags=re.IGNORECASE)
    if is_telling(phrase) and not _VAGUE.match(phrase):
        yield phrase


_SOME_TIME = re.compile(
    r",? (?:later|again|some (?:other )?time|another time|tomorrow|next time|at some point|in a bit|please)\b.*$",
    re.IGNORECASE,
)


def _open(rest: str) -> Iterator[str]:
    """What is asked, without when; not what is only pointed at."""
    phrase = trimmed(_SOME_TIME.sub("", rest))
    if len(phrase) > 2 and phrase.lower() not in _NOTHING_NAMED and not phrase.isdigit():
        yield phrase


_NOTHING_NAMED = listed("it that this you me work them")
_LATER = r"(?=.*\b(?:later|again|some other time|another time|tomorrow|next time|at some point)\b)"
FORMS = [
    *table(
        DOMAIN,
        "topic",
        (
            r"(?:i'm|i've been|we're|we've been|i am) (?:working on|(?:building|developing|designing|implementing"
            r"|migrating)(?! the\b)) ",
            _topic,
            0.7,
        ),
        (
            r"(?:i'm|i've been|we're|we've been) (?:researching\b|writing (?=(?:an?|my|the) (?:\w+ )?(?:thesis|paper"
            r"|dissertation|book|article|essay|novel|report)\b)) ?",
            _topic,
            0.75,
        ),
        (r"(?:this|our|the) (?:chat|conversation|session|thread|discussion|project) is (?:all )?about ", _topic, 0.9),
        (
            r"my (?:current |side |phd |master's |bachelor's |research )?(?:project|thesis|research|dissertation|paper"
            r"|phd) (?:is (?:about|on)|deals with|focuses on|looks at) ",
            _topic,
            0.85,
        ),
        (
            r"i (?:maintain|develop|run) (?:an? |the )?(?:[\w-]+ ){0,3}?(?:project|library|package|framework|tool|app"
            r"|site|website|blog|podcast)(?: called| named)? ",
            _topic,
            0.7,
        ),
        (r"i do research (?:on|in|into) |my field is |my research (?:area|field|topic) is ", _topic, 0.85),
        (
            r"(?:let's|today let's|i want to|i'd like to) (?:talk about|discuss|focus on) (?!.*\b(?:later|again"
            r"|next time)\b)",
            _topic,
            0.6,
        ),
    ),
    *table(
        QUESTION,
        "open",
        (
            rf"i(?:'d| would)? (?:like|want|love) to (?:know|find out|understand|learn) {_LATER}(?:later,? )?"
            rf"(?:about )?",
            _open,
            0.85,
        ),
        (
            rf"(?:let's|we should|we need to|i want to|i'd like to|we can|we'll|i'll|can we|let me) (?:come back to"
            rf"|get back to|return to|revisit|circle back (?:to|on)) (?:you (?:on|about) )?{_LATER}",
            _open,
            0.8,
        ),
        (r"i'll (?:ask|want to ask|come back and ask)(?: you)? (?:again |later |tomorrow )(?:about )?", _open, 0.8),
        (
            r"later i(?:'ll|'d| want| would)?(?: also)?(?: like| want)?(?: to)? (?:know|ask(?: you)?|find out)"
            r"(?: about)? ",
            _open,
            0.8,
        ),
        (
            r"(?:i keep wondering|i can't stop wondering) (?:about )?(?=(?:how|why|what|whether|if|which|when|who"
            r"|where|about)\b)",
            _open,
            0.75,
        ),
    ),
]

_LABELLED = re.compile(
    r"(?:an? )?(?:open questions?(?: for later)?|(?:question|something|one) for (?:later|next time))\s?[:-] ?"
    r"(?P<what>.+)",
    re.IGNORECASE,
)


@matching(_LABELLED, of_sentence=True)
def left_open(sentence: str) -> Iterator[Claim]:
    """Asked, and yet told: the one thing that is read in a question."""
    match = _LABELLED.match(sentence)
    if match:
        yield from (Claim(QUESTION, "open", value, 0.85) for value in _open(match["what"]))
