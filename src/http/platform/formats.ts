import { domainToASCII, domainToUnicode } from 'node:url'
import Format from 'typebox/format'
import { INVISIBLE } from '../../domain/basics/invisible.ts'
import { isCountry } from '../../domain/messages/country.ts'
import { type EpochMs, parseTimestamp } from '../../domain/time/time.ts'
import { isLocalTime, timeZoneName } from '../../domain/time/window.ts'

/** The string formats of the contract: the domain's check, and what it accepts in words. */
export const FORMATS: Record<string, { accepts: string; check: (text: string) => boolean }> = {
  'date-time': {
    accepts: 'an RFC 3339 time such as "2026-01-31T00:00:00Z", from 1970-01-01T00:00:00Z to 9999-12-31T23:59:59.999Z',
    check: text => parseTimestamp(text) !== null,
  },
  'local-time': {
    accepts:
      'an RFC 3339 time such as "2026-01-31T00:00:00Z" from 1970 to 9999, or a day such as "2026-01-31" or a time such as "2026-01-31T12:00" in the time zone of the row',
    check: text => parseTimestamp(text) !== null || isLocalTime(text),
  },
  'time-zone': {
    accepts: 'an IANA time zone name such as "Europe/Berlin"',
    check: text => timeZoneName(text) !== null,
  },
  country: {
    accepts: 'an ISO 3166 alpha-2 country code such as "DE", or "001" for international networks',
    check: isCountry,
  },
  'webhook-url': {
    accepts: 'an http or https URL without user and password',
    check: isWebhookUrl,
  },
  'email-address': {
    accepts: 'an e-mail address such as "team@example.com", with ASCII letters before the @',
    check: isEmailAddress,
  },
  // PostgreSQL cannot store NUL, and a lone surrogate is not a character.
  text: {
    accepts: 'text without NUL characters or lone surrogates',
    check: text => text.isWellFormed() && !text.includes('\0'),
  },
  identifier: {
    accepts: 'text without invisible characters, and without blanks around it',
    check: text => text.isWellFormed() && text.search(INVISIBLE) < 0 && text === text.trim(),
  },
}

for (const [name, { check }] of Object.entries(FORMATS)) Format.Set(name, check)

/** Reads text that has passed the format `date-time`. */
export function timestampOf(text: string): EpochMs {
  const at = parseTimestamp(text)
  if (at === null) throw new Error(`${JSON.stringify(text)} is not a valid date-time`)
  return at
}

/**
 * A plain address of RFC 5321, without quoted parts: nothing in it can be a second address or a header. Its host is a name, and no IP address.
 * A domain of another script is sent as ASCII, and is written as it is shown then: with nothing unseen in it.
 */
function isEmailAddress(text: string): boolean {
  const at = text.lastIndexOf('@') + 1
  const domain = text.slice(at)
  const ascii = /^\p{ASCII}*$/u.test(domain) ? domain : domainToASCII(domain)
  const sent = `${text.slice(0, at)}${ascii}`
  const isShown = ascii === domain || domainToUnicode(ascii) === domain.toLowerCase()
  return (
    isShown &&
    sent.length <= 254 &&
    /^(?=.{1,64}@)[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+(?=[a-z\d-]*[a-z])[a-z\d][a-z\d-]{0,61}[a-z\d]$/i.test(
      sent,
    )
  )
}

function isWebhookUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || !/^https?:\/\/[^\s\p{Cc}]+$/u.test(text)) return false
  return url.username === '' && url.password === '' && text.isWellFormed()
}
