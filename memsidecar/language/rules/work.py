"""Rules for occupation and studies."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.domain.text import word_set
from memsidecar.language.rules.lexicon import (
    NOT_BEFORE_OCCUPATION,
    NOT_COMPANIES,
    OCCUPATIONS,
    PUPILS,
    STATUSES,
    WORKPLACES,
)
from memsidecar.language.rules.rule import pattern_rules, reading
from memsidecar.language.rules.values import leading_phrase, trim

PROFILE = FactType.USER_PROFILE

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


_NOT_TITLES = NOT_COMPANIES | {"production", "prod", "admin", "owner", "maintainer"}


def _new_title(rest: str) -> Iterator[str]:
    """Yield a title after "promoted to": up to five words, which need not be a known occupation."""
    title = leading_phrase(
        re.split(
            r" (?:at|in|for|on|last|this|yesterday|today|with|by|after"
            r"|and) ",
            rest + " ",
            maxsplit=1,
        )[0]
    )
    words = title.split()
    if 1 <= len(words) <= 5 and words[0][0].isalpha() and words[0].lower() not in _NOT_TITLES:
        yield title


def _business(rest: str) -> Iterator[str]:
    """Yield a business of the user's own: "run a small bakery"."""
    phrase = leading_phrase(re.split(r" (?:in|with|near|at|called|named|from|for|on) ", rest, maxsplit=1)[0])
    words = phrase.lower().split()
    if 3 <= len(words) <= 7 and (
        words[-1] in WORKPLACES or words[-1] in {"business", "roastery", "blog", "podcast", "channel"}
    ):
        yield phrase


_status = reading(rf"(?:{'|'.join(STATUSES)})(?=$|\W)")
_CHIEF = r"(?:co-?)?(?:ceo|cto|cfo|coo|vp|founder|owner|head|director|lead|president|chair)"
# Without an article, only before an organisation: "I'm CTO at ...", "I'm head of sales at ...".
_title = reading(
    rf"(?:the )?(?:new )?({_CHIEF} (?:of|and|&) [\w ]{{2,30}}?(?= (?:at|for) )|{_CHIEF}(?= (?:at|of|for) ))",
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
            r"(?:(?:i work|i'm working|i've been working|i'm employed|i've worked|i start|i started|i started working"
            r"|i was hired|i got hired|i freelance|i'll work|i'll be working|i'll start|i'm starting|i'm joining"
            r"|i joined)(?: (?:at |for |)(?-i:[A-Z])[\w&' -]{1,30}?| (?:at|for) \w+| nights| days"
            r"| (?:night|day|evening|early) shifts?| part[ -]time| full[ -]time| remotely)? as|i became|i've become"
            r"|i've been|i got a (?:new )?job as|i'm back to being|i'm doing an apprenticeship as"
            r"|i'm training as) (?:an? |the )",
            "apprenticeship became become been being employed freelance hired job joined joining promoted start started"
            " starting training work"
            " worked working",
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
        (
            r"i(?:'ve| was| got|'ve been|'ve just been) (?:been )?(?:made|promoted|moved up"
            r"|bumped up) (?:from [\w ]{2,40} )?"
            r"to (?:be )?(?:an? |the )?",
            "made promoted moved bumped",
            _new_title,
            0.85,
        ),
        (r"my new (?:job|role|position|job title|title) is (?:being )?(?:an? |the )?", "new", occupation, 0.9),
        (r"i'm now (?:an? |the )?|now i'm (?:an? |the )?", "now", occupation, 0.8),
        (r"i (?=(?:own|run) an? )", "own run", _business, 0.75),
        (
            r"i (?=(?:lead|manage|run|head) (?:the|our) [\w -]{2,30}? team\b)",
            "team",
            reading(r"\w+ \w+ [\w -]{2,30}? team\b"),
            0.75,
        ),
        (r"i(?:'ve)? (?=retired\b(?!,? \w+ed\b| from the))", "retired", reading("retired"), 0.8),
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
]
