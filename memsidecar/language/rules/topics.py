"""Rules for topics of work and for questions that the user leaves open."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.domain.text import word_set
from memsidecar.language.rules.rule import FactClaim, pattern_rules
from memsidecar.language.rules.values import leading_phrase, names_something, trim

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
_TOPIC_LEAD_IN = re.compile(
    r"(?:an?|the|my|our|this|some) (?:\w+ ){0,2}?(?:project|thesis|paper|dissertation|book|article|essay"
    r"|report|course|novel|talk|presentation|phd|research|study) (?:about|on|in|called|for|to|around"
    r"|related to|regarding) ",
    re.IGNORECASE,
)

_TIME_PHRASE = re.compile(
    r",? (?:later|again|some (?:other )?time|another time|tomorrow|next time|at some point|in a bit|please)\b.*$",
    re.IGNORECASE,
)
_PRONOUNS = word_set("it that this you me work them")
_LATER = r"(?=.*\b(?:later|again|some other time|another time|tomorrow|next time|at some point)\b)"
_LABELLED = re.compile(
    r"(?:an? )?(?:open questions?(?: for later)?|(?:question|something|one) for (?:later|next time))\s?[:-] ?"
    r"(?P<what>.+)",
    re.IGNORECASE,
)


def _topic(rest: str) -> Iterator[str]:
    ahead = _TOPIC_LEAD_IN.match(rest)
    rest = rest[ahead.end() :] if ahead else rest
    phrase = re.sub(r"^(?:an?|the|my|our|some) ", "", leading_phrase(rest), flags=re.IGNORECASE)
    if names_something(phrase) and not _VAGUE.match(phrase):
        yield phrase


def _question(rest: str) -> Iterator[str]:
    """Yield the question without its time; none if it is only a pronoun."""
    phrase = trim(_TIME_PHRASE.sub("", rest))
    if len(phrase) > 2 and phrase.lower() not in _PRONOUNS and not phrase.isdigit():
        yield phrase


RULES = [
    *pattern_rules(
        DOMAIN,
        "topic",
        (
            r"(?:i'm|i've been|we're|we've been|i am) (?:working on|(?:building|developing|designing|implementing"
            r"|migrating)(?! the\b)) ",
            "building designing developing implementing migrating working",
            _topic,
            0.7,
        ),
        (
            r"(?:i'm|i've been|we're|we've been) (?:researching\b|writing (?=(?:an?|my|the) (?:\w+ )?(?:thesis|paper"
            r"|dissertation|book|article|essay|novel|report)\b)) ?",
            "researching writing",
            _topic,
            0.75,
        ),
        (
            r"i'm (?:doing|writing|finishing|working on) (?:my|an?) (?:phd|doctorate|dissertation|thesis"
            r"|postdoc) (?:on|about) ",
            "dissertation doctorate phd postdoc thesis",
            _topic,
            0.8,
        ),
        (
            r"(?:this|our|the) (?:chat|conversation|session|thread|discussion|project) is (?:all )?about ",
            "about",
            _topic,
            0.9,
        ),
        (
            r"my (?:current |side |phd |master's |bachelor's |research )?(?:project|thesis|research|dissertation|paper"
            r"|phd) (?:is (?:about|on)|deals with|focuses on|looks at) ",
            "dissertation paper phd project research thesis",
            _topic,
            0.85,
        ),
        (
            r"i (?:maintain|develop|run) (?:an? |the )?(?:[\w-]+ ){0,3}?(?:project|library|package|framework|tool|app"
            r"|site|website|blog|podcast)(?: called| named)? ",
            "develop maintain run",
            _topic,
            0.7,
        ),
        (
            r"my (?:side|pet|hobby|capstone|thesis|bachelor|master) project is (?:an? |the |about )",
            "project",
            _topic,
            0.75,
        ),
        (
            r"i do research (?:on|in|into) |my field is |my research (?:area|field|topic) is ",
            "field research",
            _topic,
            0.85,
        ),
        (
            r"(?:let's|today let's|i want to|i'd like to) (?:talk about|discuss|focus on) (?!.*\b(?:later|again"
            r"|next time)\b)",
            "talk discuss focus",
            _topic,
            0.6,
        ),
    ),
    *pattern_rules(
        QUESTION,
        "open",
        (
            rf"i(?:'d| would)? (?:like|want|love) to (?:know|find out|understand|learn) {_LATER}(?:later,? )?"
            rf"(?:about )?",
            "know find understand learn",
            _question,
            0.85,
        ),
        (
            rf"(?:let's|we should|we need to|i want to|i'd like to|we can|we'll|i'll|can we|let me) (?:come back to"
            rf"|get back to|return to|revisit|circle back (?:to|on)) (?:you (?:on|about) )?{_LATER}",
            "back return revisit",
            _question,
            0.8,
        ),
        (
            r"i'll (?:ask|want to ask|come back and ask)(?: you)? (?:again |later |tomorrow )(?:about )?",
            "again later tomorrow",
            _question,
            0.8,
        ),
        (
            r"later i(?:'ll|'d| want| would)?(?: also)?(?: like| want)?(?: to)? (?:know|ask(?: you)?|find out)"
            r"(?: about)? ",
            "later",
            _question,
            0.8,
        ),
        (
            r"(?:i keep wondering|i can't stop wondering) (?:about )?(?=(?:how|why|what|whether|if|which|when|who"
            r"|where|about)\b)",
            "wondering",
            _question,
            0.75,
        ),
    ),
]


def open_questions(sentence: str) -> Iterator[FactClaim]:
    """Find a labelled question ("open question: ..."). It is tried on whole sentences, questions too."""
    match = _LABELLED.match(sentence)
    if match:
        yield from (FactClaim(QUESTION, "open", value, 0.85) for value in _question(match["what"]))
