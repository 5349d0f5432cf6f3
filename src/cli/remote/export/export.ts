/** The command `export`: the lines of the API, as they come or as CSV. */
import type { TObject } from 'typebox'
import { textOf } from '../../../../client/src/answers.ts'
import { AuditEntry } from '../../../contract/audit.ts'
import { Customer } from '../../../contract/customers.ts'
import { DenialRecord } from '../../../contract/denials.ts'
import { UsageRecord } from '../../../contract/exports.ts'
import { SmsQuota } from '../../../contract/quotas.ts'
import { ReservationRecord } from '../../../contract/reservations.ts'
import { csvLine, csvRecord } from '../../../domain/basics/csv.ts'
import { exportedValue } from '../../../domain/quotas/quota-file.ts'
import { REFERENCE } from '../../../domain/quotas/user-file.ts'
import { linesOf } from '../../../http/platform/ndjson.ts'
import { type Arguments, UsageError } from '../../arguments.ts'
import { safeJson, safeLines } from '../../safe.ts'
import type { Terminal } from '../../terminal.ts'
import { CallFailed, callFailed, FAILED, refusalOf } from '../failures.ts'
import type { Address } from '../profiles.ts'

/** What can be exported, and the schema of its records. */
const EXPORTS: Readonly<Record<string, TObject>> = {
  quotas: SmsQuota,
  usage: UsageRecord,
  denials: DenialRecord,
  ledger: ReservationRecord,
  audit: AuditEntry,
  customers: Customer,
}

/** No record is longer, in bytes. */
const MAX_RECORD_BYTES = 1024 * 1024

/** Writes the records of a list. @returns the exit code */
export async function exportRecords(args: Arguments, service: Address, terminal: Terminal): Promise<number> {
  const what = args.operand(0)
  const write = writerOf(args, EXPORTS[what])
  const query = new URLSearchParams(args.all('filter').map(readFilter))
  try {
    // A file gets the texts as they are; a terminal would obey some characters in them.
    const shown = terminal.columns === null ? (text: string) => text : safeLines
    for await (const text of write(linesFrom(service, `${what}?${query}`))) await terminal.print(shown(text))
    return 0
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error
    terminal.complain(`sms-quota: ${error.message}\nThe export is not complete.`)
    return error.exitCode
  }
}

function readFilter(text: string): [string, string] {
  const [, name, value] = /^(\w+)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined)
    throw new UsageError(`--filter is NAME=VALUE, such as user_id=7, not "${text}"`)
  const isReference = name === 'user_id' && value.startsWith(REFERENCE)
  return isReference ? ['user_ref', value.slice(REFERENCE.length)] : [name, value]
}

type Lines = AsyncIterable<readonly string[]>

/** What makes the output of the lines of a response. @throws UsageError */
function writerOf(args: Arguments, schema: TObject | undefined): (lines: Lines) => AsyncIterable<string> {
  const format = args.one('format') ?? 'ndjson'
  const all = columnsOf(schema ?? {})
  const names = args.one('fields')?.split(',')
  const columns = names?.map(name => {
    const column = all.find(one => one.name === name)
    if (column === undefined)
      throw new UsageError(`--fields has no "${name}"; fields are ${all.map(one => one.name).join(', ')}`)
    return column
  })
  // Only a file of quotas is read again.
  const lineOf = schema === SmsQuota ? csvRecord : csvLine
  if (format === 'csv') return lines => csvOf(lines, columns ?? all, lineOf)
  if (format !== 'ndjson') throw new UsageError(`--format is ndjson or csv, not "${format}"`)
  if (columns !== undefined) throw new UsageError('--fields is for --format csv')
  return joined
}

async function* joined(lines: Lines): AsyncGenerator<string, void> {
  for await (const group of lines) yield group.map(line => `${safeJson(line)}\n`).join('')
}

async function* csvOf(lines: Lines, columns: readonly Column[], lineOf: typeof csvLine): AsyncGenerator<string, void> {
  yield lineOf(columns.map(({ name }) => name))
  for await (const group of lines) yield group.map(line => lineOf(valuesOf(columns, recordIn(line)))).join('')
}

/** @throws CallFailed if it is no JSON */
export function recordIn(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw new CallFailed({ message: 'a line of the response is not JSON', exitCode: FAILED })
  }
}

/** The lines of a response, in groups. @throws CallFailed if the service refuses the call, or the response breaks off */
export async function* linesFrom({ url, token }: Address, path: string): AsyncGenerator<string[], void> {
  try {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${url}/api/sms/admin/export/${path}`, { headers, redirect: 'manual' })
    const isLines = response.status === 200 && response.headers.get('content-type')?.includes('ndjson') === true
    if (!isLines || response.body === null) throw refusalOf(response, await textOf(response))
    for await (const lines of linesOf(response.body, MAX_RECORD_BYTES)) {
      yield lines.map(({ number, text }) => {
        if (text === null)
          throw new CallFailed({ message: `line ${number} of the response is not readable`, exitCode: FAILED })
        return text
      })
    }
  } catch (error) {
    throw callFailed(error, url) ?? error
  }
}

/** The part of JSON Schema that records use. */
interface RecordSchema {
  type?: string
  properties?: Record<string, RecordSchema>
}

/** A column: its name, and where its value is in a record. */
interface Column {
  name: string
  path: readonly string[]
}

/** The columns of a record, in the order of its schema. The fields of an object within have a column each: `denied.units`. */
function columnsOf(schema: RecordSchema, path: readonly string[] = []): Column[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const at = [...path, name]
    return field.properties === undefined ? [{ name: at.join('.'), path: at }] : columnsOf(field, at)
  })
}

function valuesOf(columns: readonly Column[], record: unknown): unknown[] {
  return columns.map(({ name, path }) => exportedValue(name, valueAt(record, path)))
}

function valueAt(record: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], record)
}
