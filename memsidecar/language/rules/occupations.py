"""What somebody is by trade, at the beginning of a text."""

import re
from collections.abc import Iterator

from memsidecar.language.rules.forms import Selective, beginning
from memsidecar.language.rules.needs import need_of
from memsidecar.language.rules.values import trimmed, up_to_the_end
from memsidecar.language.rules.words import listed
from memsidecar.language.rules.words.work import NOT_BEFORE_OCCUPATION, OCCUPATIONS, STATUSES

_WORD = re.compile(r"[\w/+#.&'-]+")
_OCCUPATION_END = re.compile(
    r"\s*(?:$|[,.!?;:()\u2013\u2014\ufffc/]|-\s|(?:at|for|from|with|in|on|who|and|but|working|by|here|based|living"
    r"|specializing|specialising|so|because|since|of|myself|now|these|currently|to|doing|too|right|focused"
    r"|which|as|i|trying|looking|though|lol|btw|where)\b)",
    re.IGNORECASE,
)


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
