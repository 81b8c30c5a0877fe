"""The user's own prose -> sentences -> clauses."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from memsidecar.language.rules.lexicon import listed

MARK = "\ufffc"
READ_CHARS = 100_000
"Whoever sends more than this pasted it."
WRAPPED_CHARS = 60
"A line at least this long that goes on in lower case was wrapped, not ended."

_FENCES = {"```": "```", "~~~": "~~~", '"""': '"""', "'''": "'''", "<<<": ">>>"}
_FENCED = re.compile("|".join(rf"{opens}.*?(?:{closes}|\Z)" for opens, closes in _FENCES.items()), re.DOTALL)
_TAGGED = re.compile(r"<(\w{1,20})>[^<]*</\1>")
_INLINE_CODE = re.compile(r"`([^`\n]{1,200})`")
# Opening marks are excluded inside: otherwise a row of them would be read again from each. What stands before a mark is
# looked at behind it: a pattern that begins with a letter is searched for at once.
_QUOTED = {
    '"': re.compile(r'"(?<![\w"]")([^"]{1,1000})"(?![\w"])'),
    "“": re.compile(r"“([^“”]{1,1000})”"),
    "«": re.compile(r"«([^«»]{1,1000})»"),
    "'": re.compile(r"'(?<![\w']')([^'\n]{1,200}(?:'\w[^'\n]{0,100}){0,3})'(?!\w)"),
}
_UNCLOSED = re.compile(r'(?<!\S)["“][^"“”\n]*$', re.MULTILINE)
_OF_A_SPEAKER = re.compile(r"\b(?:i|i'm|i've|my|me|we|our|you|your|is|are|am)\b", re.IGNORECASE)

# From here on it is somebody else's letter.
_FORWARDED = re.compile(
    r"\W{0,10}+(?:begin forwarded message|forwarded message|on .{4,80} wrote:|from: .{1,80}@|subject: )"
    r"|\W{0,10}-{2,} ?(?:original|forwarded) message",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\W{0,4}(?P<label>[^\W\d][\w .'&/-]{0,40}?)(?: ?[(\[][^)\]\n]{0,30}[)\]])?\W{0,3}:(?:\s|\*|$)")
_OWN_LABEL = re.compile(
    r"(?:fyi|note|notes|nb|update|edit|context|background|some (?:background|context)|about me|a bit about me"
    r"|(?:quick |short )?intro|btw|by the way|ps|p\.s|pps|correction|reminders?|to-?dos?|todo list|action items?|info"
    r"|to be clear|long story short|here's the thing|the thing is|fun fact|preferences?|"
    r"(?:here's )?my situation|situation"
    r"|heads up|quick (?:update|note|question)|question|open question|ok|okay|also|so|hi|hello|hey|(?:just )?to clarify"
    r"|for (?:context|reference|the record)|clarification|confession|important|remember|please remember|disclaimer"
    r"|(?:a )?(?:few|couple of|two|three|some) (?:quick )?(?:facts|things|words)(?: about me| to know)?)",
    re.IGNORECASE,
)
_FIRST_PERSON_LABEL = re.compile(r"(?:my|i|i'm|remind me|in my|please|from now on)\b", re.IGNORECASE)
_MACHINE_MADE = re.compile(
    r"\s*(?:[{}\[\]<|>#$]|//|/\*|\*/|\"[^\"]{1,80}\"\s*:|\[?\d{4}-\d\d-\d\d|\[?\d{1,2}/\d{1,2}/\d{2,4},? \d"
    r"|\[?\d{1,2}:\d\d(?::\d\d)?\]?\s"
    r"|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\b|Traceback|at [\w.$]+\(|(?:import|from|def|class"
    r"|return|const|let|var)\s\w+.*[;:{(=]"
    r"|\w+\s*=\s*[\"'\[{(\d])"
)
_ENDS_OF_CODE = (";", "{", "}")
_BULLET = re.compile(r"\s*(?:[-*•·]|\d{1,2}[.)])\s+")

SENTENCE_CHARS = 600
"What is said of oneself is said early; the rest of an endless sentence is not read."

_PICTURES = r"\U0001F000-\U0001FAFF\u2600-\u27BF\ufffc"
# The first letters are asked for first: at most places that is all there is to do.
_END = re.compile(
    rf"(?=[.!?…{_PICTURES}lhx:;])(?:[.!?…]+(?=[\s)\]]|$)|[{_PICTURES}]+|(?<=\s)(?:lol|haha+|xd|:\)|:D|;\))(?=\s|$))"
)
_NEVER_LAST = listed("mr mrs ms dr st prof vs e.g i.e approx mt ft gen no")
_SELDOM_LAST = listed(
    "inc ltd corp co jr sr u.s u.k u.s.a etc a.m p.m llc jan feb mar apr jun jul aug sep sept oct nov dec"
)

_BEGINS = (
    r"i|i'm|i've|i'd|i'll|my|we|we're|we've|our|please|remind|call|don't|can|could|would|will|what|what's|how"
    r"|where|which|who|why"
    r"|do|does|did|is|are|any|should|he|he's|she|she's|they|they're|you|you're|it|it's|that's|there|there's"
    r"|this|if|unless"
    r"|let's|later|according|got|know|anyone|home|these days|nowadays|from|based|living|working|originally"
    r"|currently|not|in my|when|thanks|name"
)
_JOINTS = r"and|but|so|because|since|although|though|while|whereas|plus|cause|cuz|bc|yet|or|as|&"
_BREAK = re.compile(
    rf"(?=[,;(\u2014\s])(?:(?:[,;(]|\s[-\u2013\u2014]+\s|\u2014|\s\.\.+)\s*(?:(?P<joint>{_JOINTS})\s+)?(?=(?:{_BEGINS})\b)"
    rf"|\s+(?P<bare>{_JOINTS})\s+(?=(?:i|i'm|i've|i'd|i'll|my|we|we're|our|please|remind|keep|he|she|they|it|it's"
    rf"|call me|can you|don't|if)\b))",
    re.IGNORECASE,
)
_NO_BREAK = re.compile(r"(?:from|based|living|working|originally|currently|in my|not|this|there)\b", re.IGNORECASE)

_ELIDED = re.compile(
    r",?\s(?:and|but)\s+(?:also\s+)?(?=(?:work|live|love|like|enjoy|hate|prefer|study|teach|need to|have to"
    r"|can't stand|adore|dislike|grew up|am)\b)",
    re.IGNORECASE,
)
_NOT_ELIDED_AFTER = re.compile(
    r"\b(?:to|will|can|could|would|let|help|make|used|must|should|may|might|not)\b|'d\b|'ll\b|n't\b", re.IGNORECASE
)
OF_SELF = re.compile(r"(?:hi|hello|hey|hiya)\b|i'm |my name is ", re.IGNORECASE)
_IM_ELIDED = re.compile(r"(?:based|living|working|originally|currently|from)\b", re.IGNORECASE)

_APPOSED = re.compile(r"\W*(?:\w+\W+){0,2}(?:as|being) (?:an?|the) [^,]{3,60}$", re.IGNORECASE)
_OWNER = re.compile(r"(i|my)\b(?! (?:want|need|can|should|would|must|may|expect|will)\b)", re.IGNORECASE)


def own_words(text: str) -> list[str]:
    """The lines that the user says, each as one stretch of text."""
    text = text[:READ_CHARS].replace("\r\n", "\n").replace("\u2019", "'").replace("\u2018", "'")
    if any(fence in text for fence in _FENCES):
        text = _FENCED.sub(f"\n{MARK}\n", text)
    if "</" in text:
        text = _TAGGED.sub(MARK, text)
    if "`" in text:
        text = _INLINE_CODE.sub(_short_code, text)
    return list(_unwrapped(_said(_unquoted(text).split("\n"))))


def _unquoted(text: str) -> str:
    for mark, quoted in _QUOTED.items():
        if mark in text:
            text = quoted.sub(_short_title, text)
    return _UNCLOSED.sub(MARK, text) if '"' in text or "“" in text else text


def _short_code(match: re.Match[str]) -> str:
    return MARK if " " in match[1] else match[1]


def _short_title(match: re.Match[str]) -> str:
    """A title or a single word in quotes is used, not quoted: "my favourite book is 'Dune'"."""
    words = match[1]
    return words if len(words.split()) <= 5 and "\n" not in words and not _OF_A_SPEAKER.search(words) else MARK


def _said(lines: list[str]) -> Iterator[str]:
    """An empty line wherever something was left out, so that nothing is joined over the gap."""
    speaking = True
    for line in lines:
        if _FORWARDED.match(line):
            return
        if not line.strip():
            speaking = True
        elif _is_labelled(line):
            speaking = False
        yield "" if not speaking or _is_machine_made(line) else _without_bullet(line)


def _without_bullet(line: str) -> str:
    bullet = _BULLET.match(line)
    return line[bullet.end() :] if bullet else line


def _is_labelled(line: str) -> bool:
    """`Alice: I live in Paris`, and whatever follows up to the next empty line."""
    match = _LABEL.match(line) if ":" in line else None
    if match is None:
        return False
    label = match["label"].strip()
    return not _OWN_LABEL.fullmatch(label) and not _FIRST_PERSON_LABEL.match(label) and _looks_like_a_speaker(label)


def _looks_like_a_speaker(label: str) -> bool:
    """Up to three words, no ordinary sentence that happens to have a colon."""
    words = label.split()
    return len(words) <= 3 and (words[0][0].isupper() or label.lower() in _SPEAKERS)


_SPEAKERS = listed(
    "user assistant system human ai bot agent customer client me them him her you q a tool developer admin"
)


def _is_machine_made(line: str) -> bool:
    indented = line.startswith(("    ", "\t"))
    return indented or line.rstrip().endswith(_ENDS_OF_CODE) or _MACHINE_MADE.match(line) is not None


def _unwrapped(lines: Iterator[str]) -> Iterator[str]:
    held = ""
    for line in lines:
        if held and line[:1].islower():
            held = f"{held} {line}"
        else:
            if held:
                yield held
            held = line
        if held and (len(line) < WRAPPED_CHARS or line.rstrip().endswith((".", "!", "?", ":"))):
            yield held
            held = ""
    if held:
        yield held


class Clause(NamedTuple):
    """`joint` is the word that ties it to the one before it, if any."""

    text: str
    joint: str


class Sentence(NamedTuple):
    text: str
    asked: bool


def sentences(line: str) -> Iterator[Sentence]:
    start = 0
    for end in _END.finditer(line):
        if _is_abbreviation(line, end):
            continue
        yield from _sentence(line[start : end.start()], end[0])
        start = end.end()
    yield from _sentence(line[start:], "")


def _is_abbreviation(line: str, end: re.Match[str]) -> bool:
    if end[0] != ".":
        return False
    words = line[max(0, end.start() - 12) : end.start()].split()
    last = words[-1].lower().lstrip("(") if words else ""
    if last in _NEVER_LAST or (len(last) == 1 and last.isalpha() and last != "i"):
        return True
    return last in _SELDOM_LAST and line[end.end() : end.end() + 2].strip()[:1].islower()


def _sentence(text: str, mark: str) -> Iterator[Sentence]:
    text = " ".join(text[:SENTENCE_CHARS].split())
    if text:
        yield Sentence(text, "?" in mark)


def clauses(sentence: str) -> list[Clause]:
    """In order; a clause that leaves its subject out gets it back ("I live in Rome and work at Eni")."""
    found: list[Clause] = []
    start, joint = 0, ""
    for cut in _BREAK.finditer(sentence):
        if _NO_BREAK.match(sentence, cut.end()) and not _continues_self(sentence, start, cut):
            continue
        found.extend(_with_elided(_with_owner(sentence, start, cut), joint))
        start, joint = cut.end(), (cut["joint"] or cut["bare"] or ",").lower()
    found.extend(_with_elided(sentence[start:], joint))
    return [_with_subject(found, at) for at in range(len(found))]


def _with_owner(sentence: str, start: int, cut: re.Match[str]) -> str:
    """After "as a nurse, ..." only the next word says who the nurse is."""
    clause = sentence[start : cut.start()]
    owner = _OWNER.match(sentence, cut.end()) if _APPOSED.match(clause) else None
    return f"{clause}, {owner[1]}" if owner else clause


def _continues_self(sentence: str, start: int, cut: re.Match[str]) -> bool:
    """Only what follows something that the user is goes on about them: "I'm Bob, based in Berlin"."""
    return OF_SELF.match(sentence, start) is not None and _IM_ELIDED.match(sentence, cut.end()) is not None


def _with_elided(text: str, joint: str) -> Iterator[Clause]:
    head, *rest = _ELIDED.split(text) if text[:2].lower() in {"i ", "i'"} else [text]
    if rest and (_NOT_ELIDED_AFTER.search(head) or _repeats_its_verb(head, rest)):
        head, rest = text, []
    yield Clause(head.strip(), joint)
    yield from (Clause(f"I {part.strip()}", "and") for part in rest)


def _repeats_its_verb(head: str, rest: list[str]) -> bool:
    """Then it is a noun: "I love the peace and love theme"."""
    return any(part.split()[0].lower() in head.lower().split() for part in rest)


def _with_subject(found: list[Clause], at: int) -> Clause:
    clause = found[at]
    return clause._replace(text=f"I'm {clause.text}") if at and _IM_ELIDED.match(clause.text) else clause
