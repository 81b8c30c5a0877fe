"""Employer, occupation, studies."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.language.rules.lexicon import (
    INDUSTRIES,
    NOT_BEFORE_OCCUPATION,
    NOT_COMPANIES,
    NOT_PLACES,
    OCCUPATIONS,
    PUPILS,
    STATUSES,
    WORKPLACES,
    listed,
)
from memsidecar.language.rules.pattern_keywords import need_of
from memsidecar.language.rules.rule import Selective, beginning, table
from memsidecar.language.rules.values import CAPITALISED, trimmed, up_to_the_end

_PART_OF_IT = re.compile(r" ?(?:\w+ )?(?:office|team|headquarters|hq|branch|lab|department|store|support)\b")
_AT_PLACE = re.compile(r" (?:in|doing|and|on|for|from|called|to|near|with|at|out|remotely|full|part) ")
_CLUBS = listed(
    """
    discord reddit twitter facebook instagram zoom slack mastodon bluesky linkedin tinder duolingo strava x tiktok
    youtube github whatsapp telegram twitch bumble hinge mom dad mum grandma grandpa
    """
)
"What one joins and leaves without working there."

_WORD = re.compile(r"[\w/+#.&'-]+")
_OCCUPATION_END = re.compile(
    r"\s*(?:$|[,.!?;:()\u2013\u2014\ufffc/]|-\s|(?:at|for|from|with|in|on|who|and|but|working|by|here|based|living"
    r"|specializing|specialising|so|because|since|of|myself|now|these|currently|to|doing|too|right|focused"
    r"|which|as|i|trying|looking|though|lol|btw|where)\b)",
    re.IGNORECASE,
)


def organisation(rest: str) -> Iterator[str]:
    """Capitalised words; in lower case a single one at the end, or a kind of workplace ("a bank")."""
    run = CAPITALISED.match(rest)
    if run:
        yield from _capitalised_organisation(run[0], rest[run.end() :])
    else:
        yield from _plain_organisation(up_to_the_end(_AT_PLACE.split(rest, maxsplit=1)[0]))


def _capitalised_organisation(run: str, after: str) -> Iterator[str]:
    found = re.split(r" (?:in|at|on) ", trimmed(run), maxsplit=1)[0]
    if _PART_OF_IT.match(after):
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


def joined(rest: str) -> Iterator[str]:
    if not rest.lower().startswith("the ") or re.match(
        r"the (?:Red Cross|Army|Navy|Marines|Air Force|UN|EU|NHS)\b", rest
    ):
        yield from (found for found in named_organisation(rest) if found.split()[0].lower() not in _CLUBS)


def school(rest: str) -> Iterator[str]:
    """Only with a word or a shape that schools have: "at MIT", "at the University of Oslo"."""
    for found in named_organisation(rest):
        if re.search(
            r"\b(?:University|College|School|Institute|Uni|Academy|Polytechnic|State|Tech|ETH|EPFL)\b", found
        ) or (found.isupper() and len(found) <= 5):
            yield found


def client(rest: str) -> Iterator[str]:
    """A developer for Acme, but not one for iOS."""
    yield from (found for found in organisation(rest) if found.split()[0].lower() not in NOT_PLACES)


def industry(rest: str) -> Iterator[str]:
    phrase = up_to_the_end(re.split(r" (?:at|for|in|and|on) ", rest.removeprefix("the "), maxsplit=1)[0])
    words = phrase.lower().split()
    if words and len(words) <= 3 and words[0] in INDUSTRIES:
        yield phrase


def _occupation(rest: str) -> Iterator[str]:
    """The words up to the first occupation that ends them: "senior data scientist (at Acme)"."""
    rest = re.sub(r"^\d+[- ]years?[- ]old ", "", rest)
    end = 0
    for count, word in enumerate(_WORD.finditer(rest)):
        lower = word[0].lower().rstrip(".,")
        if count == 6 or (word.start() > end + 1) or lower in NOT_BEFORE_OCCUPATION or lower.endswith("'s"):
            return
        end = word.end()
        if (lower.split("/")[-1] in OCCUPATIONS or (count and lower == "lead")) and _OCCUPATION_END.match(rest, end):
            yield trimmed(rest[:end] + _of_what(lower, rest[end:]))
            return


def _of_what(last: str, after: str) -> str:
    """A director of sales, a professor of physics."""
    match = re.match(r" of (?:[a-z]+)(?: [a-z]+)?(?=$|[,.;]| at| in| for)", after)
    return match[0] if match and last in _OF_SOMETHING else ""


_OF_SOMETHING = listed("director professor manager vp lecturer officer teacher head")
occupation = Selective(_occupation, ways=((need_of({*OCCUPATIONS, "lead"}),),))


status = beginning(rf"(?:{'|'.join(STATUSES)})(?=$|\W)")
# Without an article, only at a place: "I'm CTO at ...", "I'm head of sales at ...".
title = beginning(
    r"((?:the )?(?:co-?)?(?:ceo|cto|cfo|coo|vp|founder|owner|head|director|lead|president|chair)"
    r"(?: (?:of|and|&) [\w ]{2,30}?)??) (?:at|of|for) ",
    group=1,
)


def taught(rest: str) -> Iterator[str]:
    subject = up_to_the_end(re.split(r" (?:at|in|for|on|to) ", rest, maxsplit=1)[0])
    words = subject.lower().split()
    if 1 <= len(words) <= 4 and words[0] not in _NOT_TAUGHT:
        yield f"teaches {subject}"


_NOT_TAUGHT = listed("my you him her them it this that the at in for a an people kids children students myself how")


def studies(rest: str) -> Iterator[str]:
    subject = up_to_the_end(re.split(r" (?:at|in|for|on|to|and|with|under) ", rest, maxsplit=1)[0])
    words = subject.lower().split()
    if 1 <= len(words) <= 4 and words[0] not in _NOT_STUDIED and not words[0].endswith("ly"):
        yield subject


_NOT_STUDIED = listed(
    "for hard at in on how the this that it these my what why abroad all so to a an with alone together more every"
)


PROFILE = FactType.USER_PROFILE


NAMED = r"(?:(?:Dr|Prof|Mr|Mrs|Ms)\.? )?(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)?,?"
"A name that somebody gives before saying what they are."
WORKER = (
    rf"(?:an?|the|one of the|your average) (?:[\w/&+#.-]+ ){{0,5}}?"
    rf"(?:{'|'.join(sorted(OCCUPATIONS - PUPILS, key=len, reverse=True))})"
)
_PUPIL = r"(?:an?|the) (?:[\w-]+ ){0,4}?(?:student|undergrad|grad|phd|freshman|sophomore|postgrad|senior|junior)"

FORMS = [
    *table(
        PROFILE,
        "role",
        (r"i'm (?:an?|the|one of the|your average) ", occupation, 0.85),
        (
            rf"i'm {NAMED} (?:and )?(?:i'm )?(?:an?|the) ",
            occupation,
            0.8,
        ),
        (
            r"(?:(?:i work|i'm working|i've been working|i'm employed|i've worked|i started|i started working"
            r"|i was hired|i got hired|i freelance)(?: (?:at|for) (?-i:[A-Z])[\w&' -]{1,30}?| (?:at|for) \w+| (?:night"
            r"|day|evening|early) shifts?| part[ -]time| full[ -]time| remotely)? as|i(?:'ve been|'ve just been|) "
            r"(?:got )?promoted to|i became|i've become|i've been) (?:an? |the )",
            occupation,
            0.85,
        ),
        (
            r"my (?:job|role|profession|occupation|job title|title|position|day job) is (?:being )?(?:an? |the )?",
            occupation,
            0.9,
        ),
        (r"(?:speaking )?as (?:an?|the) (?=[^,]{3,60}, (?:i|my)$)", occupation, 0.75),
        (r"being (?:an?|the) (?=[^,]{3,60}, (?:i|my)$)", occupation, 0.75),
        (r"i'm ", status, 0.85),
        (r"i'm ", title, 0.8),
        (r"i teach ", taught, 0.75),
    ),
    *table(
        PROFILE,
        "studies",
        (
            r"i(?:'m)? (?:study|studying|majoring in|major in|doing (?:a|my) (?:phd|master's|masters|degree"
            r"|bachelor's) in) ",
            studies,
            0.75,
        ),
    ),
    *table(
        PROFILE,
        "company",
        (
            r"(?:i work|i'm working|i'm employed|i'm currently employed|i've been working|i've worked"
            r"|i do freelance work|i freelance|i started working|i got a (?:new )?job|i start(?:ed)? a new job"
            r"|i started|i landed a job) (?:\w+ly |full[ -]time |part[ -]time |over |in \w+ )?(?:at|for|@|by) ",
            organisation,
            0.85,
        ),
        (rf"i(?:'m| work as|'ve been|'m working as) {WORKER}(?: \w+){{0,2}}? (?:at|@) ", organisation, 0.8),
        (rf"i(?:'m| work as|'ve been|'m working as) {WORKER}(?: \w+){{0,2}}? for ", client, 0.75),
        (
            rf"i'm {NAMED} {WORKER} (?:at|for|@) ",
            organisation,
            0.75,
        ),
        (
            r"i'm (?:the )?(?:co-?)?(?:ceo|cto|cfo|coo|vp|founder|owner|head|director)(?: (?:of|and) [\w ]{2,30}?)?? "
            r"(?:at|of) ",
            named_organisation,
            0.75,
        ),
        (r"i(?:'ve)? joined ", joined, 0.75),
        (r"i (?:run|lead|manage|head) (?:the |an? |our )?[\w -]{2,40}? at ", named_organisation, 0.75),
        (
            r"my (?:company|employer|startup|firm|current employer|business) is (?:called |named )?",
            named_organisation,
            0.9,
        ),
        (
            r"i(?: run| own| founded| co-?founded| started| work for| work at|'m the (?:[\w-]+ ){1,3}(?:of|at"
            r"|behind)) [\w' -]{1,60}? (?:called|named) ",
            named_organisation,
            0.8,
        ),
    ),
    *table(
        PROFILE,
        "school",
        (
            rf"i(?:'m {_PUPIL}(?: [\w ]{{2,30}})?? at| go to| study [\w ]{{2,30}}? at|'m studying [\w ]{{2,30}}? at) ",
            school,
            0.8,
        ),
    ),
    *table(
        PROFILE,
        "industry",
        (r"i work in ", industry, 0.8),
    ),
]
