"""Rules for employer, school and industry."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.domain.text import word_set
from memsidecar.language.rules.lexicon import INDUSTRIES, NOT_COMPANIES, NOT_PLACES, PLACES, WORKPLACES
from memsidecar.language.rules.rule import pattern_rules, reading
from memsidecar.language.rules.values import CAPITALISED, leading_phrase, trim
from memsidecar.language.rules.work import NAMED, OCCUPATION_KEYWORDS, WORKER

PROFILE = FactType.USER_PROFILE

_PART_OF_ORGANISATION = re.compile(r" ?(?:\w+ )?(?:office|team|headquarters|hq|branch|lab|department|store|support)\b")
_ORGANISATION_END = re.compile(r" (?:in|doing|and|on|for|from|called|to|near|with|at|out|remotely|full|part) ")
_NOT_EMPLOYERS = word_set(
    """
    discord reddit twitter facebook instagram zoom slack mastodon bluesky linkedin tinder duolingo strava x tiktok
    youtube github whatsapp telegram twitch bumble hinge mom dad mum grandma grandpa
    """
)
"Services and persons that one joins or leaves without working there."

_PUPIL = r"(?:an?|the) (?:[\w-]+ ){0,4}?(?:student|undergrad|grad|phd|freshman|sophomore|postgrad|senior|junior)"


def organisation(rest: str) -> Iterator[str]:
    """Yield capitalised words, or in lower case one or two words or a kind of workplace ("a bank")."""
    run = CAPITALISED.match(rest)
    if run:
        yield from _capitalised_organisation(run[0], rest[run.end() :])
    else:
        yield from _plain_organisation(leading_phrase(_ORGANISATION_END.split(rest, maxsplit=1)[0]))


def _capitalised_organisation(run: str, after: str) -> Iterator[str]:
    found = re.split(r" (?:in|at|on) ", trim(run), maxsplit=1)[0]
    if _PART_OF_ORGANISATION.match(after):
        found = found.split("'s")[0]
    first = found.removeprefix("the ").split()[:1]
    if first and first[0].lower() not in NOT_COMPANIES and not found.isdigit():
        yield found


def _plain_organisation(phrase: str) -> Iterator[str]:
    words = phrase.lower().split()
    if not words:
        return
    if words[0] in {"a", "an", "the", "my", "our"}:
        if len(words) <= 6 and words[-1] in WORKPLACES:
            yield phrase
    elif len(words) <= 2 and not NOT_COMPANIES & set(words) and words[0][0].isalnum() and not words[0].endswith("ing"):
        yield phrase


def named_organisation(rest: str) -> Iterator[str]:
    run = CAPITALISED.match(rest)
    if run:
        yield from _capitalised_organisation(run[0], rest[run.end() :])


def joined_organisation(rest: str) -> Iterator[str]:
    if not rest.lower().startswith("the ") or re.match(
        r"the (?:Red Cross|Army|Navy|Marines|Air Force|UN|EU|NHS)\b", rest
    ):
        yield from (found for found in named_organisation(rest) if found.split()[0].lower() not in _NOT_EMPLOYERS)


def _school(rest: str) -> Iterator[str]:
    """Yield a name that has a word or the form of a school: "MIT", "the University of Oslo"."""
    for found in named_organisation(rest):
        if re.search(
            r"\b(?:University|College|School|Institute|Uni|Academy|Polytechnic|State|Tech|ETH|EPFL)\b", found
        ) or (found.isupper() and len(found) <= 5):
            yield found


def _current_employer(rest: str) -> Iterator[str]:
    """Yield the organisation in "I'm at Bosch now", which is no place."""
    yield from (
        re.sub(r" (?:now|these days|nowadays)$", "", found)
        for found in named_organisation(rest)
        if found.split()[0].lower() not in PLACES | NOT_PLACES
    )


def _client(rest: str) -> Iterator[str]:
    """Yield the organisation behind "for": Acme, but not iOS."""
    yield from (found for found in organisation(rest) if found.split()[0].lower() not in NOT_PLACES)


def _industry(rest: str) -> Iterator[str]:
    phrase = leading_phrase(re.split(r" (?:at|for|in|and|on) ", rest.removeprefix("the "), maxsplit=1)[0])
    words = phrase.lower().split()
    if words and len(words) <= 3 and words[0] in INDUSTRIES:
        yield phrase


_FIELDS = (
    *("sales", "marketing", "finance", "hr", "tech", "healthcare", "education", "insurance", "banking", "consulting"),
    *("construction", "logistics", "academia"),
)

RULES = [
    *pattern_rules(
        PROFILE,
        "company",
        (
            r"(?:i work|i'm working|i'm employed|i'm currently employed|i've been working|i've worked"
            r"|i do freelance work|i freelance|i started working|i got a (?:new )?job|i start(?:ed)? a new job"
            r"|i started|i landed a job|i took a (?:new )?job|i have a (?:new )?job|i found a (?:new )?job"
            r"|i'll work|i'll be working|i'll start|i'll be starting|i'm starting(?: work| a new job)?|i got hired"
            r"|i was hired|i've been hired|i went in-house) (?:\w+ly |full[ -]time |part[ -]time |over |in \w+ |soon )?"
            r"(?:at|for|@|by) ",
            "employed found freelance hired house job landed start started starting took work worked working",
            organisation,
            0.85,
        ),
        (r"i start (?:\w+ )?(?:at|with) ", "start", named_organisation, 0.8),
        (
            r"i(?:'ve)? (?:accepted|took|got) an? (?:job |new )?(?:offer|job|position|role) (?:from|at|with) "
            r"|i(?:'ve)? signed(?: a contract)? with ",
            "accepted took got signed",
            named_organisation,
            0.8,
        ),
        (
            rf"i(?:'m| work as|'ve been|'m working as) {WORKER}(?: \w+){{0,2}}? (?:at|@) ",
            OCCUPATION_KEYWORDS,
            organisation,
            0.8,
        ),
        (rf"i(?:'m| work as|'ve been|'m working as) {WORKER}(?: \w+){{0,2}}? for ", OCCUPATION_KEYWORDS, _client, 0.75),
        (
            rf"i'm {NAMED} {WORKER} (?:at|for|@) ",
            OCCUPATION_KEYWORDS,
            organisation,
            0.75,
        ),
        (
            r"i'm (?:the )?(?:new )?(?:co-?)?(?:ceo|cto|cfo|coo|vp|founder|owner|head|director)"
            r"(?: (?:of|and) [\w ]{2,30}? at| (?:at|of)) ",
            "at of",
            named_organisation,
            0.75,
        ),
        (r"i(?:'ve| recently| just)? joined ", "joined", joined_organisation, 0.75),
        (
            r"i(?:'ve)? joined (?:the|an?|our) [\w -]{2,30}? (?:team|department|group"
            r"|division) at ",
            "joined",
            named_organisation,
            0.8,
        ),
        (
            r"(?:i'm joining|i'll join|i'll be joining|i'm going to join"
            r"|i'm moving to join) ",
            "join joining",
            joined_organisation,
            0.75,
        ),
        (
            r"i'm (?:now )?(?:at|with) (?=.{2,40} (?:now|these days"
            r"|nowadays)\W*$)",
            "now days nowadays",
            _current_employer,
            0.75,
        ),
        (r"i work part-?time in (?=an? )", "part", organisation, 0.75),
        (
            r"i'm (?:on|in|part of) (?:the|an?) [\w -]{2,30}? (?:team|department|group|division) (?:at|of) ",
            "at of",
            named_organisation,
            0.75,
        ),
        (
            r"(?:i start|i'm starting|i'll start|i(?:'ve)? (?:just )?started) my (?:new )?(?:job|role|position"
            r"|internship|first job) (?:at|with) ",
            "start started starting",
            named_organisation,
            0.8,
        ),
        (
            r"(?:'?s |is |was |(?:tomorrow|monday)(?:'s| is) )?my first (?:day|week|month) (?:at|with) ",
            "first",
            named_organisation,
            0.8,
        ),
        (r"i work (?:in|out of) (?=an? )", "work", organisation, 0.7),
        (
            r"i (?:run|lead|manage|head) (?:the |an? |our )?[\w -]{2,40}? at ",
            "head lead manage run",
            named_organisation,
            0.75,
        ),
        (
            r"my (?:company|employer|startup|firm|current employer|business) is (?:called |named )?",
            "business company employer firm startup",
            named_organisation,
            0.9,
        ),
        (
            r"i(?: run| own| founded| co-?founded| started| work for| work at|'m the (?:[\w-]+ ){1,3}(?:of|at"
            r"|behind)) [\w' -]{1,60}? (?:called|named) ",
            "called named",
            named_organisation,
            0.8,
        ),
    ),
    *pattern_rules(
        PROFILE,
        "school",
        (
            rf"i(?:'m {_PUPIL}(?: [\w ]{{2,30}})?? at| go to| study [\w ]{{2,30}}? at|'m studying [\w ]{{2,30}}? at) ",
            "freshman go grad junior phd postgrad senior sophomore student study studying undergrad",
            _school,
            0.8,
        ),
    ),
    *pattern_rules(
        PROFILE,
        "industry",
        (r"i work in ", "work", _industry, 0.8),
        (
            r"i'm in ",
            " ".join(_FIELDS),
            reading(rf"(?:{'|'.join(_FIELDS)})(?=$|[,.;!]| (?:at|and|so|but)\b)"),
            0.75,
        ),
    ),
]
