"""What people say before they say it: "hi there, so, just so you know, ..." and the adverbs after "I"."""

import re

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
    r"|some context"
    r"|for the record|for reference|for background|as you know|as i said|as i mentioned|as mentioned"
    r"|like i said|first off"
    r"|first of all|firstly|second|secondly|for what it's worth|fwiw|in general|generally|usually"
    r"|unfortunately|sadly|luckily"
    r"|fortunately|seriously|ugh+|argh+|omg|wow|man|dude|damn|gosh|aw+|sure|of course|cool|great|nice|right"
    r"|true|exactly|same|lol|haha+|sorry"
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
# A greeting may be followed by a name: "hey Claude, ...", "Hi Dr. Smith - ...".
_LEAD = re.compile(
    rf"(?:[\W_]+|{_GREETINGS}(?: [A-Z][\w.]*){{0,2}}(?=\s*[,!.:\u2013\u2014-])|{_GREETINGS}(?=\W|$)|(?:{_PHRASES})"
    rf"(?: that)?(?=\W|$))\W*",
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
    r"|hella|legit"
    r"|working part-time|proudly|happily|gladly|tbh|honestly"
)
_ADVERBIAL = re.compile(rf"^(I|I'm|I've|I'll|we|we're|we've|my name is)(?: (?:{_ADVERBS})(?=\s)){{1,3}}", re.IGNORECASE)
_LONGEST_LEADS = 6


def bare(clause: str) -> str:
    """The clause without what leads up to it, and without adverbs after its subject."""
    for _ in range(_LONGEST_LEADS):
        lead = _LEAD.match(clause)
        if lead is None or not lead[0]:
            break
        clause = clause[lead.end() :]
    return _ADVERBIAL.sub(r"\1", clause, count=1)


I_LEFT_OUT = re.compile(
    r"(?:can't stand|prefer|live in|work (?:at|for|as)|moved to|need to|have to|grew up in)\b", re.IGNORECASE
)
IM_LEFT_OUT = re.compile(
    r"(?:based in|living in|working (?:at|for|as|on)|originally from|allergic to|obsessed with"
    r"|looking forward to)\b",
    re.IGNORECASE,
)


def with_subject(clause: str) -> str:
    """For the first clause of a sentence, where those who write fast leave "I" out."""
    if I_LEFT_OUT.match(clause):
        return f"I {clause}"
    return f"I'm {clause}" if IM_LEFT_OUT.match(clause) else clause
