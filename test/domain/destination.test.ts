import fc from 'fast-check'
import { getCountries } from 'libphonenumber-js/min'
import metadata from 'libphonenumber-js/min/metadata'
import { describe, expect, test } from 'vitest'
import { E164_PATTERN } from '../../src/domain/basics/bounds.ts'
import { COUNTRY_PATTERN, isCountry } from '../../src/domain/messages/country.ts'
import { destinationOf } from '../../src/domain/messages/destination.ts'
import type { DrawCommand } from '../../src/domain/units/command.ts'
import { createDraft } from '../../src/domain/units/draft.ts'
import { matchQuotas } from '../../src/domain/units/matching.ts'
import { runs } from '../support/runs.ts'
import { aQuota, at } from './fixture.ts'

describe('a number that numbering plans list has one country', () => {
  test.each([
    ['+4915112345678', 'DE'],
    ['+436641234567', 'AT'],
    ['+38344123456', 'XK'],
    ['+38161234567', 'RS'],
    ['+12125551234', 'US'],
    ['+14165551234', 'CA'],
    ['+18765551234', 'JM'],
    ['+12465551234', 'BB'],
    ['+17875551234', 'PR'],
    ['+79161234567', 'RU'],
    ['+77011234567', 'KZ'],
    ['+447400123456', 'GB'],
    ['+447781123456', 'GG'],
    ['+447797123456', 'JE'],
    ['+447624123456', 'IM'],
    ['+262692123456', 'RE'],
    ['+3906698123', 'VA'],
    ['+247542001', 'AC'],
    // A calling code of one country, with too few and too many digits.
    ['+4911111', 'DE'],
    ['+491511234567890', 'DE'],
    ['+3906698123', 'VA'],
    ['+358181234567', 'AX'],
    ['+4779123456', 'SJ'],
    ['+61891621234', 'CC'],
    ['+61891641234', 'CX'],
    ['+262269612345', 'YT'],
    ['+590590511234', 'BL'],
    ['+5997123456', 'BQ'],
    ['+59995123456', 'CW'],
    ['+2908123456', 'TA'],
    ['+672312345', 'NF'],
    ['+18095551234', 'DO'],
    ['+18495551234', 'DO'],
    ['+16585551234', 'JM'],
    ['+17215551234', 'SX'],
    ['+16715551234', 'GU'],
    ['+78402345678', 'RU'],
    ['+903921234567', 'TR'],
    ['+97059123456', 'PS'],
    ['+447937123456', 'JE'],
    ['+447839123456', 'GG'],
    // The trunk prefix of its country is left in it.
    ['+4901512345678', 'DE'],
    ['+4407781123456', 'GG'],
    ['+789161234567', 'RU'],
    ['+112125551234', 'US'],
    // What plans of several countries list alike belongs to the first of them.
    ['+18005551234', 'US'],
    ['+19005551234', 'US'],
    ['+15005551234', 'US'],
    ['+16005551234', 'CA'],
    ['+590690001234', 'GP'],
    ['+61412345678', 'AU'],
    ['+358451234567', 'FI'],
    ['+4741234567', 'NO'],
    ['+393331234567', 'IT'],
    ['+212612345678', 'MA'],
    ['+448001234567', 'GB'],
  ])('%s is in %s', (to, country) => {
    expect(destinationOf(to)).toEqual({ country, otherCountries: [] })
  })
})

const NANP = 'AG AI AS BB BM BS CA DM DO GD GU JM KN KY LC MP MS PR SX TC TT VC VG VI'

describe('a number of a shared calling code that they do not list belongs to its main country, and may to others', () => {
  test.each([
    // Area codes that are newer than the plan, or not assigned.
    ['+16243051111', 'US', NANP],
    ['+14362345678', 'US', NANP],
    ['+18612345678', 'US', NANP],
    // Too many digits for any of them.
    ['+12125551234567', 'US', NANP],
    // Reserved codes, one that begins with 0, and too few digits.
    ['+17105551234', 'US', NANP],
    ['+19115551234', 'US', NANP],
    ['+10123456789', 'US', NANP],
    ['+1234567', 'US', NANP],
    ['+447700900123', 'GB', 'GG IM JE'],
    ['+441481123456', 'GB', 'GG IM JE'],
    ['+76001234567', 'RU', 'KZ'],
    ['+262639123456', 'RE', 'YT'],
    ['+447911909813', 'GB', 'GG IM JE'],
    ['+393006141398', 'IT', 'VA'],
    ['+61446194629', 'AU', 'CC CX'],
    ['+76210761089', 'RU', 'KZ'],
    ['+4711111111', 'NO', 'SJ'],
    ['+212999999999', 'MA', 'EH'],
    ['+262111111111', 'RE', 'YT'],
    ['+2901111', 'SH', 'TA'],
    ['+590111111111', 'GP', 'BL MF'],
    ['+5991111111', 'CW', 'BQ'],
  ])('%s: %s, or %s', (to, country, others) => {
    expect(destinationOf(to)).toEqual({ country, otherCountries: others.split(' ') })
  })
})

