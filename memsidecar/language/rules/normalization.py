"""Normalization before the rules: spelling, lead-ins, omitted subjects, self-corrections, short answers."""

import re
from collections.abc import Sequence

from memsidecar.domain.message import Role
from memsidecar.language.contract import Utterance

_SPELLINGS = {
    "I'm": ("i am", "im", "i m", "i 'm"),
    "I've": ("ive",),
    "I've been": ("i have been",),
    "I have": ("i've got", "ive got"),
    "we have": ("we've got", "weve got"),
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
    "prefer that you": ("prefer if you", "prefer it if you"),
    "appreciate that you": ("appreciate if you", "appreciate it if you"),
}
_MEANT = {written: meant for meant, ways in _SPELLINGS.items() for written in ways}
_VARIANTS_BY_LETTER = {
    letter: "|".join(
        re.escape(written[1:]) for written in sorted(_MEANT, key=len, reverse=True) if written[0] == letter
    )
    for letter in sorted({written[0] for written in _MEANT})
}
_VARIANT = re.compile(
    rf"(?=[{''.join(_VARIANTS_BY_LETTER)}])(?<![\w'])"
    rf"(?:{'|'.join(f'{letter}(?:{rest})' for letter, rest in _VARIANTS_BY_LETTER.items())})(?![\w'])",
    re.IGNORECASE,
)

_GERMAN = re.compile(
    r"(?<!\w)(?:ich|mein|meine[nmrs]?|wir|unsere?|bitte|dich|mich|nicht|keine?|merke? dir|vergiss|antworte|hei(?:ß"
    r"|ss)e|dass"
    r"|nenne? mich|deine?|ohne emojis|auf deutsch|fasse? dich)(?!\w)",
    re.IGNORECASE,
)

