"""The user's own prose in a message, without pasted text and code; its sentences and clauses."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from memsidecar.domain.text import word_set

PLACEHOLDER = "\ufffc"
MAX_READ_CHARS = 100_000
"The rest of a longer message is not read: it is pasted text."
MIN_WRAPPED_LINE_CHARS = 60
"A line of at least this length is joined with the next one, if that begins in lower case."

_FENCES = {"```": "```", "~~~": "~~~", '"""': '"""', "'''": "'''", "<<<": ">>>"}
_FENCED = re.compile("|".join(rf"{opens}.*?(?:{closes}|\Z)" for opens, closes in _FENCES.items()), re.DOTALL)
_TAGGED = re.compile(r"<(\w{1,20})>[^<]*</\1>")
_INLINE_CODE = re.compile(r"`([^`\n]{1,200})`")
# Opening marks are excluded inside, so that a row of them takes linear time. The lookbehind stands after the mark: `re`
# searches fast for a pattern that begins with a literal.
_QUOTED = {
    '"': re.compile(r'"(?<![\w"]")([^"]{1,1000})"(?![\w"])'),
    "“": re.compile(r"“([^“”]{1,1000})”"),
    "«": re.compile(r"«([^«»]{1,1000})»"),
    "'": re.compile(r"'(?<![\w']')([^'\n]{1,200}(?:'\w[^'\n]{0,100}){0,3})'(?!\w)"),
}
_UNCLOSED = re.compile(r'(?<!\S)["“][^"“”\n]*$', re.MULTILINE)
_FIRST_OR_SECOND_PERSON = re.compile(r"\b(?:i|i'm|i've|my|me|we|our|you|your|is|are|am)\b", re.IGNORECASE)

# The rest of the message is a forwarded one.
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
    r"|heads up|quick (?:update|note|question)|question|open questions?|(?:question|something|one) for (?:later"
    r"|next time)|ok|okay|also|so|hi|hello|hey|(?:just )?to clarify"
    r"|for (?:context|reference|the record)|clarification|confession|important|disclaimer"
    r"|(?:please )?(?:remember|note|save|memori[sz]e|keep in mind|don't forget)(?: (?:this|that|these|the following))?"
    r"|(?:bitte )?(?:merke? dir|notiere?(?: dir)?|vergiss nicht|denke? daran|wichtig|hinweis|übrigens)(?: bitte"
    r"| folgendes)?"
    r"|(?:a )?(?:few|couple of|two|three|some) (?:quick )?(?:facts|things|words)(?: about me| to know)?)",
    re.IGNORECASE,
)
_SPEAKERS = word_set(
    "user assistant system human ai bot agent customer client me them him her you q a tool developer admin"
)
_FIRST_PERSON_LABEL = re.compile(r"(?:my|i|i'm|remind me|in my|please|from now on)\b", re.IGNORECASE)
_MACHINE_OUTPUT = re.compile(
    r"\s*(?:[{}\[\]<|>#$]|//|/\*|\*/|\"[^\"]{1,80}\"\s*:|\[?\d{4}-\d\d-\d\d|\[?\d{1,2}/\d{1,2}/\d{2,4},? \d"
    r"|\[?\d{1,2}:\d\d(?::\d\d)?\]?\s"
    r"|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\b|Traceback|at [\w.$]+\(|(?:import|from|def|class"
    r"|return|const|let|var)\s\w+.*[;:{(=]|\w+\s*=\s*[\"'\[{(\d])"
)
_ENDS_OF_CODE = (";", "{", "}")
_BULLET = re.compile(r"\s*(?:[-*•·]|\d{1,2}[.)])\s+")

MAX_SENTENCE_CHARS = 600
"The rest of a longer sentence is not read."

_EMOJI = r"\U0001F000-\U0001FAFF\u2600-\u27BF\ufffc"
# The lookahead for the first character rejects most positions quickly. A run of marks is tried at its start only: one
# without white space after it would take quadratic time.
_SENTENCE_END = re.compile(
    rf"(?=[.!?…{_EMOJI}lhx:;])(?:(?<![.!?…])[.!?…]++(?=[\s)\]]|$)|[{_EMOJI}]+|(?<=\s)(?:lol|haha+|xd|:\)|:D|;\))(?=\s|$))"
)
_ABBREVIATIONS = word_set("mr mrs ms dr st prof vs e.g i.e approx mt ft gen no")
_POSSIBLE_ABBREVIATIONS = word_set(
    "inc ltd corp co jr sr u.s u.k u.s.a etc a.m p.m llc jan feb mar apr jun jul aug sep sept oct nov dec"
)

_CLAUSE_STARTS = (
    r"i|i'm|i've|i'd|i'll|my|we|we're|we've|our|please|remind|call|don't|can|could|would|will|what|what's|how"
    r"|where|which|who|why"
    r"|do|does|did|is|are|any|should|he|he's|she|she's|they|they're|you|you're|it|it's|that's|there|there's"
    r"|this|if|unless"
    r"|let's|later|according|got|know|anyone|home|these days|nowadays|from|based|living|working|originally"
    r"|currently|not|in my|when|thanks|name|moved to|relocated to"
)
_CONJUNCTIONS = r"and|but|so|because|since|although|though|while|whereas|plus|cause|cuz|bc|yet|or|as|&"
_BREAK = re.compile(
    rf"(?=[,;:(\u2014\s])(?:(?:[,;(]|:(?=\s)|\s[-\u2013\u2014]+\s|\u2014"
    rf"|\s\.\.+)\s*(?:(?P<conjunction>{_CONJUNCTIONS})\s+)?(?=(?:{_CLAUSE_STARTS})\b)"
    rf"|\s+(?P<bare>{_CONJUNCTIONS})\s+(?=(?:i|i'm|i've|i'd|i'll|my|we|we're|our|please|remind|keep|he|she|they|it|it's"
    rf"|call me|can you|don't|if|(?:everyone|everybody|people|friends) (?:usually |just )?calls? me)\b))",
    re.IGNORECASE,
)
_NO_BREAK = re.compile(r"(?:from|based|living|working|originally|currently|in my|not|this|there)\b", re.IGNORECASE)

_ELIDED = re.compile(
    r",?\s(?:and|but)\s+(?:also\s+)?(?=(?:work|live|love|like|enjoy|hate|prefer|study|teach|need to|have to"
    r"|can't stand|adore|dislike|grew up|am|moved to|relocated to|joined|use|play|speak)\b)",
    re.IGNORECASE,
)
_NOT_ELIDED_AFTER = re.compile(
    r"\b(?:to|will|can|could|would|let|help|make|used|must|should|may|might|not)\b|'d\b|'ll\b|n't\b", re.IGNORECASE
)
_ABOUT_SELF = re.compile(r"(?:hi|hello|hey|hiya)\b|i'm |my name is ", re.IGNORECASE)
_IM_ELIDED = re.compile(
    r"(?:based|living|working|originally|currently|from(?! (?:[\w']+ ){1,3}(?:i|i'll|i'm|we|my)\b))\b", re.IGNORECASE
)
_I_ELIDED = re.compile(r"(?:moved|relocated) (?:back |over )?to\b", re.IGNORECASE)

_APPOSITION = re.compile(r"\W*(?:\w+\W+){0,2}(?:as|being) (?:an?|the) [^,]{3,60}$", re.IGNORECASE)
_APPOSED_SUBJECT = re.compile(r"(i|my)\b(?! (?:want|need|can|should|would|must|may|expect|will)\b)", re.IGNORECASE)


def user_lines(text: str) -> list[str]:
    """Return the lines that the user wrote, with wrapped lines joined."""
    text = text[:MAX_READ_CHARS].replace("\r\n", "\n").replace("\u2019", "'").replace("\u2018", "'")
    if any(fence in text for fence in _FENCES):
        text = _FENCED.sub(f"\n{PLACEHOLDER}\n", text)
    if "</" in text:
        text = _TAGGED.sub(PLACEHOLDER, text)
    if "`" in text:
        text = _INLINE_CODE.sub(_keep_short_code, text)
    return list(_join_wrapped(_own_lines(_strip_quotes(text).split("\n"))))


def _strip_quotes(text: str) -> str:
    for mark, quoted in _QUOTED.items():
        if mark in text:
            text = quoted.sub(_keep_short_quote, text)
    return _UNCLOSED.sub(PLACEHOLDER, text) if '"' in text or "“" in text else text


def _keep_short_code(match: re.Match[str]) -> str:
    return PLACEHOLDER if " " in match[1] else match[1]


def _keep_short_quote(match: re.Match[str]) -> str:
    """Keep a title or a single word in quotes ("my favourite book is 'Dune'"), and remove a quoted statement."""
    words = match[1]
    is_title = len(words.split()) <= 5 and "\n" not in words and not _FIRST_OR_SECOND_PERSON.search(words)
    return words if is_title else PLACEHOLDER


def _own_lines(lines: list[str]) -> Iterator[str]:
    """Yield the lines; an empty line in place of each that is left out, so that no lines are joined over the gap."""
    is_own = True
    for line in lines:
        if _FORWARDED.match(line):
            return
        if not line.strip():
            is_own = True
        elif _is_labelled(line):
            is_own = False
        yield "" if not is_own or _is_machine_output(line) else _strip_bullet(line)


def _strip_bullet(line: str) -> str:
    bullet = _BULLET.match(line)
    return line[bullet.end() :] if bullet else line


def _is_labelled(line: str) -> bool:
    """Whether a speaker's label begins the line, as in a transcript: `Alice: I live in Paris`."""
    match = _LABEL.match(line) if ":" in line else None
    if match is None:
        return False
    label = match["label"].strip()
    return not _OWN_LABEL.fullmatch(label) and not _FIRST_PERSON_LABEL.match(label) and _looks_like_a_speaker(label)


