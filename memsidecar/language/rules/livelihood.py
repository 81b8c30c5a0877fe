"""What the user does for a living, and where."""

from memsidecar.domain.fact import FactType
from memsidecar.language.rules import employers, occupations
from memsidecar.language.rules.forms import table
from memsidecar.language.rules.words.work import OCCUPATIONS, PUPILS

PROFILE = FactType.USER_PROFILE


NAMED = r"(?:(?:Dr|Prof|Mr|Mrs|Ms)\.? )?(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)?,?"
"A name that somebody gives before saying what they are."
WORKER = (
    rf"(?:an?|the|one of the|your average) (?:[\w/&+#.-]+ ){{0,5}}?"
    rf"(?:{'|'.join(sorted(OCCUPATIONS - PUPILS, key=len, reverse=True))})"
)
_PUPIL = r"(?:an?|the) (?:[\w-]+ ){0,4}?(?:student|undergrad|grad|phd|freshman|sophomore|postgrad|senior|junior)"

FORMS = [
    *table(
        PROFILE,
        "role",
        (r"i'm (?:an?|the|one of the|your average) ", occupations.occupation, 0.85),
        (
            rf"i'm {NAMED} (?:and )?(?:i'm )?(?:an?|the) ",
            occupations.occupation,
            0.8,
        ),
        (
            r"(?:(?:i work|i'm working|i've been working|i'm employed|i've worked|i started|i started working"
            r"|i was hired|i got hired|i freelance)(?: (?:at|for) (?-i:[A-Z])[\w&' -]{1,30}?| (?:at|for) \w+| (?:night"
            r"|day|evening|early) shifts?| part[ -]time| full[ -]time| remotely)? as|i(?:'ve been|'ve just been|) "
            r"(?:got )?promoted to|i became|i've become|i've been) (?:an? |the )",
            occupations.occupation,
            0.85,
        ),
        (
            r"my (?:job|role|profession|occupation|job title|title|position|day job) is (?:being )?(?:an? |the )?",
            occupations.occupation,
            0.9,
        ),
        (r"(?:speaking )?as (?:an?|the) (?=[^,]{3,60}, (?:i|my)$)", occupations.occupation, 0.75),
        (r"being (?:an?|the) (?=[^,]{3,60}, (?:i|my)$)", occupations.occupation, 0.75),
        (r"i'm ", occupations.status, 0.85),
        (r"i'm ", occupations.title, 0.8),
        (r"i teach ", occupations.taught, 0.75),
    ),
    *table(
        PROFILE,
        "studies",
        (
            r"i(?:'m)? (?:study|studying|majoring in|major in|doing (?:a|my) (?:phd|master's|masters|degree"
            r"|bachelor's) in) ",
            occupations.studies,
            0.75,
        ),
    ),
    *table(
        PROFILE,
        "company",
        (
            r"(?:i work|i'm working|i'm employed|i'm currently employed|i've been working|i've worked"
            r"|i do freelance work|i freelance|i started working|i got a (?:new )?job|i start(?:ed)? a new job"
            r"|i started|i landed a job) (?:\w+ly |full[ -]time |part[ -]time |over |in \w+ )?(?:at|for|@|by) ",
            employers.organisation,
            0.85,
        ),
        (rf"i(?:'m| work as|'ve been|'m working as) {WORKER}(?: \w+){{0,2}}? (?:at|@) ", employers.organisation, 0.8),
        (rf"i(?:'m| work as|'ve been|'m working as) {WORKER}(?: \w+){{0,2}}? for ", employers.client, 0.75),
        (
            rf"i'm {NAMED} {WORKER} (?:at|for|@) ",
            employers.organisation,
            0.75,
        ),
        (
            r"i'm (?:the )?(?:co-?)?(?:ceo|cto|cfo|coo|vp|founder|owner|head|director)(?: (?:of|and) [\w ]{2,30}?)?? "
            r"(?:at|of) ",
            employers.named_organisation,
            0.75,
        ),
        (r"i(?:'ve)? joined ", employers.joined, 0.75),
        (r"i (?:run|lead|manage|head) (?:the |an? |our )?[\w -]{2,40}? at ", employers.named_organisation, 0.75),
        (
            r"my (?:company|employer|startup|firm|current employer|business) is (?:called |named )?",
            employers.named_organisation,
            0.9,
        ),
        (
            r"i(?: run| own| founded| co-?founded| started| work for| work at|'m the (?:[\w-]+ ){1,3}(?:of|at"
            r"|behind)) [\w' -]{1,60}? (?:called|named) ",
            employers.named_organisation,
            0.8,
        ),
    ),
    *table(
        PROFILE,
        "school",
        (
            rf"i(?:'m {_PUPIL}(?: [\w ]{{2,30}})?? at| go to| study [\w ]{{2,30}}? at|'m studying [\w ]{{2,30}}? at) ",
            employers.school,
            0.8,
        ),
    ),
    *table(
        PROFILE,
        "industry",
        (r"i work in ", employers.industry, 0.8),
    ),
]
