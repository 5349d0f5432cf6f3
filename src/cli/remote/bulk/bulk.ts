/** The command `quota bulk`: shows what would change, asks, and reports what was done. */
import { randomUUID } from 'node:crypto'
import type { BulkRecord, BulkReq, SmsQuota } from '../../../../client/src/api.ts'
import { toCamel, toSnake } from '../../../../client/src/names.ts'
import { type Arguments, UsageError } from '../../arguments.ts'
import { safe, safeJson } from '../../safe.ts'
import type { Terminal } from '../../terminal.ts'
import { connect } from '../connection.ts'
import { FAILED, failureOf } from '../failures.ts'
import type { Address } from '../profiles.ts'
import { columns, tableOf } from '../tables.ts'
import { readRequests } from './requests.ts'

/** Quotas that could not be changed, and examples, that are printed. */
const MAX_PRINTED = 20
const MAX_EXAMPLES = 5

type Progress = ((text: string) => void) | undefined

/** @returns the exit code: 0 if all quotas are as the change makes them, 1 if some could not be changed */
export async function changeMany(
  args: Arguments,
  service: Address,
  terminal: Terminal,
  progress: Progress,
): Promise<number> {
  const requests = (await readRequests(args, terminal.timeZone)).map(request => toCamel(request) as BulkReq)
  const isDryRun = args.has('dry-run')
  const asks = !isDryRun && !args.has('yes')
  if (asks && terminal.ask === null) throw new UsageError('give --yes: there is no terminal to ask on')
  const key = args.one('idempotency-key') ?? randomUUID()
  const { client } = connect(service)
  let signal: AbortSignal | undefined
  const run = (dryRun: boolean) => {
    // A dry run is interrupted by the end of the process.
    signal = dryRun ? undefined : terminal.interruption()
    const interruptible = signal === undefined ? {} : { signal }
    const calls = requests.map((request, part) => {
      const idempotencyKey = part === 0 ? key : `${key}-${part + 1}`
      return client.bulk(request, { idempotencyKey, dryRun, ...interruptible })
    })
    return new Run(calls, { terminal, progress, isDryRun: dryRun, isJson: args.has('json') && dryRun === isDryRun })
  }
  try {
    if (isDryRun || asks) {
      const preview = run(true)
      await preview.finish()
      await preview.report()
      if (isDryRun) return preview.exitCode
      if (preview.counts.changed === 0) return preview.exitCode
      const answer = await terminal.ask?.(`Change ${inWords(preview.counts.changed)}? [y/N] `)
      if (!/^y(es)?$/i.test(answer?.trim() ?? '')) {
        terminal.complain('Nothing was changed.')
        return FAILED
      }
    }
    const made = run(false)
    await made.finish()
    await made.report()
    return made.exitCode
  } catch (error) {
    progress?.('')
    if (signal?.aborted === true) {
      terminal.complain(`Interrupted. To go on: the same command with --idempotency-key ${key}`)
      return FAILED
    }
    const failure = failureOf(error, { url: service.url, idempotencyKey: key, nameOf })
    if (failure === undefined) throw error
    terminal.complain(`sms-quota: ${failure.message}`)
    return failure.exitCode
  }
}

/** How the command line names a field of the request: `/select/user_ids`. */
function nameOf(path: string): string {
  const [, part, field] = path.split('/')
  if (path === '/select') return 'the selection'
  if (path === '/change') return 'the change'
  return part === 'select' || part === 'change' ? `--${safe(field ?? '').replaceAll('_', '-')}` : safe(path)
}

const inWords = (count: number) => (count === 1 ? '1 quota' : `${count.toLocaleString('en')} quotas`)

interface RunOptions {
  terminal: Terminal
  progress: Progress
  isDryRun: boolean
  isJson: boolean
}

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
