import metadata from 'libphonenumber-js/min/metadata'
import { UNSEEN } from '../basics/invisible.ts'
import { readByPlan } from './destination.ts'

/** What stands between the digits of a number. */
const SEPARATORS = /[\s()./\p{Dash}]/gu

/** A number with its calling code, to which none begins with 0; and one without a sign of it: the digits of E.164. */
const INTERNATIONAL_FORM = /^(?:\++|00)0*([1-9]\d{6,})$/
const DIGITS = /^\d{7,15}$/

const PLANS: Readonly<Record<string, readonly unknown[] | undefined>> = metadata.countries

/** By calling code, what its plan takes away before a national number, and a zero that may be there beside it. */
const PREFIXES: ReadonlyMap<string, RegExp> = new Map(
  Object.entries<readonly string[]>(metadata.country_calling_codes).map(([code, [main = '']]) => [
    code,
    new RegExp(`^(?:0|${prefixOf(PLANS[main])})`),
  ]),
)

/** `national_prefix_for_parsing` of a plan in the compressed metadata, else `national_prefix`; a zero if it has neither. */
function prefixOf(plan: readonly unknown[] = []): string {
  return [plan[7], plan[5], '0'].find(prefix => typeof prefix === 'string') ?? '0'
}

/**
 * The one form in which a recipient is counted, however it is written.
 *
 * What reads as a number is that number in E.164, without the trunk prefix of its country: a plus, 00 or nothing before its calling code;
 * blanks, dashes, dots, slashes and parentheses between its digits; `tel:`. A number with a 0 in front names no country, and is
 * its digits. Of any other text invisible characters, blanks around it, and how its accents are composed count for nothing.
 */
export function canonicalRecipient(recipient: string): string {
  const text = recipient.replace(UNSEEN, '').normalize('NFC').trim()
  const written = digitsIn(text)
  const digits = INTERNATIONAL_FORM.exec(written)?.[1]
  if (digits !== undefined) return canonicalNumber(digits)
  if (!DIGITS.test(written)) return text
  return written.startsWith('0') ? written : canonicalNumber(written)
}

/** The form of a number in E.164, from its digits. Reading a number takes 4 to 15 µs. Most have no prefix that could be taken away, and are canonical. */
export function canonicalNumber(digits: string): string {
  const number = `+${digits}`
  return isWithoutPrefix(digits) ? number : (readByPlan(number)?.number ?? number)
}

function isWithoutPrefix(digits: string): boolean {
  for (let length = 1; length <= 3; length++) {
    const prefix = PREFIXES.get(digits.slice(0, length))
    if (prefix !== undefined) return !prefix.exec(digits.slice(length))?.[0]
  }
  return false
}

/** A text as a number would be written with digits alone. */
function digitsIn(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/^tel:([^;]*).*$/i, '$1')
    .replace(SEPARATORS, '')
    .replace(/[٠-٩۰-۹]/g, digit => String(digit.charCodeAt(0) & 0xf))
}
