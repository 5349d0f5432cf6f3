import { csvLine } from '../../../../../src/domain/basics/csv.ts'
import { quotaName } from '../../../components/quota-labels.ts'
import { formatTimestamp, LOCAL_ZONE } from '../../../formats.ts'
import { extrasOf, type Gift, inOrder, type LeftLine, type Plan } from '../../../model/give-plan.ts'
import { type Failure, type Progress, whyOf } from '../../../model/job.ts'
import { zonedTime } from '../../../model/zoned-time.ts'
import { texts } from '../../../texts/texts.ts'
import { leftFailure, noteFailures } from './give-words.ts'

/** What users of a file get, or have got, in words and as CSV. */

const { give } = texts.manyQuotas

/** Units that were given, or would be, to some of the users of a file. */
export interface Run {
  plan: Pick<Plan, 'gifts' | 'left'>
  /** null before the units are given */
  progress: Progress | null
  /** What the service has given since, by user. */
  given: ReadonlyMap<number, Partial<Gift>>
}

/** For example "500 units each". @param hasSum whether the sum of several follows: "500 units each (1,500 in all)" */
export function unitsText(gifts: readonly Gift[], hasSum = false): string {
  const [first, ...others] = gifts
  const sum = gifts.reduce((total, { units }) => total + units, 0)
  if (first === undefined || others.some(({ units }) => units !== first.units)) return give.unitsInAll(sum)
  const each = give.unitsEach(first.units)
  return hasSum && others.length > 0 ? give.withSum(each, sum) : each
}

/** For example "until 1 Dec 2026, 00:00 (Europe/Berlin)". */
export function untilText(gifts: readonly Gift[]): string {
  const extras = extrasOf(gifts)
  if (extras.length === 0) return give.fromNowOn
  const text = untilEndOf(extras)
  return extras.length === gifts.length ? text : give.partlyFromNowOn(text)
}

function untilEndOf(extras: readonly Gift[]): string {
  const [end, ...others] = new Set(extras.map(({ until }) => until))
  if (end === undefined || others.length > 0)
    return others.includes(null) || end === null ? give.untilAnyEnd : give.untilOwnEnd
  return end === null ? give.withoutEnd : give.until(formatTimestamp(end), LOCAL_ZONE)
}

/** A sentence or two: how long given units last. */
export function lastingText(gifts: readonly Gift[]): string {
  const { forGood, someForGood } = give.lasting
  const extras = extrasOf(gifts)
  if (extras.length === 0) return forGood
  const text = lastingOf(extras)
  return extras.length === gifts.length ? text : `${text} ${someForGood(gifts.length - extras.length)}`
}

function lastingOf(extras: readonly Gift[]): string {
  const { never, until, between, someNever, monthIn } = give.lasting
  const times = extras
    .flatMap(({ until }) => (until === null ? [] : [until]))
    .sort((one, other) => Date.parse(one) - Date.parse(other))
  const [first, last] = [times[0], times.at(-1)]
  if (first === undefined || last === undefined) return never
  const text =
    first === last
      ? until(formatTimestamp(first), LOCAL_ZONE)
      : between(formatTimestamp(first), formatTimestamp(last), LOCAL_ZONE)
  const [one] = extras
  if (one !== undefined && extras.every(gift => gift.month_end)) return `${text} ${monthIn(one.time_zone)}`
  return times.length === extras.length ? text : `${text} ${someNever(extras.length - times.length)}`
}

/** What the reader should know of those who get units. Those who can use least of them come first. */
export function notesOn(gifts: readonly Gift[]): Failure[] {
  const usable = (gift: Gift) => gift.usable ?? Number.MAX_VALUE
  const sorted = [...gifts].sort((one, other) => usable(one) - usable(other) || one.quota.user_id - other.quota.user_id)
  return sorted.flatMap(noteFailures)
}

/** Who has received units in one run or several, and how many have not. */
export function summaryOf(runs: readonly Run[]): string {
  const gifts = giftsOf(runs)
  const sum = (count: (progress: Progress) => number) =>
    runs.reduce((total, { progress }) => total + (progress === null ? 0 : count(progress)), 0)
  const received = give.received(
    sum(({ done, failed }) => done - failed),
    unitsText(gifts),
    untilText(gifts),
  )
  return `${received} ${give.outcome(
    sum(({ failed }) => failed),
    leftOf(runs).length,
  )}`
}

export function giftsOf(runs: readonly Run[]): readonly Gift[] {
  return runs.flatMap(giftsIn)
}

function giftsIn({ plan, given }: Run): Gift[] {
  return plan.gifts.map(gift => ({ ...gift, ...given.get(gift.quota.user_id) }))
}

/** The users who are left out after the last run: a later run gives to some that an earlier one left out. */
export function leftOf(runs: readonly Run[]): LeftLine[] {
  const left = new Map<number, LeftLine>()
  for (const { plan } of runs) {
    for (const failure of plan.left) left.set(failure.line, failure)
    for (const { line } of plan.gifts) left.delete(line)
  }
  return inOrder([...left.values()])
}

/** One line for each line of the file, in its order. */
export function reportOf(runs: readonly Run[]): string {
  const { columns, results } = give.report
  const left = leftOf(runs).map(failure => ({
    line: failure.line,
    cells: [failure.user, results.left, whyOf(leftFailure(failure)), '', '', '', '', 'left', ''],
  }))
  const rows = inOrder([...left, ...runs.flatMap(rowsOf)])
  return [columns, ...rows.map(({ line, cells }) => [line, ...cells])].map(csvLine).join('')
}

/** The rows of those who get units in a run. */
function rowsOf(run: Run): { line: number; cells: string[] }[] {
  const { progress } = run
  const failures = Map.groupBy(progress?.failures ?? [], ({ subject }) => subject)
  const gifts = giftsIn(run)
  const settled = progress !== null && progress.done >= gifts.length ? 'received' : 'unknown'
  return gifts.map(gift => {
    const { line, quota, units, reference } = gift
    const failed = failures.get(quota.user_id)
    const why = (failed ?? noteFailures(gift)).map(whyOf).join('; ')
    const code = progress === null ? 'would' : failed === undefined ? settled : 'failed'
    const user = String(quota.user_id)
    const result = give.report.results[code]
    return {
      line,
      cells: [user, result, why, quotaName(quota), String(units), ...endCells(gift), code, reference ?? ''],
    }
  })
}

/** When units end, in the zone where they end at midnight. */
function endCells({ reference, until, time_zone }: Gift): [end: string, zone: string] {
  const { limitRaised, never } = give.report
  if (reference === null) return [limitRaised, '']
  return until === null ? [never, ''] : [zonedTime(until, time_zone), time_zone]
}
