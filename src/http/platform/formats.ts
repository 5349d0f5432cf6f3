import Format from 'typebox/format'
import { isCountry } from '../../domain/country.ts'
import { parseTimestamp } from '../../domain/time.ts'
import { timeZoneName } from '../../domain/window.ts'

/** String formats of the contract, as the domain judges them, each with the words for what is accepted. */
export const FORMATS: Record<string, { accepts: string; check: (text: string) => boolean }> = {
  'date-time': {
    accepts: 'an RFC 3339 time such as "2026-01-31T00:00:00Z"',
    check: text => parseTimestamp(text) !== null,
  },
  'time-zone': {
    accepts: 'an IANA time zone name such as "Europe/Berlin"',
    check: text => timeZoneName(text) !== null,
  },
  country: {
    accepts: 'an ISO 3166 alpha-2 country code such as "DE"',
    check: isCountry,
  },
  'webhook-url': {
    accepts: 'an http or https URL without user and password',
    check: isWebhookUrl,
  },
  // PostgreSQL stores no NUL, and a lone surrogate is no character.
  text: {
    accepts: 'text without NUL characters or lone surrogates',
    check: text => text.isWellFormed() && !text.includes('\0'),
  },
}

for (const [name, { check }] of Object.entries(FORMATS)) Format.Set(name, check)

function isWebhookUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || !/^https?:\/\/[^\s\p{Cc}]+$/u.test(text)) return false
  return url.username === '' && url.password === '' && text.isWellFormed()
}
