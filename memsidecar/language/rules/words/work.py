"""Occupations by their last word, kinds of workplace, and fields of work.

An occupation has to be listed: "I'm a ..." is mostly followed by something that is none (a bit tired, a big fan, a
morning person), and endings do not tell (a lawyer, a loser).
"""

from memsidecar.language.rules.words import listed

OCCUPATIONS = listed("""
    accountant actor actress actuary administrator admin advisor adviser advocate agronomist analyst
    anesthesiologist animator anthropologist apprentice arborist archaeologist architect archivist artist astronomer
    astrophysicist attorney auditor author baker banker barber barista bartender beekeeper biochemist
    bioinformatician biologist biostatistician blacksmith blogger bookkeeper botanist brewer bricklayer broadcaster
    broker builder butcher buyer carpenter cardiologist caregiver carer cartographer cashier caterer ceo cfo chef
    chemist chiropractor choreographer cinematographer cleaner clerk clinician coach coder cofounder co-founder
    colonel columnist comedian composer conductor consultant contractor controller cook coo copywriter coroner
    counselor counsellor courier cto curator dancer dba dentist dermatologist designer detective dev developer
    devops dietician dietitian diplomat director dispatcher diver dj doctor doorman draftsman driver ecologist
    economist editor educator electrician engineer entomologist entrepreneur epidemiologist esthetician ethicist
    fabricator farmer filmmaker firefighter fisherman fitter florist founder freelancer gamedev gardener geneticist
    geographer geologist geophysicist glassblower goldsmith grad groundskeeper hacker hairdresser hairstylist
    handyman historian housekeeper hydrologist hygienist illustrator immunologist influencer inspector instructor
    interpreter intern investigator investor janitor jeweler joiner journalist judge landscaper lawyer lecturer
    librarian lieutenant lifeguard linguist linguistics lobbyist locksmith logistician machinist magician manager
    marketer mason masseuse mathematician mayor mechanic mechatronics mediator medic merchandiser meteorologist
    microbiologist midwife miller miner minister model moderator musician nanny neurologist neuroscientist
    neurosurgeon notary novelist nurse nutritionist officer oncologist operator ophthalmologist optician optometrist
    organist orthodontist orthopedist painter paleontologist paralegal paramedic pastor pathologist pediatrician
    performer pharmacist pharmacologist philosopher phlebotomist photographer photojournalist physician physicist
    physiologist physiotherapist pianist pilot planner plasterer playwright plumber podcaster podiatrist poet
    policeman policewoman politician postdoc potter priest principal producer prof professor programmer proofreader
    prosecutor psychiatrist psychoanalyst psychologist psychotherapist publicist publisher rabbi radiographer
    radiologist rancher ranger realtor receptionist recruiter registrar reporter representative researcher retailer
    roofer sailor salesman salesperson saleswoman scheduler scientist screenwriter sculptor seamstress secretary
    sergeant sheriff shopkeeper singer sociologist soldier solicitor songwriter sommelier specialist sre
    statistician stonemason stylist subcontractor superintendent supervisor surgeon surveyor swe sysadmin tailor
    teacher technician technologist teller tester therapist toxicologist trader trainer translator treasurer trucker
    tutor typist undergrad undertaker underwriter upholsterer urologist usher veterinarian vet videographer
    violinist virologist volunteer vp waiter waitress warden watchmaker webmaster welder winemaker writer youtuber
    zookeeper zoologist student phd pm po qa freshman sophomore postgrad homemaker
    """)

PUPILS = listed("student undergrad grad phd freshman sophomore postgrad")

STATUSES = ("retired", "self-employed", "unemployed", "semi-retired", "freelancing", "between jobs")
"Said without an article, and as good as an occupation."

NOT_BEFORE_OCCUPATION = listed(
    "bit lot big huge fan terrible bad lousy good great better decent awful horrible such total complete former ex "
    "retired would-be wannabe aspiring future failed fake not kind sort few couple natural born part"
)
"A terrible cook is no cook, and a former teacher no teacher."

WORKPLACES = listed("""
    agency airline airport bakery bank bar bookshop bookstore brewery cafe café charity church clinic coffee college
    company consultancy cooperative corporation dealership factory farm firm foundation gallery garage gym hospital
    hotel institute kindergarten lab laboratory library museum ngo nonprofit non-profit nursery office pharmacy
    plant practice pub refinery restaurant retailer salon school shelter shop startup start-up store studio
    supermarket theater theatre university warehouse winery zoo
    """)

INDUSTRIES = listed("""
    academia accounting advertising aerospace agriculture ai architecture automotive aviation banking biotech cinema
    civil construction consulting customer cyber cybersecurity data defense design devops ecommerce e-commerce
    education emergency energy engineering fashion film finance fintech forestry government graphic healthcare
    health hospitality hr human insurance investment it journalism law legal logistics machine manufacturing
    marketing media medicine mental mining music nursing oil payroll pharma pharmaceuticals philanthropy policing
    politics private procurement product public publishing qa real recruiting recruitment renewable renewables
    research retail robotics sales security shipping social software sustainability taxation teaching tech
    technology telecom telecommunications textiles tourism transport transportation venture web
    """)

NOT_COMPANIES = listed("""
    home night nights noon midnight work it this that these those there here least most all once first last sea
    height heights scale speed speeds a an the my your his her our their its weekends weekend mornings evenings
    lunch school peace random times one two someone anyone me myself him them us you free fun money food pay peanuts
    change both different various several many some hourly what which whatever being making getting improving
    becoming keeping remote desk full full-time part-time night-time clients people customers companies startups
    hours ages years months monday tuesday wednesday thursday friday saturday sunday january february march april
    may june july august september october november december forces hands parts teams god jesus christ santa and or
    but
    """)
