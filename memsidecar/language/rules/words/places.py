"""Countries, states and cities: what a place in lower case is known by. Words that are places too (Nice) are out."""

from memsidecar.language.rules.words import listed

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
LONGEST_PLACE_WORDS = max(place.count(" ") + 1 for place in PLACES)

WITH_ARTICLE = listed("""
    netherlands uk us usa states philippines bahamas maldives balkans caribbean alps midwest northeast northwest
    southwest south north east west bronx hague bay pacific united czech dominican emirates uae highlands cotswolds
    gambia congo basque black suburbs countryside city
    """)
"What may follow `the` in a place."

NOT_PLACES = listed("""
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
