"""Word lists: names, languages, places, occupations, workplaces, industries, tools."""

from memsidecar.domain.text import word_set

GIVEN_NAMES = word_set("""
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

NOT_NAMES = word_set("""
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

LANGUAGES = word_set("""
    english french german spanish italian portuguese dutch swedish danish norwegian finnish polish czech hungarian
    romanian greek turkish russian ukrainian arabic hebrew persian farsi hindi urdu bengali tamil telugu mandarin
    cantonese chinese japanese korean vietnamese thai indonesian swahili tagalog catalan basque irish welsh slovak
    bulgarian croatian serbian estonian latvian lithuanian icelandic afrikaans malay punjabi marathi
    """)

_COUNTRIES = """
afghanistan albania algeria andorra angola argentina armenia australia austria azerbaijan bahrain bangladesh
barbados belarus belgium belize benin bhutan bolivia bosnia botswana brazil britain bulgaria burundi cambodia
cameroon canada catalonia chile china colombia congo costa_rica croatia cuba cyprus czechia czech_republic denmark
dominican_republic dubai ecuador egypt el_salvador england eritrea estonia ethiopia europe fiji finland france
gambia georgia germany ghana great_britain greece guatemala guinea guyana haiti honduras hong_kong hungary iceland
india indonesia iran iraq ireland israel italy ivory_coast jamaica japan jordan kazakhstan kenya kosovo kuwait
kyrgyzstan laos latvia lebanon liberia libya liechtenstein lithuania luxembourg macedonia madagascar malawi malaysia
maldives mali malta mauritania mauritius mexico moldova monaco mongolia montenegro morocco mozambique myanmar
namibia nepal netherlands new_zealand nicaragua niger nigeria north_korea northern_ireland norway oman pakistan
palestine panama papua_new_guinea paraguay peru philippines poland portugal puerto_rico qatar romania russia rwanda
saudi_arabia scotland senegal serbia sierra_leone singapore slovakia slovenia somalia south_africa south_korea korea
spain sri_lanka sudan sweden switzerland syria taiwan tajikistan tanzania thailand togo trinidad tunisia turkey
uganda ukraine uae uk united_kingdom united_states usa us uruguay uzbekistan venezuela vietnam wales yemen zambia
zimbabwe africa asia bavaria tuscany sicily bali
"""
_STATES = """
alabama alaska arizona arkansas california colorado connecticut delaware florida hawaii idaho illinois indiana iowa
kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi missouri montana nebraska
nevada new_hampshire new_jersey new_mexico new_york north_carolina north_dakota ohio oklahoma oregon pennsylvania
rhode_island south_carolina south_dakota tennessee texas utah vermont virginia washington west_virginia wisconsin
wyoming ontario quebec alberta manitoba saskatchewan british_columbia nova_scotia new_south_wales queensland
tasmania
"""
_CITIES = """
aberdeen abu_dhabi abuja accra adelaide albuquerque alexandria amman amsterdam anchorage ankara antwerp athens
atlanta auckland austin baghdad baltimore bangalore bengaluru bangkok barcelona basel bay_area beijing beirut
belfast belgrade bergen berlin bern bilbao birmingham bogota bologna bombay bonn bordeaux boston boulder bratislava
bremen brighton brisbane bristol brooklyn brussels bucharest budapest buenos_aires buffalo cairo calgary cambridge
canberra cape_town caracas cardiff casablanca charlotte chennai chicago cincinnati cleveland cologne columbus
copenhagen cork dakar dallas damascus dar_es_salaam delhi denver des_moines detroit dhaka dortmund dresden dublin
durban dusseldorf düsseldorf edinburgh edmonton eindhoven exeter florence frankfurt freiburg fresno galway gdansk
geneva genoa ghent glasgow gothenburg granada graz grenoble groningen guadalajara hamburg hanoi hanover harare
havana heidelberg helsinki ho_chi_minh_city honolulu houston hyderabad indianapolis innsbruck istanbul izmir
jacksonville jaipur jakarta jerusalem johannesburg kampala kansas_city karachi kathmandu kharkiv kiev kigali
kinshasa kolkata krakow kuala_lumpur kyiv kyoto la_paz lagos lahore las_vegas lausanne leeds leicester leipzig lima
lille lisbon liverpool ljubljana london los_angeles louisville luanda lusaka lyon madison madrid malaga malmo
manchester manhattan manila marrakesh marseille medellin melbourne memphis mexico_city miami milan milwaukee
minneapolis minsk monterrey montevideo montpellier montreal moscow mumbai munich munster nagoya nairobi naples
nashville new_delhi new_orleans newcastle norwich nottingham nuremberg nyc oakland omaha orlando osaka oslo ottawa
oxford palermo paris perth philadelphia phoenix pittsburgh plymouth porto portland prague pune queens raleigh
reykjavik richmond riga rio_de_janeiro riyadh rome rotterdam sacramento saint_petersburg salt_lake_city salzburg
san_antonio san_diego san_francisco san_jose santa_fe santiago sao_paulo são_paulo sarajevo seattle seoul seville
shanghai sheffield shenzhen silicon_valley sofia southampton st_louis stockholm strasbourg stuttgart sydney taipei
tallinn tampa tbilisi tehran tel_aviv the_hague tokyo toronto toulouse trieste trondheim tucson tunis turin utrecht
valencia vancouver venice verona vienna vilnius warsaw wellington winnipeg york yokohama zagreb zurich zürich
"""

PLACES = frozenset(word.replace("_", " ") for word in (_COUNTRIES + _STATES + _CITIES).split())
MAX_PLACE_WORDS = max(place.count(" ") + 1 for place in PLACES)

PLACES_WITH_ARTICLE = word_set("""
    netherlands uk us usa states philippines bahamas maldives balkans caribbean alps midwest northeast northwest
    southwest south north east west bronx hague bay pacific united czech dominican emirates uae highlands cotswolds
    gambia congo basque black suburbs countryside city
    """)
"Words that may follow `the` in the name of a place."

NOT_PLACES = word_set("""
    vs moment the fear poverty peace hope harmony sin denial pain hell chaos darkness silence comfort luxury love
    terror dread anguish misery exile isolation solitude anticipation constant perpetual me us you it this that
    these those there here my your his her our their a an and or but what which where hot cold warm interesting
    difficult such same different one two marketing sales engineering accounting finance support legal hr product
    operations scratch work home bed school general particular fact short theory practice postgres postgresql mysql
    mongodb redis python java javascript typescript rust go golang kotlin swift ruby php linux ubuntu debian arch
    fedora windows macos mac docker kubernetes k8s aws azure gcp react vue angular svelte vim neovim emacs vscode
    git github gitlab bitbucket slack teams notion jira linear chrome firefox android ios iphone terraform ansible
    kafka sqlite django flask rails node next graphql excel outlook figma spreadsheets terminal tmux jira confluence
    sharepoint typescript elixir haskell scala zig nix nixos fastapi spring laravel pytorch tensorflow grpc rest
    january february march april may june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday spring summer autumn winter person public private town bits pieces tears debt
    danger
    """)


OCCUPATIONS = word_set("""
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
    zookeeper zoologist student phd pm po qa freshman sophomore postgrad homemaker guard carrier attendant assistant
    associate agent strategist stewardess steward optometrist headteacher paramedic beautician plasterer bricklayer
    gardener archivist psychotherapist copyeditor ux-designer bodyguard warehouseman stagehand roadie mailman postman
    worker leader
    """)

PUPILS = word_set("student undergrad grad phd freshman sophomore postgrad")

STATUSES = ("retired", "self-employed", "unemployed", "semi-retired", "freelancing", "between jobs")
"Employment statuses, which stand without an article and count as an occupation."

NOT_BEFORE_OCCUPATION = word_set(
    "bit lot big huge fan terrible bad lousy good great better decent awful horrible such total complete former ex "
    "retired would-be wannabe aspiring future failed fake not kind sort few couple natural born part"
)
"Words that negate the occupation after them: a terrible cook, a former teacher."

WORKPLACES = word_set("""
    agency airline airport bakery bank bar bookshop bookstore brewery cafe café charity church clinic coffee college
    company consultancy cooperative corporation dealership factory farm firm foundation gallery garage gym hospital
    hotel institute kindergarten lab laboratory library museum ngo nonprofit non-profit nursery office pharmacy
    plant practice pub refinery restaurant retailer salon school shelter shop startup start-up store studio
    roastery supermarket theater theatre university warehouse winery zoo
    """)

INDUSTRIES = word_set("""
    academia accounting advertising aerospace agriculture ai architecture automotive aviation banking biotech cinema
    civil construction consulting customer cyber cybersecurity data defense design devops ecommerce e-commerce
    education emergency energy engineering fashion film finance fintech forestry government graphic healthcare
    health hospitality hr human insurance investment it journalism law legal logistics machine manufacturing
    marketing media medicine mental mining music nursing oil payroll pharma pharmaceuticals philanthropy policing
    politics private procurement product public publishing qa real recruiting recruitment renewable renewables
    research retail robotics sales security shipping social software sustainability taxation teaching tech
    technology telecom telecommunications textiles tourism transport transportation venture web
    """)

NOT_COMPANIES = word_set("""
    home night nights noon midnight work it this that these those there here least most all once first last sea
    height heights scale speed speeds a an the my your his her our their its weekends weekend mornings evenings
    lunch school peace random times one two someone anyone me myself him them us you free fun money food pay peanuts
    change both different various several many some hourly what which whatever being making getting improving
    becoming keeping remote desk full full-time part-time night-time clients people customers companies startups
    hours ages years months monday tuesday wednesday thursday friday saturday sunday january february march april
    may june july august september october november december forces hands parts teams god jesus christ santa and or
    but
    """)

TOOLS = word_set("""
    .net ada airflow airtable alacritty alma alpine android angular ansible apache apple arch argocd asana asdf
    assembly astro astrojs awk aws azure bash bazel bitbucket bitwarden blender brave bsd bun c c# c++ caddy
    cassandra celery centos chatgpt chrome chromium ci circleci claude clickhouse clion clojure cloudflare cmake
    cobol cockroachdb confluence copilot cosmos couchdb crystal css cursor cypress d3 dart datadog datagrip dbt
    debian delphi deno discord django docker dotnet duckdb dynamodb eclipse ecs edge elasticsearch elixir elm emacs
    erlang eslint excel express f# fastapi fedora figma firebase firefox fish flask flutter fly.io fortran freebsd
    gatsby gcc gcp gentoo ghostty gimp git github gitlab gke gmail go godot golang gradle grafana graphql grpc
    hadoop haskell helix helm heroku hetzner homebrew html hugo hyprland i3 ide influxdb intellij ionic ios iphone
    istio java javascript jenkins jest jira jotform jquery js json julia jupyter k3s k8s kafka kali kde keras
    keycloak kibana kitty kotlin kubernetes lambda laravel latex linear linux lisp logseq lua mac macbook macos make
    mariadb markdown mastodon matlab maven mercurial meteor minio mint miro mongo mongodb mssql mysql n8n nano neo4j
    neovim nest.js nestjs netbeans netlify next next.js nextjs nginx nim nix nixos node node.js nodejs nomad notepad
    notion npm numpy nuxt nuxt.js nvim objective-c obsidian ocaml ollama onenote openbsd openshift opensuse oracle
    outlook pandas pascal perl php phpstorm playwright pnpm podman poetry postgres postgresql postman powershell
    prettier prisma prolog prometheus pulsar pulumi puppet pycharm pytest python pytorch qt quarkus r rabbitmq
    racket rails raspberry react redhat redis redpanda redshift remix rhel rider roam rollup ruby rust rustrover s3
    safari salesforce sap sass scala scheme scikit scikit-learn selenium sentry servicenow shopify signal sketch
    slack snowflake solaris solidity solidjs sonarqube spark splunk spring sql sqlite sqlserver storybook strapi
    stripe sublime supabase svelte sveltekit svn sway swift symfony tailscale tailwind tailwindcss tcsh teams
    telegram tensorflow terraform tmux todoist trello ts typescript ubuntu unity unreal uv vagrant vault vercel vi
    vim visual vite vitest vs vscode vue vue.js vulkan warp webpack webstorm wezterm whatsapp windows wireguard
    wordpress wsl wsl2 xamarin xcode yarn yocto youtrack zed zellij zig zoom zotero zsh
    """)
"Names of software in lower case."

NOT_TOOLS = word_set("""
    i i'm my me a an the this that it monday tuesday wednesday thursday friday saturday sunday january february
    march april may june july august september october november december christmas easter sales marketing hr finance
    legal engineering product management plan option chapter page step level grade vitamin ibuprofen uber lyft
    english spanish google's apple's phase version line error python's no yes ok both either
    """)
"Capitalised words behind `use` that name no tool."
