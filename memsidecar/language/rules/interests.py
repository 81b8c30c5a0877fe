"""Rules for likes, dislikes, favorites and feelings."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.language.rules.lexicon import TOOLS
from memsidecar.language.rules.rule import FactClaim, pattern_rules, reading, with_keywords
from memsidecar.language.rules.values import leading_phrase, names_something, thing, things, trim
from memsidecar.language.rules.wishes import is_about_answers

INTEREST, PREFERENCE, SENTIMENT = FactType.INTEREST, FactType.PREFERENCE, FactType.SENTIMENT

_FEELINGS = (
    r"frustrated|annoyed|irritated|angry|mad|furious|pissed(?: off)?|upset|unhappy|disappointed|dissatisfied"
    r"|fed up|sick|sick and tired|tired|bored|happy|glad|thrilled|excited|"
    r"delighted|pleased|satisfied|impressed|worried|anxious|nervous|concerned|stressed(?: out)?|scared|afraid"
    r"|terrified|sad|heartbroken|devastated|overwhelmed|"
    r"proud|ashamed|embarrassed|jealous|pumped|stoked|psyched|hyped|optimistic|pessimistic|skeptical|sceptical"
    r"|hopeful|uneasy|apprehensive|relieved|amazed|"
    r"uncomfortable|exhausted|drained|burned out|burnt out|bummed(?: out)?|over the moon|ecstatic|bitter"
    r"|miserable|freaking out|stressing"
)
_FEELS = re.compile(
    rf"(?:i'm|i feel|i've been)(?: \w+ly| so| very| super| pretty| a bit| a little| quite| kind of| also| just"
    rf"| still| getting| feeling| too| beyond| starting to get| more and more)*"
    rf" (?P<feeling>{_FEELINGS})(?: and \w+)? (?P<about>with|about|by|at|of|for|over|from|regarding) (?P<what>.+)",
    re.IGNORECASE,
)
_FORWARD = re.compile(
    r"i(?:'m| am)?(?: \w+ly| so| very much)* (?P<feeling>looking forward|look forward) to (?P<what>.+)", re.IGNORECASE
)
_DRIVES = re.compile(
    r"(?P<what>(?:the|my|this|our) (?:[\w'-]+ ){0,4}?[\w'-]+) (?:really |just |always |constantly "
    r"|seriously )?(?P<feeling>(?:is|are) (?:really |seriously |slowly )?(?:driving me (?:crazy|nuts|mad"
    r"|insane|up the wall)|stressing me out|freaking me out|killing me|getting on my nerves)|"
    r"(?:frustrates|annoys|worries|scares|excites|bothers|stresses|terrifies|irritates) me|(?:makes|make"
    r"|making) me (?:\w+ly |so )?(?:happy|sad|angry|anxious|nervous|mad|furious|miserable|proud))\b",
    re.IGNORECASE,
)
_FIXED = re.compile(r"(?:sick|tired|sick and tired)$", re.IGNORECASE)
_NOT_ABOUT = re.compile(
    r"(?:help|be|assist|hear|see|you|now|sure|the time being|a while|good|me|once|first|all|everyone|the best"
    r"|him|her|them|us)$|(?:you|your)\b|\d",
    re.IGNORECASE,
)
_TO_THE_ASSISTANT = re.compile(r"\b(?:you|your|yours)\b|^(?:hearing|seeing|talking|chatting)\b", re.IGNORECASE)

_NOT_LIKED = re.compile(
    r"(?:your|the way|how|second|first|third|last|former|latter|option|approach|version|idea|suggestion"
    r"|new one|help|working (?:here|there|at|for|with|on)|talking to|chatting with|hanging out|spending time"
    r"|coming|being|seeing|hearing|time|life|sound of|look of|feeling|fact)\b",
    re.IGNORECASE,
)
_FAVORITE = re.compile(
    r"(?:my|our) (?:all[- ]time |absolute |personal |new )?(?P<word>favou?rite|go-to)(?: "
    r"(?P<what>[\w' -]{2,40}?))? (?:is|are|has to be|would be|is definitely|is probably|has always been"
    r"|right now is)(?: (?:definitely|probably|by far|of course|currently|always|the|an?))* (?P<value>.+)",
    re.IGNORECASE,
)
_IS_FAVORITE = re.compile(
    r"(?P<value>[\w'& -]{2,50}?) (?:is|are) (?:definitely |probably |by far |still |one of )?my "
    r"(?:all[- ]time |absolute )?favou?rites?(?: (?P<what>[\w' -]{2,40}))?\W*$",
    re.IGNORECASE,
)
_SPORTS = (
    "climbing|running|swimming|hiking|skiing|cycling|fishing|dancing|surfing|camping|sailing|jogging|bouldering"
    "|kayaking"
    "|hunting|diving|snowboarding|bowling|birding|birdwatching|riding|rowing|skating|canoeing|paddling|backpacking"
)
_FAN = re.compile(
    r"([\w'&.-]+(?: [\w'&.-]+){0,3}?) (?:fan|lover|nerd|buff|enthusiast|geek|junkie|addict|fanatic)s?\b(?! of\b"
    r"|boy)",
    re.IGNORECASE,
)
_NOT_FAN_OF = frozenset(("big", "huge", "not", "number one", "biggest", "real", "total", "such", "massive", "the"))
_NO_KIND = frozenset(("one", "ones", "part", "moment", "scene", "memory", "time", "way"))


def _dislike_key(value: str) -> str:
    return f"dislikes:{value.lower()[:60]}"


def _liked_things(rest: str) -> Iterator[str]:
    """Yield things and activities: "I love to cook" and "I love cooking". Long answers are an order, no interest."""
    if is_about_answers(rest):
        return
    rest = re.sub(
        r"^(?:to (?=(?!be\b|see\b|know\b|think\b|say\b|have\b|hear\b|get\b|keep\b|make\b|do\b|believe\b|imagine\b"
        r"|add\b|go over\b|try\b|start\b|use\b|help\b)\w)|(?:playing around|messing around) with |watching "
        r"|reading about |learning about |the (?=[A-Z]))",
        "",
        rest,
    )
    yield from (value for value in things(rest) if is_liked(value))


def is_liked(value: str) -> bool:
    return not _NOT_LIKED.match(value) and not re.search(
        r"\b(?:you|your|this|that|it|these|those|yours|ones?)$", value, re.IGNORECASE
    )


def _fan_of(rest: str) -> Iterator[str]:
    """Yield the thing in front of "fan": "a Formula 1 fan"."""
    match = _FAN.match(rest)
    if match:
        yield from (value for value in things(match[1]) if is_liked(value) and value.lower() not in _NOT_FAN_OF)


def _team(rest: str) -> Iterator[str]:
    """Yield a club: capitalised words to the end of the clause."""
    if match := re.match(r"(?:[A-Z][\w.]+ ?){1,3}(?=$|,| since| and\b)", rest):
        yield from (value for value in (match[0].strip(),) if value.lower().split()[0] not in TOOLS)


RULES = [
    *pattern_rules(
        INTEREST,
        "likes",
        (
            r"(?:i|we) (?:love|adore|enjoy|like|dig) (?:love |really )*",
            "adore dig enjoy like love",
            _liked_things,
            0.75,
        ),
        (
            r"i(?:'m|'ve gotten|'ve been getting|'ve got|'ve become|'ve been) (?:really |quite |a bit |very )?(?:into"
            r"|keen on|passionate about|obsessed with|fascinated by|crazy about|enthusiastic about|hooked on"
            r"|addicted to|fond of) ",
            "addicted crazy enthusiastic fascinated fond hooked into keen obsessed passionate",
            _liked_things,
            0.8,
        ),
        (
            r"i(?:'m| have been| remain) an? (?:\w+ )?(?:fan|lover|fanatic|enthusiast|admirer) of ",
            "admirer enthusiast fan fanatic lover",
            _liked_things,
            0.8,
        ),
        (r"(?:big|huge|massive|lifelong) fan of ", "fan", _liked_things, 0.7),
        (
            r"(?:i'm|we're) (?:an? )?(?:(?:big|huge|massive|lifelong|total|real|avid|bit of an?|proper"
            r"|true) ){0,2}(?=(?!fan|lover)\w)",
            "addict buff enthusiast enthusiasts fan fanatic fans geek junkie lover lovers nerd nerds",
            _fan_of,
            0.75,
        ),
        (
            r"i(?: usually| often)? (?:go|went back to) ",
            "go went",
            reading(
                rf"(?:{_SPORTS})\b(?= (?:every|on|once|twice|a lot|most|regularly|with|in|at|three|each|whenever)|\W*$)"
            ),
            0.7,
        ),
        (r"i'm (?=training for (?:an?|the|my) )", "training", thing, 0.7),
        (r"i(?:'ve| have)? (?:been )?support(?:ed)? (?-i:(?=[A-Z]))", "support supported", _team, 0.65),
        (
            r"(?:my|our) (?:main |favou?rite |biggest |other |new |only )?(?:hobby|hobbies|pastimes?|interests?"
            r"|passions?)(?: (?:is|are|includes?)|:) ",
            "hobbies hobby interest interests passion passions pastime pastimes",
            _liked_things,
            0.85,
        ),
        (
            r"(?:in|during) my (?:free|spare) time,? i (?:like to |love to |enjoy |love |like |usually |mostly "
            r"|often )*",
            "time",
            _liked_things,
            0.8,
        ),
        (r"i can't get enough of ", "enough", _liked_things, 0.75),
        (
            r"i have a (?:passion|soft spot|thing|love|weakness) for ",
            "love passion spot thing weakness",
            _liked_things,
            0.75,
        ),
        (
            r"i(?: play| collect|'ve been playing|'ve been collecting) (?!around|with|along|role|dumb|safe|fair|it"
            r"|a lot|games? with|the (?:role|part|fool|victim))(?:the )?",
            "collect collecting play playing",
            _liked_things,
            0.65,
        ),
    ),
    *pattern_rules(
        INTEREST,
        "interested_in",
        (r"i'm (?:interested in|curious about) ", "curious interested", _liked_things, 0.8),
    ),
    *pattern_rules(
        INTEREST,
        "learning",
        (
            r"i(?:'ve been|'m) learning (?:(?:how )?to (?=(?:play|speak|cook|code|sail|knit|paint|surf|drive|swim|sew"
            r"|draw|dance|sing|ski|ride|juggle|bake)\b))?(?!how|to (?!play|speak|cook|code|sail|knit|paint|surf|drive"
            r"|swim|sew|draw|dance|sing|ski|ride|juggle|bake)|that\b|a (?:lot|ton|bunch)\b|tons|loads|lots|more\b|so\b"
            r"|about\b|from\b|new\b|the\b)",
            "learning",
            _liked_things,
            0.65,
        ),
    ),
    *pattern_rules(
        PREFERENCE,
        _dislike_key,
        (
            r"i (?:hate|dislike|detest|despise|loathe|can't stand|can't bear) ",
            "bear despise detest dislike hate loathe stand",
            _liked_things,
            0.8,
        ),
        (
            r"i (?:don't|do not) (?:really |particularly |actually |even |much )?(?:like|enjoy|care for|love) "
            r"(?!.*\banymore\b)",
            "care enjoy like love",
            _liked_things,
            0.75,
        ),
        (
            r"i'm not (?:really |particularly |much of |exactly )*(?:a (?:big |huge )?fan of|into|fond of|keen on"
            r"|crazy about) (?!.*\banymore\b)",
            "not",
            _liked_things,
            0.75,
        ),
    ),
]


@with_keywords("favorite favorites favourite favourites go-to")
def favorite(clause: str) -> Iterator[FactClaim]:
    match = _FAVORITE.match(clause) or _IS_FAVORITE.match(clause)
    if match is None:
        return
    what = trim(re.split(r" (?:of|to|for|in|from|about|when|at) ", (match["what"] or "thing").lower(), maxsplit=1)[0])
    for value in thing(match["value"]):
        if (
            what not in _NO_KIND
            and is_liked(value)
            and not re.match(r"(?:when|to|that|how|part|by|definitely)\b", value, re.IGNORECASE)
        ):
            yield FactClaim(PREFERENCE, f"favorite {what}", value, 0.85)


@with_keywords("with about by at of for over from regarding forward me my")
def feeling(clause: str) -> Iterator[FactClaim]:
    if match := _FEELS.match(clause):
        if match["about"].lower() == "of" or not _FIXED.match(match["feeling"]):
            yield from _sentiment(match["what"], match["feeling"], 0.8)
    elif match := _FORWARD.match(clause):
        yield from _sentiment(match["what"], "looking forward", 0.75)
    elif match := _DRIVES.match(clause):
        yield from _sentiment(match["what"], re.sub(r"^(?:is|are) ", "", match["feeling"], flags=re.IGNORECASE), 0.75)


def _sentiment(what: str, feeling: str, confidence: float) -> Iterator[FactClaim]:
    what = leading_phrase(re.sub(r"^all ", "", what, flags=re.IGNORECASE))
    key = re.sub(r"^(?:the|my|our|a|an|this|that|these|those) ", "", what, flags=re.IGNORECASE).lower()
    if names_something(key) and not _NOT_ABOUT.match(what) and not _TO_THE_ASSISTANT.search(what):
        yield FactClaim(SENTIMENT, trim(key)[:80], feeling.lower(), confidence)
