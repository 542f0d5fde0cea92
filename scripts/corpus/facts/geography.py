"""Capitals, languages and landmarks; a few are simplified (one capital per country)."""

from __future__ import annotations

from scripts.corpus.facts.parse import pairs, words

CAPITALS_BY_CONTINENT: dict[str, list[tuple[str, str]]] = {
    "Europe": pairs(
        """France:Paris;Germany:Berlin;Italy:Rome;Spain:Madrid;Portugal:Lisbon;the United Kingdom:London;
        Ireland:Dublin;the Netherlands:Amsterdam;Belgium:Brussels;Luxembourg:Luxembourg City;Switzerland:Bern;
        Austria:Vienna;Poland:Warsaw;the Czech Republic:Prague;Slovakia:Bratislava;Hungary:Budapest;
        Romania:Bucharest;Bulgaria:Sofia;Greece:Athens;Croatia:Zagreb;Slovenia:Ljubljana;Serbia:Belgrade;
        Bosnia and Herzegovina:Sarajevo;Montenegro:Podgorica;North Macedonia:Skopje;Albania:Tirana;
        Ukraine:Kyiv;Belarus:Minsk;Moldova:Chisinau;Lithuania:Vilnius;Latvia:Riga;Estonia:Tallinn;
        Finland:Helsinki;Sweden:Stockholm;Norway:Oslo;Denmark:Copenhagen;Iceland:Reykjavik;Malta:Valletta;
        Cyprus:Nicosia;Russia:Moscow;Monaco:Monaco;Andorra:Andorra la Vella;Liechtenstein:Vaduz;
        England:London;Scotland:Edinburgh;Wales:Cardiff"""
    ),
    "Asia": pairs(
        """China:Beijing;Japan:Tokyo;South Korea:Seoul;North Korea:Pyongyang;Mongolia:Ulaanbaatar;India:New Delhi;
        Pakistan:Islamabad;Bangladesh:Dhaka;Nepal:Kathmandu;Bhutan:Thimphu;Thailand:Bangkok;Vietnam:Hanoi;
        Cambodia:Phnom Penh;Laos:Vientiane;Malaysia:Kuala Lumpur;Singapore:Singapore;Indonesia:Jakarta;
        the Philippines:Manila;Turkey:Ankara;Iran:Tehran;Iraq:Baghdad;Syria:Damascus;Lebanon:Beirut;
        Jordan:Amman;Saudi Arabia:Riyadh;Yemen:Sanaa;Oman:Muscat;the United Arab Emirates:Abu Dhabi;Qatar:Doha;
        Kuwait:Kuwait City;Bahrain:Manama;Afghanistan:Kabul;Kazakhstan:Astana;Uzbekistan:Tashkent;
        Turkmenistan:Ashgabat;Kyrgyzstan:Bishkek;Tajikistan:Dushanbe;Georgia:Tbilisi;Armenia:Yerevan;
        Azerbaijan:Baku;Taiwan:Taipei;the Maldives:Male"""
    ),
    "Africa": pairs(
        """Egypt:Cairo;Libya:Tripoli;Tunisia:Tunis;Algeria:Algiers;Morocco:Rabat;Sudan:Khartoum;Ethiopia:Addis Ababa;
        Kenya:Nairobi;Uganda:Kampala;Tanzania:Dodoma;Rwanda:Kigali;Somalia:Mogadishu;Nigeria:Abuja;Ghana:Accra;
        Senegal:Dakar;Mali:Bamako;Niger:Niamey;Chad:N'Djamena;Cameroon:Yaounde;Gabon:Libreville;Angola:Luanda;
        Zambia:Lusaka;Zimbabwe:Harare;Mozambique:Maputo;Madagascar:Antananarivo;Namibia:Windhoek;
        Botswana:Gaborone;South Africa:Pretoria;Liberia:Monrovia;Sierra Leone:Freetown;Guinea:Conakry;
        Togo:Lome;Burkina Faso:Ouagadougou;the Gambia:Banjul;Malawi:Lilongwe;Eritrea:Asmara;Djibouti:Djibouti;
        Mauritius:Port Louis;the Seychelles:Victoria;Mauritania:Nouakchott"""
    ),
    "North America": pairs(
        """the United States:Washington;Canada:Ottawa;Mexico:Mexico City;Cuba:Havana;Jamaica:Kingston;
        Haiti:Port-au-Prince;the Dominican Republic:Santo Domingo;the Bahamas:Nassau;Guatemala:Guatemala City;
        Honduras:Tegucigalpa;El Salvador:San Salvador;Nicaragua:Managua;Costa Rica:San Jose;Panama:Panama City;
        Belize:Belmopan;Barbados:Bridgetown;Trinidad and Tobago:Port of Spain"""
    ),
    "South America": pairs(
        """Brazil:Brasilia;Argentina:Buenos Aires;Chile:Santiago;Peru:Lima;Colombia:Bogota;Venezuela:Caracas;
        Ecuador:Quito;Bolivia:Sucre;Paraguay:Asuncion;Uruguay:Montevideo;Guyana:Georgetown;Suriname:Paramaribo"""
    ),
    "Oceania": pairs(
        """Australia:Canberra;New Zealand:Wellington;Fiji:Suva;Papua New Guinea:Port Moresby;Samoa:Apia;Tonga:Nuku'alofa"""
    ),
}

# Countries that children meet first: sampled more often.
COMMON_COUNTRIES: set[str] = set(
    words(
        """France, Germany, Italy, Spain, Portugal, the United Kingdom, England, Ireland, the Netherlands, Belgium,
        Austria, Switzerland, Poland, Greece, Sweden, Norway, Denmark, Finland, Russia, China, Japan, India, Egypt,
        Kenya, Canada, the United States, Mexico, Brazil, Argentina, Australia, New Zealand, Turkey, South Korea,
        Thailand, Cuba, Peru, Chile, Hungary, Ukraine, the Czech Republic"""
    )
)

LANGUAGES = pairs(
    """France:French;Germany:German;Italy:Italian;Spain:Spanish;Portugal:Portuguese;England:English;
    the Netherlands:Dutch;Poland:Polish;Greece:Greek;Sweden:Swedish;Norway:Norwegian;Denmark:Danish;
    Finland:Finnish;Russia:Russian;China:Chinese;Japan:Japanese;Turkey:Turkish;Egypt:Arabic;Brazil:Portuguese;
    Mexico:Spanish;Argentina:Spanish;Hungary:Hungarian;Ukraine:Ukrainian;Thailand:Thai;the United States:English;
    Australia:English;Austria:German;South Korea:Korean;Vietnam:Vietnamese;Iceland:Icelandic"""
)

LANDMARKS = pairs(
    """the Eiffel Tower:Paris;Big Ben:London;the Colosseum:Rome;the Statue of Liberty:New York;
    the Brandenburg Gate:Berlin;the Parthenon:Athens;the Louvre:Paris;the Opera House:Sydney;
    the Golden Gate Bridge:San Francisco;the Kremlin:Moscow;the White House:Washington;the Great Wall:China;
    the Taj Mahal:India;the Pyramids:Egypt;the Grand Canyon:the United States;Mount Fuji:Japan;
    Tower Bridge:London;the Leaning Tower:Pisa;Niagara Falls:Canada;Machu Picchu:Peru"""
)
