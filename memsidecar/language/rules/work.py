"""Rules for occupation, employer, industry, studies and school."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.domain.text import word_set
from memsidecar.language.rules.lexicon import (
    INDUSTRIES,
    NOT_BEFORE_OCCUPATION,
    NOT_COMPANIES,
    NOT_PLACES,
    OCCUPATIONS,
    PUPILS,
    STATUSES,
    WORKPLACES,
)
from memsidecar.language.rules.rule import pattern_rules, reading
from memsidecar.language.rules.values import CAPITALISED, leading_phrase, trim

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

_WORD = re.compile(r"[\w/+#.&'-]+")
_OCCUPATION_END = re.compile(
    r"\s*(?:$|[,.!?;:()\u2013\u2014\ufffc/]|-\s|(?:at|for|from|with|in|on|who|and|but|working|by|here|based|living"
    r"|specializing|specialising|so|because|since|of|myself|now|these|currently|to|doing|too|right|focused"
    r"|which|as|i|trying|looking|though|lol|btw|where)\b)",
    re.IGNORECASE,
)

_WITH_FIELD = word_set("director professor manager vp lecturer officer teacher head")
OCCUPATION_KEYWORDS = " ".join((*sorted(OCCUPATIONS), "lead"))
_NOT_TAUGHT = word_set("my you him her them it this that the at in for a an people kids children students myself how")
_NOT_STUDIED = word_set(
    "for hard at in on how the this that it these my what why abroad all so to a an with alone together more every"
)
NAMED = r"(?:(?:Dr|Prof|Mr|Mrs|Ms)\.? )?(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)?,?"
'A name in front of an occupation: "I\'m Ada, a nurse".'
WORKER = (
    rf"(?:an?|the|one of the|your average) (?:[\w/&+#.-]+ ){{0,5}}?"
    rf"(?:{'|'.join(sorted(OCCUPATIONS - PUPILS, key=len, reverse=True))})"
)
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


def _client(rest: str) -> Iterator[str]:
    """Yield the organisation behind "for": Acme, but not iOS."""
    yield from (found for found in organisation(rest) if found.split()[0].lower() not in NOT_PLACES)


def _industry(rest: str) -> Iterator[str]:
    phrase = leading_phrase(re.split(r" (?:at|for|in|and|on) ", rest.removeprefix("the "), maxsplit=1)[0])
    words = phrase.lower().split()
    if words and len(words) <= 3 and words[0] in INDUSTRIES:
        yield phrase


def occupation(rest: str) -> Iterator[str]:
    """Yield the words up to the first occupation: "senior data scientist (at Acme)"."""
    rest = re.sub(r"^\d+[- ]years?[- ]old ", "", rest)
    end = 0
    for count, word in enumerate(_WORD.finditer(rest)):
        lower = word[0].lower().rstrip(".,")
        if count == 6 or (word.start() > end + 1) or lower in NOT_BEFORE_OCCUPATION or lower.endswith("'s"):
            return
        end = word.end()
        if (lower.split("/")[-1] in OCCUPATIONS or (count and lower == "lead")) and _OCCUPATION_END.match(rest, end):
            yield trim(rest[:end] + _field_of(lower, rest[end:]))
            return


def _field_of(last: str, after: str) -> str:
    """Return the field of an occupation: a director of sales, a professor of physics."""
    match = re.match(r" of (?:[a-z]+)(?: [a-z]+)?(?=$|[,.;]| at| in| for)", after)
    return match[0] if match and last in _WITH_FIELD else ""


_status = reading(rf"(?:{'|'.join(STATUSES)})(?=$|\W)")
# Without an article, only before an organisation: "I'm CTO at ...", "I'm head of sales at ...".
_title = reading(
    r"((?:the )?(?:co-?)?(?:ceo|cto|cfo|coo|vp|founder|owner|head|director|lead|president|chair)"
    r"(?: (?:of|and|&) [\w ]{2,30}?)??) (?:at|of|for) ",
    group=1,
)


def _taught_subject(rest: str) -> Iterator[str]:
    subject = leading_phrase(re.split(r" (?:at|in|for|on|to) ", rest, maxsplit=1)[0])
    words = subject.lower().split()
    if 1 <= len(words) <= 4 and words[0] not in _NOT_TAUGHT:
        yield f"teaches {subject}"


def _studied_subject(rest: str) -> Iterator[str]:
    subject = leading_phrase(re.split(r" (?:at|in|for|on|to|and|with|under) ", rest, maxsplit=1)[0])
    words = subject.lower().split()
    if 1 <= len(words) <= 4 and words[0] not in _NOT_STUDIED and not words[0].endswith("ly"):
        yield subject


RULES = [
    *pattern_rules(
        PROFILE,
        "role",
        (r"i'm (?:an?|the|one of the|your average) ", OCCUPATION_KEYWORDS, occupation, 0.85),
        (
            rf"i'm {NAMED} (?:and )?(?:i'm )?(?:an?|the) ",
            OCCUPATION_KEYWORDS,
            occupation,
            0.8,
        ),
        (
            r"(?:(?:i work|i'm working|i've been working|i'm employed|i've worked|i started|i started working"
            r"|i was hired|i got hired|i freelance)(?: (?:at|for) (?-i:[A-Z])[\w&' -]{1,30}?| (?:at|for) \w+| (?:night"
            r"|day|evening|early) shifts?| part[ -]time| full[ -]time| remotely)? as|i(?:'ve been|'ve just been|) "
            r"(?:got )?promoted to|i became|i've become|i've been) (?:an? |the )",
            "became become been employed freelance hired promoted started work worked working",
            occupation,
            0.85,
        ),
        (
            r"my (?:job|role|profession|occupation|job title|title|position|day job) is (?:being )?(?:an? |the )?",
            "job occupation position profession role title",
            occupation,
            0.9,
        ),
        (r"(?:speaking )?as (?:an?|the) (?=[^,]{3,60}, (?:i|my)$)", OCCUPATION_KEYWORDS, occupation, 0.75),
        (r"being (?:an?|the) (?=[^,]{3,60}, (?:i|my)$)", "being", occupation, 0.75),
        (r"i'm ", "between employed freelancing retired unemployed", _status, 0.85),
        (r"i'm ", "at of for", _title, 0.8),
        (r"i teach ", "teach", _taught_subject, 0.75),
    ),
    *pattern_rules(
        PROFILE,
        "studies",
        (
            r"i(?:'m)? (?:study|studying|majoring in|major in|doing (?:a|my) (?:phd|master's|masters|degree"
            r"|bachelor's) in) ",
            "bachelor degree doing major majoring master masters study studying",
            _studied_subject,
            0.75,
        ),
    ),
    *pattern_rules(
        PROFILE,
        "company",
        (
            r"(?:i work|i'm working|i'm employed|i'm currently employed|i've been working|i've worked"
            r"|i do freelance work|i freelance|i started working|i got a (?:new )?job|i start(?:ed)? a new job"
            r"|i started|i landed a job) (?:\w+ly |full[ -]time |part[ -]time |over |in \w+ )?(?:at|for|@|by) ",
            "employed freelance job landed start started work worked working",
            organisation,
            0.85,
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
            r"i'm (?:the )?(?:co-?)?(?:ceo|cto|cfo|coo|vp|founder|owner|head|director)(?: (?:of|and) [\w ]{2,30}?)?? "
            r"(?:at|of) ",
            "at of",
            named_organisation,
            0.75,
        ),
        (r"i(?:'ve)? joined ", "joined", joined_organisation, 0.75),
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
    ),
]
