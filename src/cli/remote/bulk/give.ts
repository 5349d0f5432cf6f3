/** The command `quota give`: shows who of a file would get units, asks, and reports what each line has got. */
import { writeFile } from 'node:fs/promises'
import type { GiveRecord, GiveReq } from '../../../../client/src/api.ts'
import { toCamel } from '../../../../client/src/names.ts'
import { isReference } from '../../../contract/patterns.ts'
import { csvLine } from '../../../domain/basics/csv.ts'
import type { CsvRow } from '../../../domain/basics/csv-rows.ts'
import { createRowFaults } from '../../../domain/basics/row-faults.ts'
import {
  type BadLine,
  REFERENCE,
  REFERENCE_NAME,
  readUsers,
  referencesIn,
  USER_NAMES,
  type UserFileProblem,
  type UserLine,
} from '../../../domain/quotas/user-file.ts'
import { type Arguments, UsageError } from '../../arguments.ts'
import { safe } from '../../safe.ts'
import type { Terminal } from '../../terminal.ts'
import { readFields } from '../fields.ts'
import { contentOf, csvRowsOf, encodingIn, openReport } from '../files.ts'
import { findUsers } from '../find-ids.ts'
import type { Address } from '../profiles.ts'
import { columns, tableOf } from '../tables.ts'
import { type RunOptions, runConfirmed } from './confirmed.ts'
import { createManyRun, inWords, MAX_EXAMPLES, MAX_PRINTED, type ManyReport } from './many-run.ts'
import { divided, GIVE_FIELDS } from './requests.ts'

type Gift = Extract<GiveRecord, { record: 'given' }>['gift']
type LeftOut = Extract<GiveRecord, { record: 'left_out' }>

/** @returns the exit code: 0 if each user has the units, 1 if a line is left out for another reason, or refused */
export async function giveMany(
  args: Arguments,
  service: Address,
  terminal: Terminal,
  progress: RunOptions['progress'],
): Promise<number> {
  const report = args.one('report')
  // What cannot be reported is not given.
  if (report !== undefined) {
    const target = await openReport({ path: report, option: '--report', read: args.operand(0) }, 'a')
    await target.close()
  }
  const rows = csvRowsOf(await contentOf(args.operand(0), 'FILE', encodingIn(args)), 'FILE')
  const fields = readFields(GIVE_FIELDS, args, terminal.timeZone)
  return runConfirmed({ args, service, terminal, progress }, async ({ client, call }) => {
    const named = await findUsers(referencesIn(rows).filter(isReference), call, progress)
    const file = fileOf(rows, named)
    const users = file.users.map(({ user_id, units }) => ({ user_id, ...(units === null ? {} : { units }) }))
    const requests = divided({ ...fields, users }).map(request => toCamel(request) as GiveReq)
    return {
      nameOf: nameOf(file.users),
      runOf(callOf, options) {
        const calls = users.length === 0 ? [] : requests.map((request, part) => client.give(request, callOf(part)))
        return createManyRun(calls, new GiveReport(file, report, options), options)
      },
    }
  })
}

/** How the command line names a field of the request. */
const nameOf = (users: readonly UserLine[]) => (path: string) => {
  const [, field = '', index = ''] = path.split('/')
  if (field !== 'users') return `--${safe(field).replaceAll('_', '-')}`
  return path.endsWith('/units') && users[0]?.units === null ? '--units' : `line ${users[Number(index)]?.line}`
}

interface UserFile {
  users: UserLine[]
  bad: BadLine[]
  /** How the file names users that it does not name by their ids. */
  names: ReadonlyMap<number, string>
}

/** @throws UsageError */
function fileOf(rows: readonly CsvRow[], named: ReadonlyMap<string, number>): UserFile {
  const read = readUsers(rows, named)
  if ('problem' in read) throw new UsageError(`FILE ${problemOf(read.problem)}`)
  if (read.users.length + read.bad.length === 0) throw new UsageError('FILE has no users')
  return { ...read, names: new Map([...named].map(([ref, userId]) => [userId, `${REFERENCE}${ref}`])) }
}

function problemOf(problem: UserFileProblem): string {
  if (problem.reason === 'twice') return `has two columns with the name ${problem.name}`
  return `needs a column of users: ${[...USER_NAMES, REFERENCE_NAME].join(', ')}`
}

const BAD: Record<BadLine['reason'], (text: string) => string> = {
  not_a_user: text => (text.startsWith(REFERENCE) ? 'is the reference of no user' : 'is no user id'),
  not_units: text => `${JSON.stringify(text)} is no number of units from 1`,
  too_many_cells: text => `has ${text} cells, more than the header`,
  twice: text => `is there twice, first in line ${text}`,
}

const WHY: Record<LeftOut['reason'], string> = {
  no_quota: 'has no quota, or is unknown to the service',
  only_caps: 'has only caps, no grant',
  unlimited: 'has an unlimited grant already',
  not_live: 'has a grant that does not count now',
  only_one_time: 'has only a one-time grant: --period null gives units to it',
  other_period: 'has a grant for another period',
  had_before: 'got these units for this reason before',
  got_others: 'got other units until the same end: --again gives more',
}

