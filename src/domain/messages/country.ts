/** Where numbers of no country belong, for example of satellites and free phone: calling codes such as 881. The code of the world (UN M49). */
export const INTERNATIONAL = '001'

/** What the codes of `COUNTRIES` look like. */
export const COUNTRY_PATTERN = '^(?:[A-Z]{2}|001)$'

/**
 * The countries a quota can be scoped to: the officially assigned codes of ISO 3166-1 alpha-2, three codes outside it that phone
 * numbers belong to (AC Ascension, TA Tristan da Cunha, XK Kosovo), and `INTERNATIONAL`.
 */
export const COUNTRIES: ReadonlySet<string> = new Set(
  (
    'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ ' +
    'CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO ' +
    'FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE ' +
    'JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO ' +
    'MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW ' +
    'PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM ' +
    'TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW ' +
    `AC TA XK ${INTERNATIONAL}`
  ).split(' '),
)

/** The countries that a list of most of them leaves out, which say better what it covers; null for a list of fewer. */
export function exceptionsOf(countries: readonly string[]): readonly string[] | null {
  return countries.length > COUNTRIES.size / 2 ? othersThan(countries) : null
}

/** All countries but these. */
export function othersThan(countries: readonly string[]): readonly string[] {
  return [...COUNTRIES].filter(code => !countries.includes(code))
}

export function isCountry(code: string): boolean {
  return COUNTRIES.has(code)
}
