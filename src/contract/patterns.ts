import {
  COUNTED_VALUE_PATTERN,
  DURATION_PATTERN,
  E164_PATTERN,
  RATE_PREFIX_PATTERN,
  RESERVATION_ID_PATTERN,
} from '../domain/basics/bounds.ts'
import { EVENT_TYPES } from '../domain/events/event.ts'
import { ANCHORS, JOINED } from '../domain/time/anchor.ts'

/** The patterns of the contract's texts, each with what it accepts in words: an error shows these, and no pattern. */

const eventType = `(?:${EVENT_TYPES.map(type => type.replace('.', '\\.')).join('|')})`
/** RFC 9110: any characters but quotes, white space and control characters. Proxies weaken the service's own and add to them. */
const etag = '(?:W/)?"[!#-~\\x80-\\xff]*"'

export const PATTERNS = {
  phoneNumber: {
    pattern: E164_PATTERN,
    accepts: 'a number in E.164 form with 7 to 15 digits, such as "+4930123456"',
  },
  countedValue: {
    pattern: COUNTED_VALUE_PATTERN,
    accepts: 'a text of 1 to 64 characters without control characters',
  },
  messageType: {
    pattern: '^[a-z0-9][a-z0-9_-]{0,63}$',
    accepts: 'a type such as "otp": 1 to 64 of a-z, 0-9, "_" and "-", of which "_" and "-" do not come first',
  },
  ratePrefix: {
    pattern: RATE_PREFIX_PATTERN,
    accepts:
      'the beginning of a number, such as "49": 1 to 10 digits without plus, 00 or blanks, the first of them not 0',
  },
  slot: {
    pattern: '^[a-z0-9_-]{1,40}$',
    accepts: 'a slot such as "monthly": 1 to 40 of a-z, 0-9, "_" and "-"',
  },
  metadataKey: { pattern: '^[A-Za-z0-9_.:-]{1,64}$', accepts: '1 to 64 of A-Z, a-z, 0-9 and "_.:-"' },
  reservationId: {
    pattern: RESERVATION_ID_PATTERN,
    accepts: 'an id such as "msg-1042": 1 to 128 of A-Z, a-z, 0-9 and "._:-", a letter or digit first',
  },
  /** An opening reservation of the service has an id that begins with `_`. */
  anyReservationId: {
    pattern: '^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}$',
    accepts: 'an id such as "msg-1042": 1 to 128 of A-Z, a-z, 0-9 and "_.:-", a letter, a digit or "_" first',
  },
  denialId: {
    pattern: '^den_(?:0|[1-9][0-9]{0,15})_(?:0|[1-9][0-9]{0,14})_[1-9][0-9]{0,15}$',
    accepts: 'the id of a denial, such as "den_7_1773576000000_42"',
  },
  deliveryId: {
    pattern: '^evt_(?:0|[1-9][0-9]?)_[1-9][0-9]{0,15}$',
    accepts: 'the id of a delivery, such as "evt_0_42"',
  },
  requestId: {
    pattern: '^[A-Za-z0-9._:-]{1,128}$',
    accepts: 'a request id: 1 to 128 of A-Z, a-z, 0-9 and "._:-"',
  },
  idempotencyKey: {
    pattern: '^[\\x21-\\x7e]{1,255}$',
    accepts: 'a key of 1 to 255 visible ASCII characters, without spaces',
  },
  anchor: {
    pattern: `${ANCHORS.day.pattern.source}|${ANCHORS.date.pattern.source}`,
    accepts: `${ANCHORS.day.words} for a month, or ${ANCHORS.date.words} for a year, both as text`,
  },
  slotAnchor: {
    pattern: `${ANCHORS.day.pattern.source}|${ANCHORS.date.pattern.source}|^${JOINED}$`,
    accepts: `${ANCHORS.day.words} for a month, or ${ANCHORS.date.words} for a year, both as text, or "${JOINED}"`,
  },
  versions: {
    pattern: `^(?:\\*|[ \\t,]*${etag}(?:[ \\t]*,[ \\t,]*${etag})*[ \\t,]*)$`,
    accepts: 'the ETag of an answer, such as "3" with its quotes, several of them, or *',
  },
  duration: {
    pattern: DURATION_PATTERN,
    accepts: 'a duration in years, months, weeks and days, such as "P1M" or "P30D"',
  },
  userRef: {
    pattern: '^[^\\s\\x00-\\x1f\\x7f-\\x9f]{1,128}$',
    accepts: 'a reference such as "customer-1042": 1 to 128 characters without blanks and control characters',
  },
  email: {
    pattern: '^[^\\s\\x00-\\x1f\\x7f-\\x9f@]{1,64}@[^\\s\\x00-\\x1f\\x7f-\\x9f@]{1,189}$',
    accepts: 'an e-mail address such as "ann@example.com"',
  },
  language: {
    pattern: '^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$',
    accepts: 'a language tag such as "de" or "pt-BR"',
  },
  addressCode: {
    pattern: '^\\d{1,16}\\.\\d{1,16}\\.[A-Za-z0-9_-]{43}$',
    accepts: 'what follows # in the link of a message, all of it',
  },
  eventTypes: {
    pattern: `^${eventType}(?:,${eventType})*$`,
    accepts: `types of events, separated by commas: ${EVENT_TYPES.join(', ')}`,
  },
  /** A cursor holds the filters of its list, of which texts have 4 bytes a character. */
  cursor: {
    pattern: '^[A-Za-z0-9_-]{1,5000}$',
    accepts: 'what an earlier page of the same list returned',
  },
} as const

/** With the flag of JSON Schema, so that what a schema accepts is a reference everywhere: it counts characters, and an emoji is one. */
const USER_REF = new RegExp(PATTERNS.userRef.pattern, 'u')

/** Whether a text may be the reference of a user. */
export function isReference(text: string): boolean {
  return USER_REF.test(text) && text.isWellFormed()
}

const WORDS: ReadonlyMap<string, string> = new Map(
  Object.values(PATTERNS).map(({ pattern, accepts }) => [pattern, accepts]),
)

/** What a pattern of the contract accepts. */
export function acceptedBy(pattern: string): string {
  return WORDS.get(pattern) ?? `a string that matches ${pattern}`
}
