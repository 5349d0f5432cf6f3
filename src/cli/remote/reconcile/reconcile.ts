/** The command `reconcile`: the bill is read, the ledger is compared with it as it is read, and then what differs is reported and settled. */
import type { FileHandle } from 'node:fs/promises'
import type { ReservationRecord } from '../../../contract/reservations.ts'
import { csvLine } from '../../../domain/basics/csv.ts'
import { type Permission, rolesWith } from '../../../domain/basics/role.ts'
import { REFERENCE } from '../../../domain/quotas/user-file.ts'
import { type Arguments, UsageError } from '../../arguments.ts'
import type { Terminal } from '../../terminal.ts'
import { inWords } from '../bulk/many-run.ts'
import { type Connection, connect } from '../connection.ts'
import { linesFrom, recordIn } from '../export/export.ts'
import { callFailed } from '../failures.ts'
import { readFields } from '../fields.ts'
import { openReport } from '../files.ts'
import type { Address } from '../profiles.ts'
import { columns, tableOf } from '../tables.ts'
import { type Bill, type BillFormat, billFiles, billLines, formatIn, keyOf, PERIOD, readBill } from './bill.ts'
import { type BillTable, NONE } from './bill-table.ts'
import { compare, isOpen, RESULTS, type Result, spentIn } from './compare.ts'
import { createSettling, type Settling } from './settle.ts'

const COULD_NOT = 2
const REPORT = 'file,line,id,user,result,units_here,units_there,segments_there,settled'.split(',')
/** A message may be reserved some days before the provider bills it, or be billed by the clock of another time zone. */
const MARGIN_MS = 3 * 86_400_000

interface Order {
  files: readonly string[]
  format: BillFormat
  from: number
  to: number
  report: string | undefined
}

/** @returns the exit code */
export async function reconcile(
  args: Arguments,
  service: Address,
  terminal: Terminal,
  progress: ((text: string) => void) | undefined,
): Promise<number> {
  const settles = args.has('settle')
  if (settles && !args.has('yes') && terminal.ask === null)
    throw new UsageError('give --yes: there is no terminal to ask on')
  const period = readFields(PERIOD, args, terminal.timeZone)
  const timeOf = (name: string, otherwise: number) => (name in period ? Date.parse(String(period[name])) : otherwise)
  const order: Order = {
    files: await billFiles(args.operands),
    format: formatIn(args),
    from: timeOf('from', Number.NEGATIVE_INFINITY),
    to: timeOf('to', Number.POSITIVE_INFINITY),
    report: args.one('report'),
  }
  if (order.from >= order.to) throw new UsageError('--from must be before --to')
  let settling: Settling | undefined
  const run = { ...order, ...connect(service), service, progress }
  try {
    const bill = await readBill(order.files, order.format, progress)
    await checkRoles(run, settles)
    const report = await openOwnReport(order)
    try {
      await report.add(REPORT)
      const counts = await compareLedger(run, bill, report)
      progress?.('')
      await terminal.print(
        tableOf(
          counts.filter(({ messages }) => messages > 0),
          TABLE,
          terminal,
        ),
      )
      const different = counts.reduce((sum, { result, messages }) => sum + (result === 'equal' ? 0 : messages), 0)
      if (settles && (await isConfirmed(bill.table, args, terminal)))
        settling = createSettling(run, terminal.interruption())
      if (order.report !== undefined || settling !== undefined) await reportBill(run, bill.table, report, settling)
      progress?.('')
      if (settling !== undefined) await sayWhatIsSettled(settling, terminal)
      if (settling?.isDone === false) return COULD_NOT
      return different > (settling?.settled ?? 0) ? 1 : 0
    } finally {
      await report.close()
    }
  } catch (error) {
    progress?.('')
    const failure = callFailed(error, service.url)
    if (failure === undefined && !(error instanceof Error && 'syscall' in error)) throw error
    terminal.complain(`sms-quota: ${(failure ?? (error as Error)).message}`)
    if (settling !== undefined) await sayWhatIsSettled(settling, terminal)
    return COULD_NOT
  }
}

type Run = Order & Connection & { service: Address; progress: ((text: string) => void) | undefined }

