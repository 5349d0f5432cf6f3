/** Changes of many quotas, which the service reports line by line: repeated until all is done. */
import type {
  Api,
  BulkRecord,
  BulkReq,
  GiveRecord,
  GiveReq,
  ImportRecord,
  ImportRow,
  RollOutRecord,
  RollOutReq,
} from './api.ts'
import { UnavailableError } from './errors.ts'
import { toSnake } from './names.ts'
import type { CallOptions, Transport } from './transport.ts'

/** Of a change of many quotas. */
interface ManyOptions {
  /** Whether to only report what would change. */
  dryRun?: boolean
  signal?: AbortSignal
  /** How long it goes on without progress, because the service restarts; 60,000 if left out. */
  timeoutMs?: number
}

export interface BulkOptions extends ManyOptions {
  /** Names the bulk change, so that a later call can go on with it for 24 hours. By default a new one. */
  idempotencyKey?: string
}

export interface ImportOptions extends ManyOptions {
  /** The request id of the changes in histories and in the audit. By default a new one. */
  requestId?: string
}

export type ImportInput = Iterable<ImportRow> | AsyncIterable<ImportRow>

const TIMEOUT_MS = 60_000
/** The life of a key. */
const MAX_CALL_MS = 86_400_000
const RETRY_MS = 500

/** Of the client: its clock, and what waits for this many milliseconds. */
interface Timing {
  now(): number
  sleep(ms: number): Promise<void>
}

export function bulk(
  api: Pick<Api<CallOptions>, 'bulkChangeQuotas'>,
  input: BulkReq,
  options: BulkOptions,
  timing: Timing,
): AsyncGenerator<BulkRecord, void> {
  const dryRun = options.dryRun === true ? 'true' : 'false'
  return repeated(call => api.bulkChangeQuotas({ ...input, dryRun }, call), options, timing)
}

/** Each user has one record, also after a break. */
export async function* give(
  api: Pick<Api<CallOptions>, 'giveUnits'>,
  input: GiveReq,
  options: BulkOptions,
  timing: Timing,
): AsyncGenerator<GiveRecord, void> {
  const dryRun = options.dryRun === true ? 'true' : 'false'
  const reported = new Set<number>()
  for await (const record of repeated(call => api.giveUnits({ ...input, dryRun }, call), options, timing)) {
    if ('userId' in record) {
      if (reported.has(record.userId)) continue
      reported.add(record.userId)
    }
    yield record
  }
}

export interface RollOutOptions extends BulkOptions {
  /** The version of the plan that shall be given, such as that of a dry run. If it has another one, the call is refused with `version_mismatch`. */
  ifMatch?: number
}

/** Who gets a plan. */
export type RollOutInput = { readonly id: number } & Omit<RollOutReq, 'dryRun'>

export function rollOut(
  api: Pick<Api<CallOptions>, 'rollOutPlan'>,
  input: RollOutInput,
  options: RollOutOptions,
  timing: Timing,
): AsyncGenerator<RollOutRecord, void> {
  const { dryRun = false, ifMatch } = options
  const match = ifMatch === undefined ? {} : { ifMatch }
  return repeated(call => api.rollOutPlan({ ...input, dryRun }, { ...call, ...match }), options, timing)
}

/** The records of a call that is repeated until it has ended. */
async function* repeated<Record extends BulkRecord | GiveRecord | RollOutRecord>(
  ask: (options: CallOptions) => Promise<AsyncIterable<Record>>,
  { signal, timeoutMs = TIMEOUT_MS, idempotencyKey = crypto.randomUUID() }: BulkOptions,
  { now, sleep }: Timing,
): AsyncGenerator<Record, void> {
  /** When it last came on; undefined until the service has answered. */
  let lastAt: number | undefined
  for (;;) {
    const silence = new Silence(timeoutMs)
    try {
      const signals = signal === undefined ? [silence.signal] : [silence.signal, signal]
      const call = { idempotencyKey, timeoutMs: MAX_CALL_MS, signal: AbortSignal.any(signals) }
      const records = await ask(call)
      lastAt ??= now()
      for await (const record of records) {
        silence.end()
        if (record.record !== 'begin') lastAt = now()
        if (record.record === 'stopped') throw new UnavailableError(record.detail, { mayHaveTakenEffect: true })
        yield record
        if (record.record === 'end') return
        silence.begin()
      }
      throw new UnavailableError('the response is not complete', { mayHaveTakenEffect: true })
    } catch (error) {
      signal?.throwIfAborted()
      // Before an answer, the client has repeated the call already, and waited until calls are made again.
      if (lastAt === undefined || !isBroken(error)) throw error
      if (now() - lastAt > timeoutMs) throw unavailable(error)
      await sleep(RETRY_MS)
    } finally {
      silence.end()
    }
  }
}

/** Whether a response broke off: `fetch` reports a TypeError. */
const isBroken = (error: unknown) => error instanceof UnavailableError || error instanceof TypeError

function unavailable(error: unknown): UnavailableError {
  if (error instanceof UnavailableError) return error
  return new UnavailableError('the connection broke off', { mayHaveTakenEffect: true, cause: error })
}

/** Aborts a call that says nothing for a time. */
class Silence {
  private readonly controller = new AbortController()
  private readonly ms: number
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(ms: number) {
    this.ms = ms
    this.begin()
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }

  begin(): void {
    const error = new UnavailableError('the service says nothing any more', { mayHaveTakenEffect: true })
    this.timer = setTimeout(() => this.controller.abort(error), this.ms)
  }

  end(): void {
    clearTimeout(this.timer)
  }
}

/** Rows and characters of a call. Proxies let bodies of this size through. */
const MAX_ROWS = 2_000
const MAX_CHARACTERS = 512 * 1024

/** The lines of the records are the numbers of the rows, from 1. */
export async function* importQuotas(
  transport: Pick<Transport, 'sendLines'>,
  rows: ImportInput,
  { signal, timeoutMs = TIMEOUT_MS, dryRun = false, requestId = `import-${crypto.randomUUID()}` }: ImportOptions,
): AsyncGenerator<ImportRecord, void> {
  const path = `/api/sms/admin/quota/import${dryRun ? '?dry_run=true' : ''}`
  const counts = { created: 0, updated: 0, unchanged: 0, failed: 0 }
  let done = 0
  for await (const { body, count } of piecesOf(rows)) {
    const call = { path, body, requestId }
    const options = signal === undefined ? {} : { signal }
    for (const record of (await transport.sendLines(call, options, timeoutMs)) as ImportRecord[]) {
      if (record.record === 'failed') yield { ...record, line: done + record.line }
      if (record.record !== 'end') continue
      for (const name of ['created', 'updated', 'unchanged', 'failed'] as const) counts[name] += record[name]
    }
    done += count
    yield { record: 'progress', line: done, ...counts }
  }
  yield { record: 'end', ...counts }
}

async function* piecesOf(rows: ImportInput): AsyncGenerator<{ body: string; count: number }, void> {
  let [body, count] = ['', 0]
  for await (const row of rows) {
    const line = `${JSON.stringify(toSnake(row))}\n`
    if (count > 0 && (count >= MAX_ROWS || body.length + line.length > MAX_CHARACTERS)) {
      yield { body, count }
      ;[body, count] = ['', 0]
    }
    body += line
    count += 1
  }
  if (count > 0) yield { body, count }
}
