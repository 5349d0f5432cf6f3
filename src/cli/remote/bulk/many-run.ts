/** A run over calls that change many: what it prints of their records. */
import { toSnake } from '../../../../client/src/names.ts'
import { safe, safeJson, safeLines } from '../../safe.ts'
import { FAILED } from '../failures.ts'
import type { ConfirmedRun, RunOptions } from './confirmed.ts'

/** What could not be changed, as far as it is printed, and what would change. */
export const MAX_PRINTED = 20
export const MAX_EXAMPLES = 5

interface ManyRecord {
  readonly record: string
}

/** The report of a run: what a command makes of its records. */
export interface ManyReport<Rec extends ManyRecord> {
  /** What is counted: "quota". */
  readonly noun: string
  /** Adds up a record. @returns what to complain about */
  take(record: Rec): string | undefined
  /** How many are changed, refused, and left without what they were to get. */
  readonly counts: { readonly changed: number; readonly failed: number; readonly without?: number }
  /** What to ask before they are changed. */
  question(): string
  /** Called at the end, also if all is printed as JSON. */
  finish?(): Promise<void>
  /** Examples of a dry run, as a table, and the counts, without the last line break unless the note of a dry run shall stand on a line of its own. */
  summary(): string
}

export const inWords = (count: number, one: string) =>
  count === 1 ? `1 ${one}` : `${count.toLocaleString('en')} ${one}s`

export function createManyRun<Rec extends ManyRecord>(
  calls: readonly AsyncIterable<Rec>[],
  report: ManyReport<Rec>,
  options: RunOptions,
): ConfirmedRun {
  const { terminal, progress, isDryRun, isJson } = options
  const printed = new Map<string, number>()
  const bulkIds = new Set<unknown>()
  /** Of the calls that have ended. */
  let tried = 0

  async function take(record: Rec): Promise<void> {
    if (isJson) await terminal.print(`${safeJson(JSON.stringify(toSnake(record)))}\n`)
    if ('bulkId' in record) bulkIds.add(record.bulkId)
    const complaint = report.take(record)
    if (complaint !== undefined) {
      const number = (printed.get(record.record) ?? 0) + 1
      printed.set(record.record, number)
      progress?.('')
      if (number <= MAX_PRINTED) terminal.complain(safe(complaint))
    }
    if (record.record === 'progress') progress?.(`${inWords(tried + triedIn(record), report.noun)} done`)
    if (record.record === 'end') tried += triedIn(record)
  }

  return {
    async finish() {
      for (const call of calls) for await (const record of call) await take(record)
      progress?.('')
    },
    async report() {
      const more = report.counts.failed - MAX_PRINTED
      if (more > 0 && printed.has('failed')) terminal.complain(`and ${inWords(more, report.noun)} more`)
      await report.finish?.()
      if (isJson) return
      const summary = safeLines(report.summary())
      const note = `${summary.endsWith('\n') ? '' : ' '}(dry run: nothing was changed)`
      await terminal.print(`${summary}${isDryRun ? note : ''}\n`)
      if (!isDryRun && report.counts.changed > 0)
        terminal.complain(`The audit shows the changes under the request ${safe([...bulkIds].join(', '))}.`)
    },
    get exitCode() {
      const { failed, without = 0 } = report.counts
      return failed + without === 0 ? 0 : FAILED
    },
    get question() {
      return report.counts.changed === 0 ? null : safe(report.question())
    },
  }
}

/** How many were tried, by the counts of a record. */
function triedIn(record: object): number {
  const counts = 'users' in record && typeof record.users === 'object' ? { ...record.users } : record
  return Object.values(counts).reduce((sum, count) => (typeof count === 'number' ? sum + count : sum), 0)
}
