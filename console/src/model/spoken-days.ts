import { addDays } from './local-time.ts'

/** A text such as "France last Tuesday": a day, and what is said beside it. */
export interface SpokenDay {
  /** Written 2026-11-24. */
  day: string
  /** What else the text says. */
  rest: string
}

/** The words for days, in each language of the console: how many days before today. */
const DAYS_BEFORE: ReadonlyMap<string, number> = new Map([
  ['today', 0],
  ['heute', 0],
  ['yesterday', 1],
  ['gestern', 1],
  ['vorgestern', 2],
])
/** The names of weekdays, from Sunday. */
const WEEKDAYS = [
  'sunday sun sonntag so',
  'monday mon montag mo',
  'tuesday tue dienstag di',
  'wednesday wed mittwoch mi',
  'thursday thu donnerstag do',
  'friday fri freitag fr',
  'saturday sat samstag sa',
].map(names => names.split(' '))

/** Before a weekday they mean the one before today. */
const LAST = new Set(['last', 'letzten', 'letzter', 'letzte', 'vorigen', 'vergangenen'])
/** Words that say nothing more. */
const FILLING = new Set(['messages', 'nachrichten', 'to', 'nach', 'on', 'am'])

function weekdayOf(day: string): number {
  return new Date(`${day}T00:00:00Z`).getUTCDay()
}

/**
 * The days that a text begins or ends with, in the words of any language of the console. There can be two: in "Monday to FR", the
 * last word is a short Friday, too. A weekday is the latest one; with "last", the latest one before today.
 *
 * @param today written 2026-11-27
 */
export function spokenDays(text: string, today: string): SpokenDay[] {
  const words = text.trim().split(/[\s,]+/)
  return [dayAtEnd(words, today), dayAtStart(words, today)].filter(spoken => spoken !== null)
}

function dayAtEnd(words: readonly string[], today: string): SpokenDay | null {
  const [before, word] = [words.at(-2), words.at(-1)]
  const isLast = before !== undefined && LAST.has(before.toLowerCase())
  const day = dayOfWord(word, isLast, today)
  return day === null ? null : { day, rest: restOf(words.slice(0, isLast ? -2 : -1)) }
}

function dayAtStart(words: readonly string[], today: string): SpokenDay | null {
  const rest = words.slice(words.findIndex(word => !FILLING.has(word.toLowerCase())))
  const isLast = rest[0] !== undefined && LAST.has(rest[0].toLowerCase())
  const day = dayOfWord(rest[isLast ? 1 : 0], isLast, today)
  return day === null ? null : { day, rest: restOf(rest.slice(isLast ? 2 : 1)) }
}

function dayOfWord(word: string | undefined, isLast: boolean, today: string): string | null {
  const name = word?.toLowerCase() ?? ''
  const weekday = WEEKDAYS.findIndex(names => names.includes(name))
  const before = weekday === -1 ? DAYS_BEFORE.get(name) : (weekdayOf(today) - weekday + 7) % 7
  if (before === undefined) return null
  return addDays(today, isLast && before === 0 ? -7 : -before)
}

/** Without filling words at its ends. */
function restOf(words: readonly string[]): string {
  const said = words.map(word => FILLING.has(word.toLowerCase()))
  const first = said.indexOf(false)
  return first === -1 ? '' : words.slice(first, said.lastIndexOf(false) + 1).join(' ')
}
