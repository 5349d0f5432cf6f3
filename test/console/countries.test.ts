import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CALLING_CODES } from '../../console/src/model/calling-codes.ts'
import { destinationOf } from '../../src/domain/messages/destination.ts'
import { PROJECT } from '../support/paths.ts'

// Imported dynamically, because its types need the DOM.
const model = (file: string) => import(join(PROJECT, 'console/src/model', file))
const { countriesLike, countryOfText, countryOfZone, countryOptions, dialedCountryLabel } = await model('countries.ts')
const { matchingOptions } = await model('matching-options.ts')

test('the calling codes are those of the numbering plan', async () => {
  const plan = join(PROJECT, 'node_modules/libphonenumber-js/metadata.min.json')
  const { country_calling_codes: ofCountries, nonGeographic } = JSON.parse(await readFile(plan, 'utf8'))
  const others = Object.fromEntries(Object.keys(nonGeographic).map(code => [code, ['001']]))
  expect(Object.fromEntries(CALLING_CODES)).toEqual({ ...ofCountries, ...others })
})

test('a number of a calling code leads to its countries, as the service sees it', () => {
  for (const [code, [main]] of CALLING_CODES) {
    // Zeros are no number of a single country.
    expect([code, destinationOf(`+${code}${'0'.repeat(9)}`).country]).toEqual([code, main])
  }
})

test('international networks have a name, and are found by it and by their calling codes', () => {
  expect(dialedCountryLabel('001')).toBe('International networks (001)')
  for (const text of ['001', 'international networks', '+881', '00870']) expect(countryOfText(text)).toBe('001')
  expect(countriesLike('+88161234567')).toEqual(['001'])
})

test('a country is found by its name, code, calling code and a number, as far as they say which', () => {
  expect(dialedCountryLabel('NG')).toBe('Nigeria (NG, +234)')
  expect(dialedCountryLabel('AQ')).toBe('Antarctica (AQ)')
  for (const text of ['nigeria', 'ng', '+234', '00234', ' Nigeria (NG, +234) ']) expect(countryOfText(text)).toBe('NG')
  for (const text of ['', 'Atlantis', '234', '+1', '+23']) expect(countryOfText(text)).toBe(null)
  for (const text of ['+234', '+234 803 123 4567', '00234803', 'Nigeri', 'ng'])
    expect(countriesLike(text)).toEqual(['NG'])
  expect(countriesLike('+44')).toEqual(['GB', 'GG', 'IM', 'JE'])
  expect(countriesLike('+1212')[0]).toBe('US')
  for (const text of ['', '234', 'xx', 'Atlantis']) expect(countriesLike(text)).toEqual([])
})

test('the first match of a text is the option that it most likely means', () => {
  const first = (text: string) => matchingOptions(countryOptions(), text)[0]?.value
  const meant = {
    de: 'DE',
    germ: 'DE',
    ' Germany ': 'DE',
    '+49': 'DE',
    guinea: 'GN',
    india: 'IN',
    niger: 'NE',
    ireland: 'IE',
  }
  expect(Object.keys(meant).map(first)).toEqual(Object.values(meant))
  expect(matchingOptions(countryOptions(), 'united').length).toBeGreaterThan(2)
  expect(matchingOptions(countryOptions(), 'Atlantis')).toEqual([])
})

test('a time zone tells the country, unless it belongs to none', () => {
  const zones = ['Europe/Berlin', 'Europe/Busingen', 'America/New_York', 'Asia/Calcutta', 'UTC', 'Etc/GMT+1']
  expect(zones.map(countryOfZone)).toEqual(['DE', 'DE', 'US', 'IN', null, null])
})
