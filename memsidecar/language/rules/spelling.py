"""One spelling for what people write in many ways, so that the rules need to know only one."""

import re

from memsidecar.language.rules.needs import need_of

_SPELLINGS = {
    "I'm": ("i am", "im", "i m", "i 'm"),
    "I've": ("ive",),
    "I've been": ("i have been",),
    "I have": ("i've got", "ive got"),
    "I have to": ("i've got to",),
    "I'll": ("i will",),
    "I'd": ("i would",),
    "I'd like": ("id like",),
    "I'd prefer": ("id prefer",),
    "I'd rather": ("id rather",),
    "I don't": ("i do not",),
    "I can't": ("i can not",),
    "don't": ("dont", "do not"),
    "doesn't": ("doesnt",),
    "didn't": ("didnt",),
    "can't": ("cant", "cannot"),
    "won't": ("wont",),
    "isn't": ("isnt",),
    "aren't": ("arent",),
    "wasn't": ("wasnt",),
    "what's": ("whats", "what is"),
    "that's": ("thats",),
    "let's": ("lets",),
    "going to": ("gonna",),
    "want to": ("wanna",),
    "have to": ("gotta",),
    "anymore": ("any more", "any longer"),
    "name is": ("name's",),
    "my name is": ("my names",),
    "name": ("naem", "nmae"),
    "birthday": ("bday", "b-day", "birtday", "bithday"),
    "birthday is": ("birthday's", "bday's"),
    "favorite": ("fav", "fave", "favorit", "favourit"),
    "hobbies": ("hobbys",),
    "please": ("plz", "pls"),
    "currently": ("currenty",),
    "work": ("wrok",),
    "interested": ("intrested", "intersted"),
    "like": ("liek",),
    "love": ("luv", "lvoe"),
    "prefer": ("preffer",),
}
MEANT = {written: meant for meant, ways in _SPELLINGS.items() for written in ways}
_BY_LETTER = {
    letter: "|".join(re.escape(written[1:]) for written in sorted(MEANT, key=len, reverse=True) if written[0] == letter)
    for letter in sorted({written[0] for written in MEANT})
}
_WRITTEN = re.compile(
    rf"(?=[{''.join(_BY_LETTER)}])(?<![\w'])"
    rf"(?:{'|'.join(f'{letter}(?:{rest})' for letter, rest in _BY_LETTER.items())})(?![\w'])",
    re.IGNORECASE,
)
WRITTEN = need_of(MEANT)
"What a text needs to be spelled otherwise than it is."


def as_spelled(text: str) -> str:
    # Without regard to case, letters that lower() leaves alone match as well: the dotless i, the long s.
    return _WRITTEN.sub(lambda match: MEANT.get(match[0].lower(), match[0]), text)