_GREETINGS = (
    r"(?:hi|hello|hey|heya|hiya|yo|greetings|howdy|good (?:morning|afternoon|evening)|dear)"
    r"(?: (?:there|all|everyone|everybody|team|folks|guys|again|bot|assistant|claude|chatgpt|gpt|buddy|friend"
    r"|sir|madam))?"
)
_PHRASES = (
    r"nice to meet you(?: too)?|thanks(?: a lot| so much| again)?|thank you(?: so much)?|well|so|ok|okay|k|oh"
    r"|ah|ahh|yeah|yea|yes|yep|yup"
    r"|no(?=[,.!;])|nope|nah|hmm+|um+|uh+|actually|also|and|but|because|since|as(?! (?:an?|the)\b)|plus|fyi"
    r"|honestly|tbh|to be honest|to be fair|frankly"
    r"|personally|currently|right now|at the moment|these days|nowadays|now|lately|recently|today|anyway"
    r"|anyways|just|btw"
    r"|by the way|oh and|and also|one more thing|just so you know|just to let you know|just fyi|for context"
    r"|some context|for the record|for reference|for background|as you know|as i said|as i mentioned|as mentioned"
    r"|like i said|first off|first of all|firstly|second|secondly|for what it's worth|fwiw|in general|generally|usually"
    r"|unfortunately|sadly|luckily"
    r"|fortunately|seriously|ugh+|argh+|omg|wow|man|dude|damn|gosh|aw+|sure|of course|cool|great|nice|right"
    r"|true|exactly|same|lol|haha+|sorry|at (?:work|home|my (?:job|company|workplace|office))|for work|(?:in"
    r"|on) (?:my|our) team|on my (?:laptop|desktop|mac|pc|phone|work (?:laptop|machine|computer))"
    r"|i think|i guess|i must say|i must admit|i have to admit|i admit|i'll admit|i confess|i should "
    r"(?:mention|add|note|say)"
    r"|i (?:forgot|meant|want|wanted) to (?:mention|say|add|tell you)|i want you to (?:know|remember)|you should know"
    r"|you know|you see|note|please note|remember|please remember|keep in mind|bear in mind|don't forget"
    r"|the thing is|the truth is|truth is|fact is|fun fact|to be clear|just to clarify|to clarify|it turns out"
    r"|turns out|good news|bad news"
    r"|quick update|update|edit|correction|note to self|confession|context|background|intro|quick intro"
    r"|about me|ps|p\.s\."
    r"|given|considering|seeing|now that|although|though|even though|while|fwiw|on a personal note|speaking of which"
    r"|long story short|more importantly|most importantly|importantly|besides|moreover|in addition"
    r"|additionally|furthermore"
    r"|otherwise|still|yet|i'm telling you|believe it or not|no joke|my situation|here's my situation|here's the thing"
    r"|(?:just )?a reminder|reminder|after all|at heart|by trade|as usual|as always|for now|a (?:bit|little) about me"
    r"|(?:a )?(?:few|couple of|two|three|some) (?:quick )?(?:facts|things)(?: about me)?"
)
_SINCE_WHEN = (
    r"(?:from|starting|beginning|as of|since|effective|in) (?:on |in |from |early |late |mid[- ])?(?:(?:next|this"
    r"|last|the"
    r" (?:first|1st|end) of) \w+|today|tomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:january|february|march"
    r"|april|may|june|july|august|september|october|november|december)(?: \d{1,4})?|(?:19|20)\d\d"
    r"|\d{1,2} \w+)(?: on(?:wards?)?)?|next (?:week|month|year)|last (?:week|month|year)"
)
# A greeting may be followed by a name: "hey Claude, ...", "Hi Dr. Smith - ...".
_LEAD_IN = re.compile(
    rf"(?:[\W_]+|{_GREETINGS}(?: [A-Z][\w.]*){{0,2}}(?=\s*[,!.:\u2013\u2014-])|{_GREETINGS}(?=\W|$)|(?:{_PHRASES})"
    rf"(?: that)?(?=\W|$)|{_SINCE_WHEN},?(?= (?:i|i'll|i'm|i've|we|we'll|we're|my|our)\b))\W*",
    re.IGNORECASE,
)
_ADVERBS = (
    r"really|actually|currently|now|just|still|also|always|generally|usually|mostly|mainly|primarily"
    r"|personally|honestly"
    r"|absolutely|truly|totally|definitely|quite|particularly|especially|strongly|do|kinda|kind of|sort of"
    r"|sorta|very much"
    r"|so|very|super|pretty|extremely|incredibly|literally|recently|finally|officially|presently|normally"
    r"|typically|often"
    r"|genuinely|seriously|simply|basically|freaking|fucking|fully|already|sincerely|deeply|obviously|secretly|both|all"
    r"|much|sometimes|rather|fairly|a bit|a little|a tad|a little bit|slightly|increasingly"
    r"|both|quickly|soon|then|too|only|certainly|particularly|typically|equally|beyond|low-?key|lowkey|highkey"
    r"|hella|legit|working part-time|proudly|happily|gladly|tbh|honestly"
)
_ADVERBIAL = re.compile(rf"^(I|I'm|I've|I'll|we|we're|we've|my name is)(?: (?:{_ADVERBS})(?=\s)){{1,3}}", re.IGNORECASE)
_MAX_LEAD_INS = 6

MAX_FRAGMENT_WORDS = 4