async function sayWhatIsSettled({ settled, refused, faults, isDone }: Settling, terminal: Terminal): Promise<void> {
  for (const line of faults()) terminal.complain(line)
  await terminal.print(`settled ${settled.toLocaleString('en')}, refused ${refused.toLocaleString('en')}\n`)
  if (!isDone) terminal.complain('To go on: the same command again. What is settled stays as it is.')
}

/** @throws UsageError with the roles that are missing */
async function checkRoles({ call }: Connection, settles: boolean): Promise<void> {
  const { roles } = (await call('whoAmI', {})) as { roles: readonly string[] }
  const needed: readonly Permission[] = settles ? ['export', 'send', 'force'] : ['export']
  const missing = needed.map(permission => rolesWith(permission)).filter(any => !any.some(role => roles.includes(role)))
  if (missing.length > 0)
    throw new UsageError(
      `the token lacks the role ${missing.map(any => any.join(' or ')).join(', and ')}; nothing was done`,
    )
}

/* ── The comparison ─────────────────────────────────────────────────────────────────────────────────────────────── */

interface Count {
  result: Result
  messages: number
  units_here: number
  /** null: the bill does not say it. */
  units_there: number | null
}

const TABLE = columns<Count>('result', 'messages', 'units_here', 'units_there')

const fieldOf = (
  table: BillTable,
  message: number,
  field: 'segments' | 'units' | 'result' | 'commit' | 'release' | 'refund',
) => {
  const value = table.get(message, field)
  return value === NONE ? null : value
}

async function compareLedger(
  { service, from, to, progress }: Run,
  { table, nameless }: Bill,
  report: OwnReport,
): Promise<Count[]> {
  const counts = RESULTS.map((result): Count => ({ result, messages: 0, units_here: 0, units_there: null }))
  const count = (result: Result, here: number, there: number | null, by: 1 | -1 = 1) => {
    const one = counts[RESULTS.indexOf(result)]
    if (one === undefined) return
    one.messages += by
    one.units_here += by * here
    if (there !== null) one.units_there = (one.units_there ?? 0) + by * there
  }
  const query = new URLSearchParams()
  if (Number.isFinite(from)) query.set('from', new Date(from - MARGIN_MS).toISOString())
  if (Number.isFinite(to)) query.set('to', new Date(to + MARGIN_MS).toISOString())
  let read = 0
  for await (const lines of linesFrom(service, `ledger?${query}`)) {
    for (const line of lines) {
      const record = recordIn(line) as ReservationRecord
      // The service's own, such as transfers, are no messages.
      if (record.id.startsWith('_')) continue
      const message = messageOf(table, record)
      const here = spentIn(record)
      if (message !== undefined) {
        const before = RESULTS[table.get(message, 'result')]
        if (before !== undefined) count(before, table.get(message, 'here'), table.get(message, 'units'), -1)
        const result = before === undefined ? match(table, message, record) : severalUsers(table, message, here)
        count(result, table.get(message, 'here'), table.get(message, 'units'))
      } else if (
        Date.parse(record.created_at) >= from &&
        Date.parse(record.created_at) < to &&
        (here > 0 || isOpen(record))
      ) {
        const result = isOpen(record) ? 'still open' : 'missing there'
        count(result, here, null)
        await report.add(['', '', record.id, record.user_id, result, here, '', '', ''])
      }
    }
    read += lines.length
    progress?.(`${read.toLocaleString('en')} reservations compared`)
  }
  for (let message = 0; message < table.size; message += 1)
    if (table.get(message, 'result') === NONE) count('missing here', 0, fieldOf(table, message, 'units'))
  for (let line = 0; line < nameless; line += 1) count('missing here', 0, null)
  return counts
}

function messageOf(table: BillTable, { id, user_id, user_ref }: ReservationRecord): number | undefined {
  const names = ['', String(user_id), ...(user_ref == null ? [] : [`${REFERENCE}${user_ref}`])]
  return names.map(name => table.find(keyOf(id, name))).find(message => message !== undefined)
}

