"""Readers of values: they find where a value ends ("Acme Corp", not "Acme Corp and I love it there")."""

import re
from collections.abc import Iterable, Iterator

from memsidecar.domain.text import word_set

MAX_VALUE_CHARS = 200
MAX_THING_WORDS, MAX_ITEM_WORDS = 8, 4

CAPITALISED = re.compile(
    r"(?:the )?(?:(?:[A-Z0-9][\w'&.+/-]*|[a-z]+[A-Z]\w*)(?:(?: (?:&|of|de|da|do|del|der|van|von|la|le|and|the"
    r"|upon|on|at)){1,2} (?=[A-Z])| )?){1,6}"
)
"A run of capitalised words, with the small words inside of names."

_MARKS = r"\.(?!\w)|[!?;:()\[\]…\u2013\u2014\ufffc\"\n]|\s-+\s|\.\.+"
_NEW_CLAUSE = (
    r"\s(?:but|because|cause|cuz|since|when|whenever|while|so|which|who|whose|where|though|although|if|as|even|except"
    r"|until|till|and then|then|thanks|please|lol|haha|tbh|btw|imo|imho|especially|particularly|ever|these days"
    r"|nowadays|lately|recently|right now|at the moment|anymore|now|too|either|myself|more than|instead of|just"
    r"|and it|and they|that|i|i'm|i've|it's|is|are|was|were|has|have|had|can|will|would|gets|makes|helps|with my"
    r"|in my|on my|every|for the past|for a|for years|on weekends|on the weekends?|at home|at night|at work|whether"
    r"|and am|and is|how|what|also)(?=\s|,|$)"
)
_PHRASE_END = re.compile(rf"{_MARKS}|,|{_NEW_CLAUSE}", re.IGNORECASE)
_LIST_END = re.compile(rf"{_MARKS}|{_NEW_CLAUSE}", re.IGNORECASE)
_TRAILING_FILLER = re.compile(
    r"(?:\s|^)(?:a lot|so much|very much|too|as well|the most|most of all|best|the best|though|really|again|honestly"
    r"|already|so far|in general|generally|all the time|sometimes|mostly|and|or|the|a|of|in|at|on|to|for|with|by|from"
    r"|my|very|actually|right|yet|still|more|today|always|deeply|immensely|tremendously|also|better|overall"
    r"|everywhere|here|there)$",
    re.IGNORECASE,
)
_DANGLING_PREPOSITION = re.compile(r"\s(?:to|about|of|with|for|at|from|on|into)\s*$", re.IGNORECASE)

_DEICTIC_WORDS = word_set(
    """
    it this that these those you him her them us me your his their its how what when where why who whom which whose if
    whether to the my our myself yourself himself herself themselves everything anything nothing something someone
    anyone everyone everybody nobody one ones both all some any most none each either neither such same other another
    more less too so very not no never and or but because as than then there here now just only even also being having
    seeing knowing hearing getting i i'm we they he she thing things stuff idea like about of in on at for with by from
    up out ever since while though although until way what's that's it's there's when's lot lots doing going making
    saying a an every
    """
)
"A value that begins with one of these names nothing. Articles are removed before."

_ARTICLE = re.compile(r"^(?:an?|some|any|all (?:kinds|sorts|types) of|lots of|all things)\s+", re.IGNORECASE)
_BETWEEN_ITEMS = re.compile(r"\s*,\s*(?:and |or |& )?|\s+(?:and|&|or|\+)\s+", re.IGNORECASE)
_JOINED_LAST = re.compile(r"\s(?:and|&|or)\s", re.IGNORECASE)
_ONE_THING = re.compile(
    r"\b(?:(?:rock|drum|mac|fish|dungeons|arts|salt|bed|black|research|pros|trial|peanut butter) (?:and|&|'n'?) "
    r"(?:roll|bass|cheese|chips|dragons|crafts|vinegar|breakfasts?|white|development|cons|error|jelly)|short and)\b",
    re.IGNORECASE,
)


def any_of(words: Iterable[str]) -> str:
    """Return a pattern for one of the words. Longer ones are tried first."""
    return rf"(?:{'|'.join(sorted(words, key=len, reverse=True))})"


def trim(text: str) -> str:
    """Remove punctuation at both ends and filler at the end; return an empty text if it is too long for a value."""
    text = text.strip(" \t,.;:!?\"'()[]{}*_~-\u2013\u2014…\ufffc")
    while (shorter := _TRAILING_FILLER.sub("", text).rstrip(" ,;:-")) != text:
        text = shorter
    return text if len(text) <= MAX_VALUE_CHARS else ""


def leading_phrase(rest: str) -> str:
    """Return the phrase at the start of the rest of a clause."""
    return trim(_before(_PHRASE_END, rest))


def _before(end: re.Pattern[str], rest: str) -> str:
    match = end.search(rest)
    return rest[: match.start()] if match else rest


def names_something(phrase: str) -> bool:
    """Whether it is short enough and does not begin with a deictic word."""
    words = phrase.lower().split()
    named = bool(words) and words[0] not in _DEICTIC_WORDS and len(words) <= MAX_THING_WORDS
    return named and len(phrase) > 1 and any(map(str.isalpha, phrase))


def thing(rest: str) -> Iterator[str]:
    """Yield one named thing. "Escaping to that world" names none: its end is deictic."""
    rest = _ARTICLE.sub("", rest)
    phrase = leading_phrase(rest)
    if names_something(phrase) and not _DANGLING_PREPOSITION.search(_before(_PHRASE_END, rest)):
        yield phrase


def things(rest: str) -> Iterator[str]:
    """Yield the items of a list ("hiking, jazz and old maps"), or one thing."""
    items = _items(_before(_LIST_END, rest))
    if len(items) > 1 and all(names_something(item) and len(item.split()) <= MAX_ITEM_WORDS for item in items):
        yield from items
    else:
        yield from thing(rest)


def _items(text: str) -> list[str]:
    if _ONE_THING.search(text) or _DANGLING_PREPOSITION.search(text) or not _JOINED_LAST.search(text):
        return []
    return [item for part in _BETWEEN_ITEMS.split(text) if (item := trim(_ARTICLE.sub("", part)))]


def whole_phrase(rest: str) -> Iterator[str]:
    """Yield all of the rest, for instructions and tasks."""
    phrase = trim(rest)
    if len(phrase) > 1 and phrase.split()[0].lower() not in {"it", "that", "this", "you"}:
        yield phrase
