"""Rules for to-dos, events and deadlines, with their dates."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.language.rules.rule import FactClaim, pattern_rules, with_keywords
from memsidecar.language.rules.values import trim, whole_phrase

ACTION = FactType.ACTION_ITEM

_DAYS = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?"
_MONTHS = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct"
    r"(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_ORDINAL = r"\d{1,2}(?:st|nd|rd|th)?"
_CLOCK = r"(?:\d{1,2}(?::\d\d)? ?(?:[ap]\.?m\.?|o'clock)|\d{1,2}:\d\d|noon|midnight)"

CALENDAR_DATE = (
    rf"(?:(?:the )?{_ORDINAL}(?: of)? {_MONTHS}\b\.?(?:,? \d{{4}})?|{_MONTHS}\b\.? (?:the )?{_ORDINAL}\b(?:,? \d{{4}})?"
    r"|\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?)"
)
_RELATIVE = (
    r"(?:tomorrow|tmrw|tmr|tomorow|tonight|today|(?:the )?day after tomorrow|this (?:morning|afternoon|evening"
    r"|week|weekend|month|year|friday|monday)"
    rf"|(?:this |next |coming |the following )?{_DAYS}\b(?: (?:morning|afternoon|evening|night))?|next (?:week"
    rf"|weekend|month|year|spring|summer|autumn|fall|winter|quarter|semester)"
    r"|in (?:an?|one|two|three|four|five|six|\d{1,3}|a few|a couple of) (?:minutes?|hours?|days?|weeks?|months?|years?)"
    r"|(?:the )?end of (?:the )?(?:day|week|month|year|quarter)|eod|eow|eom|later today|the weekend"
    rf"|(?:the )?\d{{1,2}}(?:st|nd|rd|th)|{_MONTHS}(?: \d{{4}})?)"
)
WHEN = rf"(?:{CALENDAR_DATE}|{_RELATIVE}|{_CLOCK})"
_WHEN = re.compile(
    rf"(?<![\w-])(?:(?:by|on|before|at|until|till|from|for|in|around|due) (?:the )?)?{WHEN}(?![\w-])", re.IGNORECASE
)
_CALENDAR_DATE = re.compile(rf"(?:on )?(?:the )?({CALENDAR_DATE})(?!\w)", re.IGNORECASE)
# Ambiguous words: they are dates only with a preposition ("in May", not "may").
_AMBIGUOUS_DATE = re.compile(r"(?:may|mar|march|sun|sat|wed|mon|dec)$", re.IGNORECASE)

MAX_TASK_WORDS = 25

# "I need to" with one of these is a task of the user. "I need to parse JSON" is a question to the assistant.
_ERRAND = re.compile(
    r"(?:(?:call|phone|ring|text|email|message) (?:my|mom|mum|dad|grandma|him back|her back|them back|the "
    r"(?:dentist|doctor|bank|vet|plumber|landlord|insurance|school|office|clinic|bank|garage)|(?-i:[A-Z][a-z]))|"
    r"buy|pay (?!attention)|renew (?:my|the)|book (?:a|an|my|the|our)|pick up (?:my|the|some|a|(?-i:[A-Z]))"
    r"|drop off|cancel my|rsvp|sign up for|register for|mail (?:my|the|a)|visit my|"
    r"get (?:my|the) \w+ (?:fixed|repaired|checked|serviced)|(?:re)?schedule (?:an?|my) (?:\w+ )?"
    r"(?:appointment|meeting|call|check-?up|haircut|visit)|apply for|water the (?:plants|garden|flowers|lawn)|"
    r"feed (?:the|my) (?:cats?|dogs?|fish|chickens|baby)|clean (?:the|my) (?:house|kitchen|garage|bathroom"
    r"|room|car|apartment|flat|desk)|pack (?:my|for)|hand in|turn in (?:my|the)|file my|do my taxes|"
    r"see (?:a|the|my) (?:doctor|dentist|vet)|take my \w+ to|get groceries|do the laundry|finish (?:my|the) "
    r"(?:\w+ )?(?:report|essay|thesis|homework|paper|slides|application|presentation))\b",
    re.IGNORECASE,
)
# Operations on data, whose dates are data too.
_DATA_OPERATION = re.compile(
    r"(?:convert|parse|filter|group|compare|format|compute|calculate|query|select|extract|split|count|sort"
    r"|aggregate|subtract|add|detect|trigger|run|execute|handle|display|show|get|find|return|store|loop|"
    r"round|generate|create|set|use|change|implement|make|match|replace|remove|iterate|validate|know"
    r"|understand|be able)\b",
    re.IGNORECASE,
)
_DUE = re.compile(
    rf"\b(?:by|before|until|due|no later than|on) (?:the )?{WHEN}|{WHEN}(?: (?:morning|at .{{1,8}}|evening"
    rf"|\w+))?\W*$",
    re.IGNORECASE,
)
_NOUN_PHRASE = re.compile(r"(?:an?|the|my|our|this|that|some|work|school|church|(?-i:[A-Z]))\b", re.IGNORECASE)
_NO_TASK = re.compile(
    r"(?:be|see you|talk|go now|go to (?:bed|sleep)|know|understand|say|admit|agree|ask you|think|wait|let you"
    r"|try (?:it|that|this)|have|feel|look at it|check it|go|run|leave|sleep|relax|get going|hear|thank"
    r"|come back|get back|do (?:it|this|that)|stop|remember|focus on it|mention|tell you|catch|chat|share|keep"
    r"|stay|find out|figure|wake|continue|miss|never)\b(?! (?:the|my|a|to the) )",
    re.IGNORECASE,
)

_EVENTS = (
    r"(?:flight|train|appointment|meeting|interview|exam|test|wedding|surgery|operation|presentation|talk|trip"
    r"|vacation|holiday|move|deadline|"
    r"check-?up|doctor's appointment|dentist appointment|party|concert|race|marathon|demo|review|call|lease"
    r"|visa|passport|rent|contract|defen[cs]e|"
    r"thesis|graduation|due date|performance review|birthday party|reservation|class|lesson|tournament|recital"
    r"|game|match|conference|shift|rehearsal|viewing|hearing|delivery|stand-?up|daily|retro|retrospective|sync"
    r"|all-hands|one-on-one|1:1|sprint planning|planning|code freeze|freeze|release|go-live)"
)
_MILESTONES = r"(?:launch|go-live|kick-?off|offsite|wedding|release party|final exam|product launch)"
_AT_HOUR = r"(?:,? at \d[\w:.]{0,6}(?: ?[ap]m)?| (?:morning|afternoon|evening|night))?"
_MINE = re.compile(
    rf"(?P<what>(?:(?:my|our) (?:[\w'-]+ ){{0,3}}?{_EVENTS}|(?:my|our|the) (?:[\w'-]+ )?{_MILESTONES})(?: (?:to|with"
    rf"|for|in|at|about) [\w' -]{{2,40}}?)?) "
    rf"(?:is|are|'s|starts|begins|ends|expires|takes place|is scheduled|is due|leaves|got moved|has been moved"
    rf"|was moved|is coming up)"
    rf"(?: (?:on|at|in|for|to|this|due|by|coming up|scheduled|the|set))* (?P<when>{WHEN}{_AT_HOUR})(?![\w-])",
    re.IGNORECASE,
)
_HAVING = re.compile(
    rf"(?:i|we) (?:have|'ve got|got) (?:an?|my|the|another) (?P<what>(?:[\w'-]+ ){{0,3}}?{_EVENTS}\b.{{0,80}})$",
    re.IGNORECASE,
)
_DEADLINE = re.compile(
    rf"(?:the|my|our) (?P<of>(?:[\w-]+ ){{0,3}}?)deadline (?:(?:for|of) (?P<what>.{{2,60}}?) )?"
    rf"(?:is|falls|got moved|was moved|has been moved|has moved)(?: (?:on|at|to|by|in|up to))* "
    rf"(?P<when>{WHEN}{_AT_HOUR})(?![\w-])",
    re.IGNORECASE,
)
_TRAVEL = re.compile(
    r"(?:i'm|we're) (?P<what>(?:going (?:to (?:an?|the|my) |on (?:holiday|vacation|leave|an? \w+|maternity|paternity)"
    r"|away)|flying|travell?ing|getting married|moving|leaving"
    r"|driving|heading|graduating|planning (?:an?|my|our) (?:\w+ )?(?:trip|wedding|party|move|vacation|holiday|tour)"
    r"|starting (?:a|my) new job|having surgery|running (?:a|the|my) (?:\w+ )?"
    r"(?:marathon|race|workshop|5k|10k)|giving (?:a|my|the) (?:\w+ )?(?:talk|presentation|speech|lecture))"
    r"(?!\w).{0,80})$",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:yesterday|last|ago|earlier|was|were|that|which|returns?|fails?|failing)\b|[(){}]", re.IGNORECASE
)


def names_a_time(text: str) -> bool:
    return any(not _AMBIGUOUS_DATE.match(found[0]) for found in _WHEN.finditer(text))


def calendar_date(rest: str) -> str:
    """Return the date at the start of the text, or an empty text."""
    match = _CALENDAR_DATE.match(rest)
    return match[1] if match else ""


def _task(rest: str) -> Iterator[str]:
    rest = re.split(
        r" (?:because|since|but|so that|so i|which|otherwise|or else|haha|lol)\b|[;(\ufffc]| - ", rest, maxsplit=1
    )[0]
    yield from (
        value for value in whole_phrase(rest) if len(value.split()) <= MAX_TASK_WORDS and re.match(r"[^\W\d]", value)
    )


def _dated_task(rest: str) -> Iterator[str]:
    yield from (
        value
        for value in _task(rest)
        if names_a_time(value) and not _NO_TASK.match(value) and not _NOUN_PHRASE.match(value)
    )


def _errand(rest: str) -> Iterator[str]:
    """Yield a task with a date, or an errand."""
    yield from (value for value in _task(rest) if is_errand(value))


def is_errand(value: str) -> bool:
    return _ERRAND.match(value) is not None or _is_due(value)


def _is_due(value: str) -> bool:
    return bool(names_a_time(value) and _DUE.search(value)) and not (
        _NO_TASK.match(value) or _DATA_OPERATION.match(value)
    )


@with_keywords(
    "deadline launch live kick kickoff offsite wedding party exam my our have got going flying traveling travelling"
    " married moving leaving driving heading graduating planning starting surgery running giving"
)
def event(clause: str) -> Iterator[FactClaim]:
    """Find the user's events and deadlines that have a time."""
    if _PAST.search(clause):
        return
    if match := _DEADLINE.match(clause):
        yield FactClaim(ACTION, "deadline", _with_time(match["what"] or f"{match['of']}deadline", match["when"]), 0.85)
    elif match := _MINE.match(clause):
        yield FactClaim(
            ACTION,
            "event",
            _with_time(re.sub(r"^(?:my|our|the) ", "", match["what"], flags=re.IGNORECASE), match["when"]),
            0.85,
        )
    elif (match := _HAVING.match(clause) or _TRAVEL.match(clause)) and names_a_time(match["what"]):
        yield FactClaim(ACTION, "event", trim(match["what"]), 0.75)


