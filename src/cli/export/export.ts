/** The command `export`: the lines of the API, as they come or as CSV. */
import type { TObject } from 'typebox'
import { DenialRecord } from '../../contract/denials.ts'
import { UsageRecord } from '../../contract/exports.ts'
import { SmsQuota } from '../../contract/quotas.ts'
import { ReservationRecord } from '../../contract/reservations.ts'
import { linesOf } from '../../http/platform/lines.ts'
import { type Arguments, UsageError } from '../arguments.ts'
import { unreachable } from '../import/sender.ts'
import { FAILED, NOT_ALLOWED, UNAVAILABLE } from '../remote/failures.ts'
import type { Address } from '../remote/profiles.ts'
import type { Terminal } from '../terminal.ts'
import { columnsOf, csvLine, csvLineOf } from './csv.ts'

/** What can be exported, and the schema of its records. */
const EXPORTS: Readonly<Record<string, TObject>> = {
  quotas: SmsQuota,
  usage: UsageRecord,
  denials: DenialRecord,
  ledger: ReservationRecord,
}

/** No record is longer, in bytes. */
const MAX_RECORD_BYTES = 1024 * 1024

/** The service refuses the call, or the response broke off. The message says why. */
class ExportFailed extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode: number) {
    super(message)
    this.exitCode = exitCode
  }
}

/** Writes the records of a list. @returns the exit code */
export async function exportRecords(args: Arguments, service: Address, terminal: Terminal): Promise<number> {
  const what = args.operand(0)
  const write = writerOf(args, EXPORTS[what])
  const query = new URLSearchParams(args.all('filter').map(readFilter))
  try {
    for await (const text of write(linesFrom(service, `${what}?${query}`))) await terminal.print(text)
    return 0
  } catch (error) {
    if (!(error instanceof ExportFailed)) throw error
    terminal.complain(`sms-quota: ${error.message}`)
    return error.exitCode
  }
}

function readFilter(text: string): [string, string] {
  const [, name, value] = /^(\w+)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined)
    throw new UsageError(`--filter is NAME=VALUE, such as user_id=7, not "${text}"`)
  return [name, value]
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
  if (format === 'csv') return lines => csvOf(lines, columns ?? all)
  if (format !== 'ndjson') throw new UsageError(`--format is ndjson or csv, not "${format}"`)
  if (columns !== undefined) throw new UsageError('--fields is for --format csv')
  return joined
}

async function* joined(lines: Lines): AsyncGenerator<string, void> {
  for await (const group of lines) yield group.map(line => `${line}\n`).join('')
}

async function* csvOf(lines: Lines, columns: ReturnType<typeof columnsOf>): AsyncGenerator<string, void> {
  yield csvLine(columns.map(({ name }) => name))
  for await (const group of lines) yield group.map(line => csvLineOf(columns, JSON.parse(line))).join('')
}

/** The lines of a response, in groups. @throws ExportFailed */
async function* linesFrom({ url, token }: Address, path: string): AsyncGenerator<string[], void> {
  try {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${url}/api/sms/admin/export/${path}`, { headers })
    if (response.status !== 200 || response.body === null) throw await refusalOf(response, url)
    for await (const lines of linesOf(response.body, MAX_RECORD_BYTES)) {
      yield lines.map(({ number, text }) => {
        if (text === null) throw new ExportFailed(`line ${number} of the response is not readable`, FAILED)
        return text
      })
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new ExportFailed(`${unreachable(url, error)}; the export is not complete`, UNAVAILABLE)
  }
}

async function refusalOf(response: Response, url: string): Promise<ExportFailed> {
  const { status } = response
  const exitCode = status === 401 || status === 403 ? NOT_ALLOWED : status === 503 ? UNAVAILABLE : FAILED
  try {
    const { title, detail, code } = JSON.parse(await response.text())
    return new ExportFailed(`${title}: ${detail} (${code})`, exitCode)
  } catch {
    return new ExportFailed(`what answers at ${url} is not sms-quota`, FAILED)
  }
}