def _looks_like_a_speaker(label: str) -> bool:
    """Whether it has up to three words, the first one capitalised or a role."""
    words = label.split()
    return len(words) <= 3 and (words[0][0].isupper() or label.lower() in _SPEAKERS)


def _is_machine_output(line: str) -> bool:
    indented = line.startswith(("    ", "\t"))
    return indented or line.rstrip().endswith(_ENDS_OF_CODE) or _MACHINE_OUTPUT.match(line) is not None


def _join_wrapped(lines: Iterator[str]) -> Iterator[str]:
    joined = ""
    for line in lines:
        if joined and line[:1].islower():
            joined = f"{joined} {line}"
        else:
            if joined:
                yield joined
            joined = line
        if joined and (len(line) < MIN_WRAPPED_LINE_CHARS or line.rstrip().endswith((".", "!", "?", ":"))):
            yield joined
            joined = ""
    if joined:
        yield joined


class Clause(NamedTuple):
    """`conjunction` is the word, or the comma, before the clause; empty for the first one."""

    text: str
    conjunction: str


class Sentence(NamedTuple):
    text: str
    is_question: bool


def split_sentences(line: str) -> Iterator[Sentence]:
    """Yield the sentences of a line.

    The splitter of the domain does not fit: here an emoji or "lol" ends a sentence too, and a question is marked.
    """
    start = 0
    for end in _SENTENCE_END.finditer(line):
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
    if last in _ABBREVIATIONS or (len(last) == 1 and last.isalpha() and last != "i"):
        return True
    return last in _POSSIBLE_ABBREVIATIONS and line[end.end() : end.end() + 2].strip()[:1].islower()


