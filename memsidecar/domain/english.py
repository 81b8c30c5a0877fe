"""Words of English that say little, whatever the matter. In small letters, as they are written."""


def forms(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION_WORDS = forms("""
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
"""What sentences are held together by, and what conversations are."""

COMMON_WORDS = forms("""
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
"""What is said of anything: it makes no topic, and no summary needs it."""
