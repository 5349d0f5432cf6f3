/** The command `quota bulk`: shows what would change, asks, and reports what was done. */
import type { BulkRecord, BulkReq } from '../../../../client/src/api.ts'
import { toCamel } from '../../../../client/src/names.ts'
import type { Arguments } from '../../arguments.ts'
import { safe } from '../../safe.ts'
import type { Terminal } from '../../terminal.ts'
import { withIds } from '../find-ids.ts'
import type { Address } from '../profiles.ts'
import { columns, tableOf } from '../tables.ts'
import { type RunOptions, runConfirmed } from './confirmed.ts'
import { createManyRun, inWords, MAX_EXAMPLES, type ManyReport } from './many-run.ts'
import { divided, readRequest, SELECTION_FIELDS } from './requests.ts'

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
        return createManyRun(calls, createReport(terminal), options)
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

type Sample = Extract<BulkRecord, { record: 'sample' }>

function createReport(terminal: Terminal): ManyReport<BulkRecord> {
  const counts = { changed: 0, changedBefore: 0, unchanged: 0, failed: 0 }
  const examples: Sample[] = []
  return {
    noun: 'quota',
    counts,
    take(record) {
      if (record.record === 'sample' && examples.length < MAX_EXAMPLES) examples.push(record)
      if (record.record === 'end') for (const name of NAMES) counts[name] += record[name]
      if (record.record !== 'failed') return undefined
      return `quota ${record.quotaId}${ofUser(record.userId)}: ${record.detail}`
    },
    question: () => `Change ${inWords(counts.changed, 'quota')}?`,
    summary() {
      const before = counts.changedBefore === 0 ? '' : `, changed before ${counts.changedBefore.toLocaleString('en')}`
      const [changed, unchanged, failed] = [counts.changed, counts.unchanged, counts.failed].map(count =>
        count.toLocaleString('en'),
      )
      const table = examples.length === 0 ? '' : tableOf(examples, EXAMPLE_COLUMNS, terminal)
      return `${table}changed ${changed}${before}, unchanged ${unchanged}, refused ${failed}`
    },
  }
}

const NAMES = ['changed', 'changedBefore', 'unchanged', 'failed'] as const

const ofUser = (userId: number | null) => (userId === null ? '' : ` of user ${userId}`)

/** The fields that a bulk change can move. */
const MOVED = ['limit', 'enabled', 'expiresAt', 'status'] as const

const EXAMPLE_COLUMNS = columns<Sample>(
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