_CLEAR_CORRECTION = r"no,? wait|wait,? no|scratch that|correction|or rather|i mean|i meant(?: to say)?|make that"
# Ambiguous ("no problem"): they correct only between commas and before a name.
_POSSIBLE_CORRECTION = r"sorry|no|nope|oops|wait|er+|uh"
_CORRECTION_WORDS = (
    rf"(?:(?:(?:{_POSSIBLE_CORRECTION}),?\s+)?(?P<is_clear>{_CLEAR_CORRECTION})[,:.]?|(?:{_POSSIBLE_CORRECTION}),)\s+"
    r"(?:it's\s+)?"
)
_CORRECTION_START = re.compile(_CORRECTION_WORDS, re.IGNORECASE)
# The lookahead for the first character rejects most positions quickly.
_CORRECTION = re.compile(
    rf"(?=[,;(.\u2013\u2014\s])(?:[,;(.\u2013\u2014]|\s-+|(?<!\.)\.\.++)\s*{_CORRECTION_WORDS}",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(r"(in|at|for|near|to|on|from|by)\s+", re.IGNORECASE)
_CLAUSE_START = re.compile(
    r"(?:i|i'm|i've|i'd|i'll|my|we|you|he|she|they|it|it's|that|that's|this|there|what|how|who|thanks|please|can|could"
    r"|do|is|not)\b",
    re.IGNORECASE,
)

MAX_ANSWER_CHARS, MAX_ANSWER_WORDS = 60, 4
QUESTION_CHARS = 200

_EXPANSIONS = {
    r"what(?:'s| is) your (?:first |full )?name|what (?:should|can|may|do) i call you": "my name is {}",
    r"where (?:do you (?:currently )?live|are you (?:based|located|living))(?: now| currently)?": "I live in {}",
    r"where are you (?:originally )?from": "I'm from {}",
    r"where do you work|(?:which|what) company do you work (?:at|for)|who do you work for": "I work at {}",
    r"how old are you|what(?:'s| is) your age": "I'm {} years old",
    r"when(?:'s| is) your birthday": "my birthday is {}",
}
# The question must end the assistant's message and ask for nothing else.
_QUESTIONS = [
    (re.compile(rf"\b(?:{question})\W*$", re.IGNORECASE), template) for question, template in _EXPANSIONS.items()
]
_PREFIX = re.compile(r"(?:it's|in|at|from|on|for|i'm)\s+", re.IGNORECASE)
_NO_ANSWER = re.compile(
    r"(?:no|nope|yes|why|none|nothing|what|idk|i|skip|guess|not|never|ok|hi|hello|thanks|sorry|somewhere|home|here"
    r"|there|nowhere|that|it)\b",
    re.IGNORECASE,
)

_WITHOUT_I = re.compile(
    r"(?:can't stand|prefer|live in|work (?:at|for|as)|moved (?:to|from|into)|relocated to|need to|have to|grew up in"
    r"|got promoted|accepted an?|joined|switched (?:jobs|to|from)|changed jobs|quit my job|started (?:at|working at)"
    r"|adopted an?|bought an? (?:house|flat|apartment)|have (?:an?|two|three) (?:\w+ )?(?:dogs?|cats?|kids|sons?"
    r"|daughters?)|(?:hate|love)(?! (?:is|it|you|this|that|to|how|the|your|all|them|him|her|and|a)\b))\b",
    re.IGNORECASE,
)
_WITHOUT_I_WAS = re.compile(r"born (?:and raised )?(?:in|on)\b", re.IGNORECASE)
_WITHOUT_IVE = re.compile(
    r"been (?:getting into|learning|working (?:at|for|as|on)|living in|playing|using|promoted)\b", re.IGNORECASE
)
_WITHOUT_IM = re.compile(
    r"(?:based in|living in|working (?:at|for|as|on)|originally from|allergic to|obsessed with"
    r"|looking forward to|starting at|joining|training for|(?:really |so |very |pretty |quite )?(?:nervous|excited"
    r"|worried"
    r"|anxious|frustrated|annoyed|happy|stressed) (?:about|with)|not (?:really )?(?:a (?:big |huge )?fan of|into"
    r"|keen on))\b",
    re.IGNORECASE,
)


def is_german(text: str) -> bool:
    return _GERMAN.search(text) is not None


def normalize_spelling(text: str) -> str:
    """Return an English text in one spelling; a German one as it is ("im" is no "I'm")."""
    if is_german(text):
        return text
    # Ignoring case, a pattern also matches letters that lower() keeps: the dotless i, the long s.
    return _VARIANT.sub(lambda match: _MEANT.get(match[0].lower(), match[0]), text)


def strip_lead_in(clause: str) -> str:
    """Return the clause without its lead-ins ("well, actually") and without adverbs after its subject."""
    for _ in range(_MAX_LEAD_INS):
        lead = _LEAD_IN.match(clause)
        if lead is None or not lead[0]:
            break
        clause = clause[lead.end() :]
    return _ADVERBIAL.sub(r"\1", clause, count=1)


def restore_subject(clause: str) -> str:
    """Add the "I", "I'm", "I was" or "I've" that is often omitted in the first clause of a sentence."""
    if _WITHOUT_I.match(clause):
        return f"I {clause}"
    if _WITHOUT_I_WAS.match(clause):
        return f"I was {clause}"
    if _WITHOUT_IVE.match(clause):
        return f"I've {clause}"
    return f"I'm {clause}" if _WITHOUT_IM.match(clause) else clause


def apply_correction(sentence: str) -> str:
    """Apply a correction inside of the sentence ("in Rome, no wait, in Milan"), if it is a fragment."""
    match = _CORRECTION.search(sentence)
    if match is None:
        return sentence
    before, meant = sentence[: match.start()].split(), sentence[match.end() :].strip()
    if not before or not _is_fragment(meant, is_clear=bool(match["is_clear"])):
        return sentence
    kept = before[: -_replaced_words(before, meant)]
    return " ".join([*kept, _PREPOSITION.sub("", meant, count=1) if _ends_with_preposition(kept) else meant])


def is_correction(sentence: str) -> bool:
    """Whether a sentence corrects the one before it ("Sorry, I mean Alphabet.")."""
    match = _CORRECTION_START.match(sentence)
    return match is not None and _is_fragment(sentence[match.end() :], is_clear=bool(match["is_clear"]))


def _is_fragment(meant: str, *, is_clear: bool) -> bool:
    name = _PREPOSITION.sub("", meant, count=1)[:1]
    short = 0 < len(meant.split()) <= MAX_FRAGMENT_WORDS
    return short and (is_clear or name.isupper()) and not _CLAUSE_START.match(meant)


def _replaced_words(before: list[str], meant: str) -> int:
    """Return how many last words the fragment replaces.

    From the same preposition on, if the fragment has one; else the capitalised words, at least one.
    """
    preposition = _PREPOSITION.match(meant)
    lower = [word.lower() for word in before]
    if preposition and preposition[1].lower() in lower:
        return lower[::-1].index(preposition[1].lower()) + 1
    count = 1
    while count < len(before) - 1 and before[-count - 1][0].isupper() and lower[-count - 1] not in {"i", "i'm"}:
        count += 1
    return count


def _ends_with_preposition(words: list[str]) -> bool:
    return bool(words) and _PREPOSITION.match(words[-1] + " ") is not None


def expand_answer(utterances: Sequence[Utterance], at: int) -> str:
    """Return the user's text; a short answer to a known question becomes a sentence ("Ada": "my name is Ada")."""
    text = utterances[at].text
    if at == 0 or utterances[at - 1].role != Role.ASSISTANT:
        return text
    answer = _short_answer(text)
    previous = utterances[at - 1].text.rstrip()[-QUESTION_CHARS:]
    expanded = (template.format(answer) for question, template in _QUESTIONS if answer and question.search(previous))
    return next(expanded, text)


def _short_answer(text: str) -> str:
    if len(text) > MAX_ANSWER_CHARS or "?" in text or "\n" in text.strip():
        return ""
    answer = _PREFIX.sub("", text.strip().split(",")[0].rstrip(".! "), count=1)
    return "" if len(answer.split()) > MAX_ANSWER_WORDS or _NO_ANSWER.match(answer) else answer
