"""Given names, and the capitalised words after "I'm" that are none.

Names that are words as well (Mark, Will, Grace, Sunny) are left out: in lower case they are words.
"""

from memsidecar.language.rules.words import listed

GIVEN = listed("""
    aaron abby abdul abigail adam adrian agnes ahmed aisha alan albert alejandro alex alexander alexandra alexis
    alice alicia alison amanda amelia amina amir amy ana andre andrea andreas andrew andy angela anil anita anna
    anne annie anthony antonio arjun arthur ashley astrid audrey barbara beatriz ben benjamin bernard beth bianca
    bill bob boris brad brandon brenda brian bruno caitlin camila carl carla carlos carmen carol caroline catherine
    cecilia charles charlie charlotte chloe chris christian christina christine christopher claire clara claudia
    colin connor craig cynthia daniel daniela danny darren dave david deborah deepak denise dennis derek diana diego
    dmitri dominic donald donna doris dorothy douglas dylan eddie edith edward eileen elena eleanor eli elias
    elizabeth ella ellen elliot emil emilia emily emma eric erica erik erin esther ethan eva evan evelyn fatima
    felix fernando fiona florian francesca francisco frank franz fred freya gabriel gareth gary george gerald gina
    giovanni giulia gordon greg gregory gustavo hana hannah hans harold harriet harry hassan heather hector heidi
    helen helena henrik henry hiroshi howard hugo ian ibrahim igor ines ingrid irene isaac isabel isabella ivan ivy
    jacob jake james jamie jan jane janet jason javier jean jeff jeffrey jennifer jenny jeremy jerry jesse jessica
    jim jimmy joan joanna joe joel johan johannes john johnny jon jonas jonathan jorge jose joseph josh joshua joyce
    juan judith judy julia julian julie justin karen karin karl kate katherine kathleen kathy katie kavya keith
    kelly ken kenji kenneth kevin khalid kim klaus kumar kurt kyle lars laura lauren leah lena leo leon leonard
    leonardo leslie liam lily linda lisa liz lorenzo louis louise luca lucas lucia lucy luis luka lukas luke lydia
    magnus malik manuel marco marcus margaret maria marie mario marina marjorie martha martin martina mary mateo
    mathias matt matteo matthew maya megan mehmet mei melanie melissa mia michael michelle miguel mike mila min
    miriam mohamed mohammed molly monica morgan muhammad nadia nancy naomi natalie natasha nate nathan neha neil
    nell nicholas nick nicola nicole nikhil nina noah noor nora olga oliver olivia omar oscar pablo pamela patricia
    patrick paul paula pedro peggy peter petra phil philip pierre piotr priya rachel rafael rahul raj rajesh ralph
    ravi ray raymond rebecca ricardo richard rita robert roberto robin rodrigo roger rohan ron ronald rosa ross roy
    ruben ruth ryan sabine sally sam samantha samir samuel sandra sanjay sara sarah sasha scott sean sebastian
    sergei sergio shannon sharon sheila shirley shreya simon sofia sonia sophia sophie stan stefan stella stephanie
    stephen steve steven stuart sue sunil susan suzanne sven sylvia tamara tanya tara ted teresa theo theresa thomas
    tiffany tim timothy tina tobias todd tom tomas tommy toni tony tracy travis tyler ulrich valentina vanessa vera
    veronica vicky victor victoria vikram vincent viktor wei wendy werner william xavier yara yasmin yuki yusuf
    yvonne zach zachary zara zoe
    """)

NOT_NAMES = listed("""
    a an the not no so very too quite pretty really often always never also just only still already here there now
    then on in at for from of with by to as and or but if is was are my your his her its our their this that these
    those it what who which where when why how mr mrs ms dr ok okay fine good great bad well sorry sure glad happy
    sad tired busy back late early ready done new old hard easy easily weird funny common unusual rare long short
    spelled spelt written pronounced mentioned listed missing wrong right correct mud legion unknown private secret
    irrelevant taken crazy cynical dumb stupid silly naive paranoid picky skeptical later tomorrow today tonight
    anytime whenever names something anything everything nothing someone anyone everyone nobody i i'm you he she we
    they me him them us like about up down out off over again maybe old-fashioned biased lazy ishmael batman santa
    god jesus german french italian spanish dutch swedish danish norwegian finnish polish czech slovak hungarian
    romanian bulgarian greek turkish russian ukrainian swiss austrian belgian irish scottish welsh english british
    american canadian mexican brazilian argentinian chilean colombian peruvian cuban indian pakistani chinese
    japanese korean vietnamese thai indonesian filipino malaysian singaporean australian african nigerian kenyan
    ghanaian ethiopian egyptian moroccan algerian tunisian israeli iranian iraqi syrian lebanese saudi arab afghan
    kurdish persian portuguese serbian croatian bosnian albanian lithuanian latvian estonian european asian latino
    latina hispanic black white jewish christian catholic muslim buddhist hindu atheist agnostic mormon protestant
    sikh lutheran aries taurus gemini cancer leo virgo libra scorpio sagittarius capricorn aquarius pisces autistic
    dyslexic adhd vegan vegetarian gay queer trans bi straight republican democrat monday tuesday wednesday thursday
    friday saturday sunday january february march april may june july august september october november december
    team gen type level number version player user admin groot python java javascript linux windows docker git ceo
    cto cfo coo vp hr qa it pm dba sre afk rn tbh imo asking using trying looking working going getting having doing
    thinking wondering writing building running seeing planning
    """)
