"""Which parts of a message are the user's own words: no code, no quotations, no transcripts, no forwarded mail.

What is cut out leaves a mark no rule reads over, so that the words around it do not grow together.
"""

import re
from collections.abc import Iterator

from memsidecar.language.rules.words import listed

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
