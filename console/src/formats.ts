import { INTERNATIONAL } from '../../src/domain/messages/country.ts'
import { language, locale } from './texts/language.ts'

/**
 * Numbers, dates and names of countries in the locale of the page. Times are RFC 3339 timestamps of the API and are
 * shown in the user's time zone.
 */

const NUMBER = new Intl.NumberFormat(locale)
const CHANGE = new Intl.NumberFormat(locale, { signDisplay: 'always' })
const COMPACT = new Intl.NumberFormat(locale, { notation: 'compact', useGrouping: true })
const RATE = new Intl.NumberFormat(locale, { maximumSignificantDigits: 2 })
const PERCENT = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 })
const EXACT_PERCENT = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 6 })
const LIST = new Intl.ListFormat(locale)

/** The user's time zone, such as `Europe/Berlin`. */
export const LOCAL_ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone

export function formatUnits(units: number): string {
  return NUMBER.format(units)
}

/** A change by a number of units, with its sign: "+500". */
export function formatChange(units: number): string {
  return CHANGE.format(units)
}

/** 12K, in German 12.000: for axes. */
export function formatCompact(units: number): string {
  return COMPACT.format(units)
}

/** Units per time: two significant digits below 10, whole numbers from there on. */
export function formatRate(rate: number): string {
  return rate < 10 ? RATE.format(rate) : NUMBER.format(Math.round(rate))
}

/** @param share 1 is 100 % */
export function formatPercent(share: number): string {
  return PERCENT.format(share)
}

/** With its decimals, as of a setting. @param share 1 is 100 % */
export function formatExactPercent(share: number): string {
  return EXACT_PERCENT.format(share)
}

/** "Germany, Austria and Switzerland" */
export function formatList(items: readonly string[]): string {
  return LIST.format(items)
}

const DATE_TIME = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
const TO_THE_SECOND = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })
const LONG_DATE = new Intl.DateTimeFormat(locale, { dateStyle: 'long' })
const LONG_DATE_TIME = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short' })
const WEEKDAY = new Intl.DateTimeFormat(locale, { dateStyle: 'full' })
const SHORT_DAY = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' })
const DAY_OF_YEAR = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long', timeZone: 'UTC' })
const MONTH = new Intl.DateTimeFormat(locale, { month: 'long', timeZone: 'UTC' })
const CLOCK = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })

/** Date and time: "1 Mar 2026, 12:00". */
export function formatTimestamp(at: string): string {
  return DATE_TIME.format(new Date(at))
}

/** Date and time with seconds: "1 Mar 2026, 12:00:05". */
export function formatToTheSecond(at: string): string {
  return TO_THE_SECOND.format(new Date(at))
}

/** Formats times in another zone as `formatTimestamp` does in the user's. */
export function timestampFormat(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone })
}

/** For sentences: "1 March 2026 at 12:00"; without the time if it is midnight. */
export function formatLong(at: string): string {
  const date = new Date(at)
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0
  return (isMidnight ? LONG_DATE : LONG_DATE_TIME).format(date)
}

/** For sentences, where the time does not matter: "1 March 2026". */
export function formatLongDate(at: string): string {
  return LONG_DATE.format(new Date(at))
}

/** "Sunday, 1 March 2026" */
export function formatWeekday(at: string): string {
  return WEEKDAY.format(new Date(at))
}

/** "1 Mar" */
export function formatShortDay(at: string): string {
  return SHORT_DAY.format(new Date(at))
}

/** A day of any year: 1 April of 04-01. */
export function formatDayOfYear(monthAndDay: string): string {
  return DAY_OF_YEAR.format(Date.parse(`2000-${monthAndDay}`))
}

/** The name of a month of the year, from 1. */
export function monthName(month: number): string {
  return MONTH.format(Date.UTC(2000, month - 1))
}

/** "12:00" */
export function formatClock(at: string): string {
  return CLOCK.format(new Date(at))
}

/** "2026-03-01 12:00:00 UTC", in every language. */
export function formatUtc(at: string): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

const DISTANCE = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
/** The units of a distance, each used up to the next one. */
const DISTANCE_UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

/**
 * How far away a time is: "in 3 days", "2 hours ago". Less than a minute is "now".
 *
 * @param now epoch milliseconds
 */
export function formatDistance(at: string, now: number): string {
  const seconds = (new Date(at).getTime() - now) / 1_000
  for (const [unit, length] of DISTANCE_UNITS) {
    if (Math.abs(seconds) >= length) return DISTANCE.format(Math.trunc(seconds / length), unit)
  }
  return DISTANCE.format(0, 'second')
}

const COUNTRY_NAMES = new Intl.DisplayNames(locale, { type: 'region' })
/** Browsers call it "world", which says something else here. */
const INTERNATIONAL_NAME = { en: 'International networks', de: 'Internationale Netze' }[language]

/** The name of a country, or the code if the browser knows no name for it. @param code ISO 3166 alpha-2, or 001 */
export function countryName(code: string): string {
  if (code === INTERNATIONAL) return INTERNATIONAL_NAME
  return COUNTRY_NAMES.of(code) ?? code
}

/** Name and code for lists and fields, where users search by either: "Germany (DE)". */
export function countryLabel(code: string): string {
  const name = countryName(code)
  return name === code ? code : `${name} (${code})`
}