function match(table: BillTable, message: number, record: ReservationRecord): Result {
  const [segments, units] = [fieldOf(table, message, 'segments'), fieldOf(table, message, 'units')]
  const { result, owed, settle } = compare({ isFailed: table.get(message, 'isFailed') === 1, segments, units }, record)
  const { user_id } = record
  const user = { userHigh: Math.floor(user_id / 2 ** 32), userLow: user_id % 2 ** 32 }
  table.set(message, { ...user, ...settle, units: owed, result: RESULTS.indexOf(result), here: spentIn(record) })
  return result
}

/** Which of them the bill means is not known, so nothing is settled. */
function severalUsers(table: BillTable, message: number, spent: number): Result {
  const result = 'several users'
  const here = table.get(message, 'here') + spent
  table.set(message, { result: RESULTS.indexOf(result), here, commit: NONE, release: NONE, refund: NONE })
  return result
}

/* ── What becomes of it ─────────────────────────────────────────────────────────────────────────────────────────── */

const STEPS = ['commit', 'release', 'refund'] as const

async function isConfirmed(table: BillTable, args: Arguments, terminal: Terminal): Promise<boolean> {
  let messages = 0
  for (let message = 0; message < table.size; message += 1)
    if (STEPS.some(step => table.get(message, step) !== NONE)) messages += 1
  if (messages === 0) return false
  if (args.has('yes')) return true
  const answer = await terminal.ask?.(`Settle ${inWords(messages, 'message')}? [y/N] `)
  if (/^y(es)?$/i.test(answer?.trim() ?? '')) return true
  terminal.complain('Nothing was changed.')
  return false
}

/** Goes through the bill again, whose ids are not in memory. */
async function reportBill(
  { files, format, progress }: Run,
  table: BillTable,
  report: OwnReport,
  settling: Settling | undefined,
): Promise<void> {
  for await (const { file, line, id, user } of billLines(files, format)) {
    if (settling?.isInterrupted === true) return
    const message = id === '' ? undefined : table.find(keyOf(id, user))
    const isFirst = message !== undefined && table.get(message, 'file') === file && table.get(message, 'line') === line
    if (id !== '' && !isFirst) continue
    const result = message === undefined ? undefined : RESULTS[table.get(message, 'result')]
    if (result === 'equal') continue
    const userId =
      message === undefined || result === undefined
        ? null
        : table.get(message, 'userHigh') * 2 ** 32 + table.get(message, 'userLow')
    const here = message === undefined || result === undefined ? 0 : table.get(message, 'here')
    const there =
      message === undefined
        ? ['', '']
        : [fieldOf(table, message, 'units') ?? '', fieldOf(table, message, 'segments') ?? '']
    const row = [files[file], line, id, userId ?? user, result ?? 'missing here', here, ...there]
    const steps =
      message === undefined || userId === null
        ? []
        : STEPS.flatMap(op => {
            const total_units = fieldOf(table, message, op)
            return total_units === null
              ? []
              : [{ op, user_id: userId, id, total_units, ...(op === 'commit' ? { force: true } : {}) }]
          })
    if (settling === undefined || steps.length === 0) await report.add([...row, ''])
    else
      await settling.add({
        steps,
        done: settled => report.add([...row, settled]),
        shown: `${files[file]}: line ${line}`,
        line,
      })
    progress?.(settling === undefined ? 'writing the report' : `${settling.settled.toLocaleString('en')} settled`)
  }
  await settling?.flush()
}

interface OwnReport {
  add(values: readonly unknown[]): Promise<void>
  close(): Promise<void>
}

/** Lines that are written at once. */
const BLOCK = 1_000

/** The file for differences; without one, they are dropped. @throws UsageError */
async function openOwnReport({ report: path, files }: Order): Promise<OwnReport> {
  let file: FileHandle | undefined
  if (path !== undefined) {
    for (const read of files) await (await openReport({ path, option: '--report', read }, 'a')).close()
    file = await openReport({ path, option: '--report', read: files[0] ?? '' }, 'w')
  }
  let lines: string[] = []
  const write = async () => {
    await file?.writeFile(lines.join(''))
    lines = []
  }
  return {
    async add(values) {
      lines.push(csvLine(values))
      if (lines.length >= BLOCK) await write()
    },
    async close() {
      await write()
      await file?.close()
    },
  }
}