def _with_time(what: str, when: str) -> str:
    if re.match(_CLOCK, when, re.IGNORECASE):
        return f"{trim(what)} at {trim(when)}"
    on = "" if re.match(r"(?:tomorrow|tonight|today|next|this|in|on|at|by)\b", when, re.IGNORECASE) else "on "
    return f"{trim(what)} {on}{trim(when)}"


RULES = [
    *pattern_rules(
        ACTION,
        "todo",
        (
            r"(?:please |can you |could you |would you |will you )?remind me (?:again )?(?:\w+ )?(?:to|that i (?:need"
            r"|have) to) ",
            "remind",
            _task,
            0.9,
        ),
        (r"(?:please )?remind me (?=(?:on|at|in|tomorrow|next|about)\b)", "remind", _dated_task, 0.8),
        (
            r"(?:please )?(?:don't let me forget|don't forget to remind me|make sure i don't forget|help me remember) "
            r"(?:to |about )",
            "forget remember remind",
            _task,
            0.9,
        ),
        (
            r"(?:to-?do|action item|reminder|note to self)(?: for me)?\s?[:-] ?(?:to )?",
            "todo to-do action reminder self",
            _task,
            0.85,
        ),
        (r"add (?=.{2,80} to my (?:to-?do|todo|task|shopping|grocery) list)", "add", _task, 0.85),
        (
            r"(?:i|we) (?:(?:need|have|ought|still need|still have|got) to|must|should) (?:remember to )?",
            "need have ought got must should",
            _errand,
            0.7,
        ),
        (r"i (?:can't|mustn't|must not|shouldn't|don't want to) forget to ", "forget", _task, 0.85),
        (
            r"i (?:promise|promised|swear|committed|agreed)(?: you| him| her| them| my [\w']+| (?-i:[A-Z])\w+)? (?:to "
            r"|that )?(?:i'll )?",
            "agreed committed promise promised swear",
            _dated_task,
            0.8,
        ),
        (
            r"(?:i'll|i'm going to|i plan to|i'm planning to|i'm supposed to|i intend to) ",
            "i",
            _dated_task,
            0.65,
        ),
    ),
]
