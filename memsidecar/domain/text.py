"""Text helpers that several packages share: sentence splitting, <memsidecar> markers, English stop words."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

# A line break ends a sentence as well: lists and headings have no full stops. Latin marks need white space after them,
# so that 3.14 and example.org stay whole. The marks of scripts without spaces need none.
_SENTENCE_END = re.compile(
    "[.!?\u2026\u061f\u0964][\"'\u201d\u2019)\\]]{0,8}\\s+"
    "|[\u3002\uff01\uff1f][\uff09\u300d\u300f\u3011\u300b\u201d\u2019]{0,8}\\s*"
    "|\n\\s*"
)

OPENING_MARKER, CLOSING_MARKER = "<memsidecar>", "</memsidecar>"
_INJECTED = re.compile(f"{re.escape(OPENING_MARKER)}.*?(?:{re.escape(CLOSING_MARKER)}|\\Z)", re.DOTALL)


def split_sentences(text: str) -> list[str]:
    """Return the sentences in order, each with the white space after it: joined, they are the text."""
    ends = [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]
    return [text[begin:end] for begin, end in pairwise(ends) if begin < end]


def truncate_to_sentences(text: str, max_tokens: int, count: Callable[[str], int]) -> str:
    """Return as many leading whole sentences as fit into `max_tokens`; empty if not even the first one fits."""
    parts = split_sentences(text)
    fitting, too_many = 0, len(parts) + 1
    while fitting + 1 < too_many:
        middle = (fitting + too_many) // 2
        if count("".join(parts[:middle]).rstrip()) <= max_tokens:
            fitting = middle
        else:
            too_many = middle
    return "".join(parts[:fitting]).rstrip()


def strip_injected(text: str) -> str:
    """Return the text without injected blocks. A block without a closing marker reaches to the end of the text."""
    return _INJECTED.sub("", text) if OPENING_MARKER in text else text


def is_injected_prompt(text: str, prompts: Sequence[str]) -> bool:
    """Whether a system message is the combination of these prompts and an injected block that a context contained.

    If such a message were added as a new prompt, the prompts would double with every turn. A prompt that only mentions
    the markers is the client's own.
    """
    joined = "\n\n".join(prompts)
    is_block = text.startswith(f"{OPENING_MARKER}\n") and text.rstrip().endswith(CLOSING_MARKER)
    has_block = bool(joined) and text.startswith(f"{joined}\n\n{OPENING_MARKER}\n")
    return text in (*prompts, joined) or is_block or has_block


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION_WORDS = word_set("""
a about above after again against all also am an and any are aren't as at be because been before being below between
both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each few for from
further had hadn't has hasn't have haven't having he he'd he'll he's her here here's hers herself him himself his how
how's i i'd i'll i'm i've if in into is isn't it it'd it'll it's its itself just let's ll me might more most must
mustn't my myself no nor not now of off on once only or other ought our ours ourselves out over own re same shall
shan't she she'd she'll she's should shouldn't so some such than that that's the their theirs them themselves then
there there's these they they'd they'll they're they've this those through to too under until up upon us ve very was
wasn't we we'd we'll we're we've were weren't what what's when when's where where's which while who who's whom whose
why why's will with won't would wouldn't you you'd you'll you're you've your yours yourself yourselves yes yeah yep ok
okay oh ah um uh hmm hey hi hello bye wow lol haha thanks thank please sorry gonna wanna gotta cause cuz maybe really
actually basically literally definitely totally absolutely quite pretty rather even still yet already always never
ever often sometimes usually well
""")
"""Function words, interjections and fillers."""

COMMON_WORDS = word_set("""
able act add ago agree almost alone along although amazing among another anyone anything anyway anywhere appreciate
around ask awesome away awful back bad beautiful become begin believe best better big bit bring call came care certain
certainly chance change check choose clear close come completely cool could course cut day deal decide different done
early easy else end enjoy enough especially every everybody everyone everything everywhere exactly example excited
exciting experience explain face fact fall fantastic far feel feeling fell felt find fine first follow forget forward
found friend full fun gave get give given glad go goes going gone good got great grow guess guy hand happen happy hard
head hear heard help high hold hope hopefully huge idea imagine important incredible indeed inspire inspiring instead
interest interesting issue job join journey joy keep kept kind knew know known last late later lead learn least leave
left less let life like line list listen little live lives long longer look looking lot love lovely lucky made main
make making man many matter mean meant meet mention mind minute miss moment month morning move much name near nearly
necessary need new next nice nobody none nothing notice number often old one ones open part particular past pay people
perfect perhaps person pick place plan play point possible probably problem proud put question quick quickly ready
real realize reason recent recently remember remind rest right run said saw say see seem seen sense set share short
show side since situation slow small someone something somewhere soon sort sound special spend start stay step stop
story strong stuff suggest super support suppose sure take taken talk tell thing think thought time today together
told tomorrow tonight took totally touch toward tried true truly try turn two understand unfortunately use used useful
usual various view wait walk want was watch way week whatever whenever wherever whether whole wish within without
woman women wonder wonderful word work world worth write wrong year yesterday young
""")
"""Frequent words that name no topic."""
