/** The command `quota bulk`: shows what would change, asks, and reports what was done. */
import type { BulkRecord, BulkReq, SmsQuota } from '../../../../client/src/api.ts'
import { toCamel, toSnake } from '../../../../client/src/names.ts'
import type { Arguments } from '../../arguments.ts'
import { safe, safeJson } from '../../safe.ts'
import type { Terminal } from '../../terminal.ts'
import { FAILED } from '../failures.ts'
import { withIds } from '../find-ids.ts'
import type { Address } from '../profiles.ts'
import { columns, tableOf } from '../tables.ts'
import { MAX_PRINTED, type RunOptions, runConfirmed } from './confirmed.ts'
import { divided, readRequest, SELECTION_FIELDS } from './requests.ts'

const MAX_EXAMPLES = 5

/** @returns the exit code: 0 if all quotas are as the change makes them, 1 if some could not be changed */
export async function changeMany(
  args: Arguments,
  service: Address,
  terminal: Terminal,
  progress: RunOptions['progress'],
): Promise<number> {
  const { select, change } = await readRequest(args, terminal.timeZone)
  return runConfirmed({ args, service, terminal, progress }, async ({ client, call }) => {
    const found = await withIds(select, SELECTION_FIELDS, call, progress)
    const requests = divided(found).map(part => toCamel({ select: part, change }) as BulkReq)
    return {
      nameOf,
      runOf(callOf, options) {
        const calls = requests.map((request, part) => client.bulk(request, callOf(part)))
        return new Run(calls, options)
      },
    }
  })
}

/** How the command line names a field of the request: `/select/user_ids`. */
function nameOf(path: string): string {
  const [, part, field] = path.split('/')
  if (path === '/select') return 'the selection'
  if (path === '/change') return 'the change'
  return part === 'select' || part === 'change' ? `--${safe(field ?? '').replaceAll('_', '-')}` : safe(path)
}

const inWords = (count: number) => (count === 1 ? '1 quota' : `${count.toLocaleString('en')} quotas`)

/** One run over all calls, real or dry. */
class Run {
  readonly counts = { changed: 0, changedBefore: 0, unchanged: 0, failed: 0 }
  private readonly calls: readonly AsyncIterable<BulkRecord>[]
  private readonly options: RunOptions
  private readonly examples: { before: SmsQuota; after: SmsQuota }[] = []
  private readonly bulkIds = new Set<string>()
  private printed = 0

  constructor(calls: readonly AsyncIterable<BulkRecord>[], options: RunOptions) {
    this.calls = calls
    this.options = options
  }

  get exitCode(): number {
    return this.counts.failed === 0 ? 0 : FAILED
  }

  get question(): string | null {
    return this.counts.changed === 0 ? null : `Change ${inWords(this.counts.changed)}?`
  }

  async finish(): Promise<void> {
    for (const call of this.calls) for await (const record of call) await this.take(record)
    this.options.progress?.('')
  }

  private async take(record: BulkRecord): Promise<void> {
    const { terminal, progress, isJson } = this.options
    if (isJson) await terminal.print(`${safeJson(JSON.stringify(toSnake(record)))}\n`)
    switch (record.record) {
      case 'begin':
        this.bulkIds.add(record.bulkId)
        return
      case 'failed':
        this.printed += 1
        progress?.('')
        if (this.printed <= MAX_PRINTED)
          terminal.complain(`quota ${record.quotaId}${ofUser(record.userId)}: ${safe(record.detail)}`)
        return
      case 'sample':
        if (this.examples.length < MAX_EXAMPLES) this.examples.push(record)
        return
      case 'progress':
        progress?.(`${inWords(record.changed + record.changedBefore + this.counts.changed)} done`)
        return
      case 'end':
        for (const name of ['changed', 'changedBefore', 'unchanged', 'failed'] as const)
          this.counts[name] += record[name]
    }
  }

  async report(): Promise<void> {
    const { terminal, isDryRun, isJson } = this.options
    const { changed, changedBefore, unchanged, failed } = this.counts
    if (failed > MAX_PRINTED) terminal.complain(`and ${inWords(failed - MAX_PRINTED)} more`)
    if (isJson) return
    if (this.examples.length > 0) await terminal.print(tableOf(this.examples, EXAMPLE_COLUMNS, terminal))
    const before = changedBefore === 0 ? '' : `, changed before ${changedBefore.toLocaleString('en')}`
    const counts = [changed, unchanged, failed].map(count => count.toLocaleString('en'))
    const text = safe(`changed ${counts[0]}${before}, unchanged ${counts[1]}, refused ${counts[2]}`)
    await terminal.print(isDryRun ? `${text} (dry run: nothing was changed)\n` : `${text}\n`)
    if (!isDryRun && changed > 0)
      terminal.complain(`The audit shows the changes under the request ${[...this.bulkIds].join(', ')}.`)
  }
}

const ofUser = (userId: number | null) => (userId === null ? '' : ` of user ${userId}`)

/** The fields that a bulk change can move. */
const MOVED = ['limit', 'enabled', 'expiresAt', 'status'] as const

const EXAMPLE_COLUMNS = columns<{ before: SmsQuota; after: SmsQuota }>(
  { title: 'id', value: ({ before }) => before.id },
  { title: 'user_id', value: ({ before }) => before.userId },
  { title: 'name', value: ({ before }) => before.name },
  {
    title: 'change',
    value: ({ before, after }) =>
      MOVED.filter(field => before[field] !== after[field])
        .map(field => `${field === 'expiresAt' ? 'expires_at' : field} ${before[field]} → ${after[field]}`)
        .join(', '),
  },
)