def _sentence(text: str, mark: str) -> Iterator[Sentence]:
    text = " ".join(text[:MAX_SENTENCE_CHARS].split())
    if text:
        yield Sentence(text, "?" in mark)


def split_clauses(sentence: str) -> list[Clause]:
    """Return the clauses in order, with their omitted subjects ("I live in Rome and work at Eni" has two)."""
    found: list[Clause] = []
    start, conjunction = 0, ""
    for cut in _BREAK.finditer(sentence):
        if _NO_BREAK.match(sentence, cut.end()) and cut[0][0] != ":" and not _is_about_self(sentence, start, cut):
            continue
        found.extend(_split_elided(_with_apposed_subject(sentence, start, cut), conjunction))
        start, conjunction = cut.end(), (cut["conjunction"] or cut["bare"] or ",").lower()
    found.extend(_split_elided(sentence[start:], conjunction))
    return [_restore_subject(found, at) for at in range(len(found))]


def _with_apposed_subject(sentence: str, start: int, cut: re.Match[str]) -> str:
    """Return the clause. To "as a nurse", the word behind the comma is added: it tells who the nurse is."""
    clause = sentence[start : cut.start()]
    owner = _APPOSED_SUBJECT.match(sentence, cut.end()) if _APPOSITION.match(clause) else None
    return f"{clause}, {owner[1]}" if owner else clause


def _is_about_self(sentence: str, start: int, cut: re.Match[str]) -> bool:
    """Whether the clause behind the cut is about the user as well: "I'm Bob, based in Berlin"."""
    return _ABOUT_SELF.match(sentence, start) is not None and _IM_ELIDED.match(sentence, cut.end()) is not None


def _split_elided(text: str, conjunction: str) -> Iterator[Clause]:
    head, *rest = _ELIDED.split(text) if text[:2].lower() in {"i ", "i'"} else [text]
    if rest and (_NOT_ELIDED_AFTER.search(head) or _repeats_its_verb(head, rest)):
        head, rest = text, []
    yield Clause(head.strip(), conjunction)
    yield from (Clause(f"I {part.strip()}", "and") for part in rest)


def _repeats_its_verb(head: str, rest: list[str]) -> bool:
    """Whether the word is a noun and begins no clause: "I love the peace and love theme"."""
    return any(part.split()[0].lower() in head.lower().split() for part in rest)


def _restore_subject(found: list[Clause], at: int) -> Clause:
    clause = found[at]
    if at and _I_ELIDED.match(clause.text):
        return clause._replace(text=f"I {clause.text}")
    return clause._replace(text=f"I'm {clause.text}") if at and _IM_ELIDED.match(clause.text) else clause
