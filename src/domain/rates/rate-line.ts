import type { ValidationIssue } from '../../errors.ts'
import { unitsOf } from './rate.ts'

/** A line of a rate card: what messages to a destination cost. It names a prefix, a country, or neither. */
export interface RateLine {
  /** The beginning of a number in E.164 form, without the plus. */
  prefix: string | null
  /** ISO 3166 alpha-2, or `001`. */
  country: string | null
  /** Null: all types, and messages without one, as far as no other line of the same destination names theirs. */
  message_type: string | null
  per_segment: number
  per_message: number
}

/** A message as prices see it. */
export interface Priced {
  /** The digits of its number in E.164 form; null: it is not known. */
  readonly digits: string | null
  readonly country: string | null
  readonly message_type: string | null
}

type Place = Pick<RateLine, 'prefix' | 'country' | 'message_type'>

/** What two lines of a list may not share: the destination and the type. */
export const keyOfLine = ({ prefix, country, message_type }: Place) =>
  `${prefix ?? ''}\t${country ?? ''}\t${message_type ?? ''}`

/** What makes a line another one than its destination and type say: in words for an error. */
export const nameOfLine = ({ prefix, country, message_type }: Place) =>
  `${prefix ?? country ?? 'all destinations'}${message_type === null ? '' : `, ${message_type}`}`

/** A card begins with this line, and charges what no card would. */
export const ONE_A_SEGMENT: RateLine = {
  prefix: null,
  country: null,
  message_type: null,
  per_segment: 1,
  per_message: 0,
}

/** Of more issues the others are left out. */
const MAX_ISSUES = 10

/** The rules that the lines of a card break. The number of lines, and the form of each, are the contract's. */
export function lineIssues(lines: readonly RateLine[]): ValidationIssue[] {
  const issues: ValidationIssue[] = []
  const places = new Map<string, number>()
  for (const [index, line] of lines.entries()) {
    if (issues.length >= MAX_ISSUES) return issues.slice(0, MAX_ISSUES)
    const path = `/lines/${index}`
    if (line.prefix !== null && line.country !== null)
      issues.push({ path: `${path}/country`, message: 'is not accepted together with prefix, which is more exact' })
    if (line.per_segment + line.per_message === 0)
      issues.push({ path: `${path}/per_segment`, message: 'must be at least 1 unit, unless per_message is' })
    const first = places.get(keyOfLine(line))
    if (first === undefined) places.set(keyOfLine(line), index)
    else
      issues.push({
        path,
        message: `is for ${nameOfLine(line)}, as /lines/${first} is; give each destination and type one line`,
      })
  }
  if (!places.has(keyOfLine(ONE_A_SEGMENT)))
    issues.push({
      path: '/lines',
      message: 'must have a line without prefix, country and message_type: what all other messages cost',
    })
  return issues
}

/* ── Look-up ────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** Finds the line of a message; undefined if there is none. */
export type FindLine = (message: Priced) => RateLine | undefined

/**
 * Prepares the look-up of lines. The line that decides: the longest prefix, then the country, then neither; of several one that names the
 * type. A look-up takes less than a microsecond, of 20 lines or of 20,000: it asks once for each length that a prefix has.
 */
export function findIn(lines: readonly RateLine[]): FindLine {
  const byPlace = new Map<string, RateLine | RateLine[]>()
  const lengths = new Set<number>()
  for (const line of lines) {
    const place = line.prefix ?? line.country ?? ''
    if (line.prefix !== null) lengths.add(line.prefix.length)
    const others = byPlace.get(place)
    if (others === undefined) byPlace.set(place, line)
    else byPlace.set(place, [...(Array.isArray(others) ? others : [others]), line])
  }
  const longestFirst = [...lengths].sort((one, other) => other - one)
  const at = (place: string, type: string | null): RateLine | undefined => {
    const found = byPlace.get(place)
    if (!Array.isArray(found)) return found === undefined || fits(found, type) ? found : undefined
    return found.find(line => line.message_type === type) ?? found.find(line => line.message_type === null)
  }
  return ({ digits, country, message_type: type }) => {
    if (digits !== null)
      for (const length of longestFirst) {
        const line = length > digits.length ? undefined : at(digits.slice(0, length), type)
        if (line !== undefined) return line
      }
    return (country === null ? undefined : at(country, type)) ?? at('', type)
  }
}

const fits = ({ message_type }: RateLine, type: string | null) => message_type === null || message_type === type

/* ── Differences ────────────────────────────────────────────────────────────────────────────────────────────────── */

export const LINE_CHANGES = ['new', 'gone', 'dearer', 'cheaper'] as const
type LineChange = (typeof LINE_CHANGES)[number]

/** A line that is not as it was. What it costs is null where there is none. */
export interface ChangedLine extends Pick<RateLine, 'prefix' | 'country' | 'message_type'> {
  change: LineChange
  before: Pick<RateLine, 'per_segment' | 'per_message'> | null
  after: Pick<RateLine, 'per_segment' | 'per_message'> | null
}

const costOf = ({ per_segment, per_message }: RateLine) => ({ per_segment, per_message })

/** By how many units the message of one segment costs more; of lines that are new or gone, what it costs. */
const stepOf = ({ before, after }: ChangedLine) =>
  Math.abs((after === null ? 0 : unitsOf(after, 1)) - (before === null ? 0 : unitsOf(before, 1)))

/** The lines that are not as they were, the largest changes first. A line is dearer if a message of one segment is, or else of more. */
export function changedLines(before: readonly RateLine[], after: readonly RateLine[]): ChangedLine[] {
  const former = new Map(before.map(line => [keyOfLine(line), line]))
  const changed: ChangedLine[] = []
  for (const line of after) {
    const { prefix, country, message_type } = line
    const place = { prefix, country, message_type }
    const was = former.get(keyOfLine(line))
    former.delete(keyOfLine(line))
    if (was === undefined) changed.push({ ...place, change: 'new', before: null, after: costOf(line) })
    else {
      const more = unitsOf(line, 1) - unitsOf(was, 1) || line.per_segment - was.per_segment
      if (more !== 0)
        changed.push({ ...place, change: more > 0 ? 'dearer' : 'cheaper', before: costOf(was), after: costOf(line) })
    }
  }
  for (const line of former.values()) {
    const { prefix, country, message_type } = line
    changed.push({ prefix, country, message_type, change: 'gone', before: costOf(line), after: null })
  }
  return changed.sort((one, other) => stepOf(other) - stepOf(one))
}