function whyOf({ reason, quota }: LeftOut): string {
  if (quota === null) return WHY[reason]
  const about = { not_live: quota.status, other_period: quota.period }[String(reason)]
  return `${WHY[reason]} (${[quotaName(quota), about].filter(part => part != null).join(', ')})`
}

const quotaName = ({ id, name }: { id: number; name: string | null }) => name ?? `quota ${id}`

function noteOf({ units, usable, earlier }: Gift): string {
  const capped = usable !== null && usable < units ? [`caps let about ${usable} of the units pass`] : []
  return [...capped, ...(earlier.length > 0 ? ['got other units until the same end'] : [])].join('; ')
}

/** One line of the report. */
interface Row {
  line: number
  user: string
  result: 'given' | 'given before' | 'left out' | 'refused'
  why?: string
  quota_id?: number
  grant?: string
  units?: number
  units_end?: string | null
  time_zone?: string
  reference?: string | null
}

const REPORT = [
  'line',
  'user',
  'result',
  'why',
  'quota_id',
  'grant',
  'units',
  'units_end',
  'time_zone',
  'reference',
] as const satisfies readonly (keyof Row)[]

class GiveReport implements ManyReport<GiveRecord> {
  readonly noun = 'user'
  private readonly reportFile: string | undefined
  private readonly options: RunOptions
  private readonly lines: ReadonlyMap<number, number>
  private readonly names: UserFile['names']
  private readonly rows: Row[]
  private hadBefore = 0
  private units = 0

  constructor({ users, bad, names }: UserFile, reportFile: string | undefined, options: RunOptions) {
    this.reportFile = reportFile
    this.options = options
    this.names = names
    this.lines = new Map(users.map(({ user_id, line }) => [user_id, line]))
    this.rows = bad.map(({ line, user, reason, text }) => ({ line, user, result: 'left out', why: BAD[reason](text) }))
  }

  private count(result: Row['result']): number {
    return this.rows.filter(row => row.result === result).length
  }

  get counts() {
    const [changed, failed] = [this.count('given'), this.count('refused')]
    return { changed, failed, without: this.count('left out') - this.hadBefore }
  }

  question(): string {
    return `Give ${inWords(this.units, 'unit')} to ${inWords(this.count('given'), 'user')}?`
  }

  take(record: GiveRecord): undefined {
    if ('userId' in record) this.rows.push(this.rowOf(record))
  }

  private rowOf(record: Extract<GiveRecord, { userId: number }>): Row {
    const { userId } = record
    const row = { line: this.lines.get(userId) ?? 0, user: this.names.get(userId) ?? String(userId) }
    switch (record.record) {
      case 'given': {
        const { quota, units, until, timeZone, reference } = record.gift
        this.units += units
        const named = { quota_id: quota.id, grant: quotaName(quota), why: noteOf(record.gift) }
        return { ...row, ...named, result: 'given', units, units_end: until, time_zone: timeZone, reference }
      }
      case 'given_before': {
        const { quotaId, units, until, reference } = record
        return { ...row, result: 'given before', quota_id: quotaId, units, units_end: until, reference }
      }
      case 'left_out':
        if (record.reason === 'had_before') this.hadBefore += 1
        return { ...row, result: 'left out', why: whyOf(record) }
      case 'failed':
        return { ...row, result: 'refused', why: record.detail }
    }
  }

  async finish(): Promise<void> {
    this.rows.sort((one, other) => one.line - other.line)
    const without = this.rows.filter(({ result }) => result === 'left out' || result === 'refused')
    const faults = createRowFaults()
    // What stands in parentheses is of the user.
    for (const { line, user, why = '' } of without)
      faults.add(line, '', why.replace(/ \(.*\)$/s, ''), safe(`line ${line}: user ${user}: ${why}`))
    const { lines, isWhole } = faults.shown(MAX_PRINTED)
    for (const line of lines) this.options.terminal.complain(line)
    if (!isWhole && this.reportFile === undefined) this.options.terminal.complain('--report FILE lists all')
    if (this.reportFile !== undefined && this.options.isFinal) await writeFile(this.reportFile, this.csv())
  }

  summary(): string {
    const { isDryRun, terminal } = this.options
    const given = this.rows.filter(({ result }) => result === 'given')
    const table = isDryRun && given.length > 0 ? tableOf(given.slice(0, MAX_EXAMPLES), EXAMPLES, terminal) : ''
    const before = this.count('given before')
    const counts = [
      `given ${given.length.toLocaleString('en')}`,
      ...(before === 0 ? [] : [`given before ${before.toLocaleString('en')}`]),
      `left out ${this.count('left out').toLocaleString('en')}`,
      `refused ${this.count('refused').toLocaleString('en')}`,
    ]
    return `${table}${counts.join(', ')}`
  }

  private csv(): string {
    return [csvLine(REPORT), ...this.rows.map(row => csvLine(REPORT.map(name => row[name] ?? '')))].join('')
  }
}

const EXAMPLES = columns<Row>(
  'user',
  'grant',
  'units',
  { title: 'units_end', value: row => row.units_end, none: 'never' },
  { title: 'note', value: row => row.why ?? '', none: '' },
)