test.each([
  '+88161234567',
  '+8821612345678',
  '+883510000000001',
  '+870773111632',
  '+878101234567890',
  '+97912345678',
  '+80012345678',
  '+80812345678',
  '+8881234567',
  '+88213123456',
  '+88216123456',
  '+8835100123456',
  '+883130123456',
])('%s belongs to international networks', to => {
  expect(destinationOf(to)).toEqual({ country: '001', otherCountries: [] })
})

test.each(['+99912345678', '+21012345678', '+6991234567', '+37961234567', '+38812345678', '+2931234567'])(
  '%s belongs to nothing',
  to => {
    expect(destinationOf(to)).toEqual({ country: null, otherCountries: [] })
  },
)

test.each([
  ...[
    '4915112345678',
    '004915112345678',
    '0114915112345678',
    '015112345678',
    'tel:+4915112345678',
    '12345',
    'GOOGLE',
    '',
  ],
  ...[
    '+49 151 12345678',
    '+49-151-12345678',
    '+49(0)15112345678',
    ' +4915112345678',
    '+4915112345678 ',
    '+4915112345678\n',
  ],
  ...[
    '\ufeff+4915112345678',
    '\u202a+4915112345678',
    '＋4915112345678',
    '+４915112345678',
    '+0491512345678',
    '++4915112345678',
  ],
  ...['+123456', '+1234567890123456', '+4915112345678;ext=1', '+'],
])('%j is no number of E.164', text => {
  expect(text).not.toMatch(new RegExp(E164_PATTERN))
})

test('each number of an assigned calling code has a country, and none is lost of those that share it', () => {
  const codes = Object.entries<readonly string[]>(metadata.country_calling_codes)
  const number = fc
    .constantFrom(...codes)
    .chain(([code, countries]) =>
      fc
        .string({ unit: fc.constantFrom(...'0123456789'), minLength: 7 - code.length, maxLength: 15 - code.length })
        .map(digits => ({ to: `+${code}${digits}`, countries })),
    )
  fc.assert(
    fc.property(number, ({ to, countries }) => {
      const { country, otherCountries } = destinationOf(to)
      expect(to).toMatch(new RegExp(E164_PATTERN))
      expect(countries).toContain(country)
      if (otherCountries.length > 0) expect([country, ...otherCountries]).toEqual(countries)
    }),
    { numRuns: runs(2_000) },
  )
})

test('a destination is a country that quotas can be scoped to', () => {
  expect(
    [...getCountries(), '001'].filter(code => !isCountry(code) || !new RegExp(COUNTRY_PATTERN).test(code)),
  ).toEqual([])
})

describe('a number that may belong to several countries', () => {
  const now = at('2026-01-15')
  const command: DrawCommand = {
    op: 'reserve',
    user_id: 7,
    id: 'm',
    units: 1,
    country: 'US',
    other_countries: ['AG', 'CA'],
    message_type: null,
    ttl_ms: 1,
    on_expiry: 'release',
    allow_partial: false,
    force: false,
    explain: false,
  }
  const matching = (kind: 'grant' | 'cap', countries: string[] | null, of = command) => {
    const { grants, caps } = matchQuotas(createDraft(7, [aQuota({ kind, countries })], []), of, now)
    return grants.length + caps.length === 1
  }

  test.each<['grant' | 'cap', string[] | null, boolean]>([
    ['cap', ['US'], true],
    ['cap', ['CA'], true],
    ['cap', ['DE', 'CA'], true],
    ['cap', ['DE'], false],
    ['cap', null, true],
    ['grant', ['US'], true],
    ['grant', ['CA'], false],
    ['grant', null, true],
  ])('a %s for %j counts: %s', (kind, countries, counts) => {
    expect(matching(kind, countries)).toBe(counts)
  })

  test('a caller who names the country means that one', () => {
    const { other_countries: _, ...named } = command
    expect([matching('cap', ['US'], named), matching('cap', ['CA'], named)]).toEqual([true, false])
  })
})
