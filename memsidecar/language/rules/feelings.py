"""How the user feels about something that is named. A mood alone ("I'm tired") passes, and is no fact."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.language.rules.forms import Claim, matching
from memsidecar.language.rules.values import is_telling, trimmed, up_to_the_end

SENTIMENT = FactType.SENTIMENT
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
    r"|making) me (?:\w+ly |so )?(?:happy|sad|angry|anxious|nervous|mad|furious|miserable|proud))",
    re.IGNORECASE,
)
_FIXED = re.compile(r"(?:sick|tired|sick and tired)$", re.IGNORECASE)
_NOT_ABOUT = re.compile(
    r"(?:help|be|assist|hear|see|you|now|sure|the time being|a while|good|me|once|first|all|everyone|the best"
    r"|him|her|them|us)$|(?:you|your)\b|\d",
    re.IGNORECASE,
)
_TO_THE_ASSISTANT = re.compile(r"\b(?:you|your|yours)\b|^(?:hearing|seeing|talking|chatting)\b", re.IGNORECASE)


@matching(_FEELS, _FORWARD, _DRIVES)
def feelings(clause: str) -> Iterator[Claim]:
    if match := _FEELS.match(clause):
        if match["about"].lower() == "of" or not _FIXED.match(match["feeling"]):
            yield from _about(match["what"], match["feeling"], 0.8)
    elif match := _FORWARD.match(clause):
        yield from _about(match["what"], "looking forward", 0.75)
    elif match := _DRIVES.match(clause):
        yield from _about(match["what"], re.sub(r"^(?:is|are) ", "", match["feeling"], flags=re.IGNORECASE), 0.75)


def _about(what: str, feeling: str, confidence: float) -> Iterator[Claim]:
    what = up_to_the_end(re.sub(r"^all ", "", what, flags=re.IGNORECASE))
    key = re.sub(r"^(?:the|my|our|a|an|this|that|these|those) ", "", what, flags=re.IGNORECASE).lower()
    if is_telling(key) and not _NOT_ABOUT.match(what) and not _TO_THE_ASSISTANT.search(what):
        yield Claim(SENTIMENT, trimmed(key)[:80], feeling.lower(), confidence)
