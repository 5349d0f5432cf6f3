/** Calls of the import over the API, repeated while the service is away. */
import { setTimeout as pause } from 'node:timers/promises'
import { textOf } from '../../../../client/src/answers.ts'
import { QuotaError } from '../../../../client/src/main.ts'
import type { ImportRecord } from '../../../contract/import.ts'
import { retryAfterMs } from '../../../domain/time/backoff.ts'
import type { ValidationIssue } from '../../../errors.ts'
import { CallFailed, callFailed, isBroken, refusalOf, UNAVAILABLE, unreachable } from '../failures.ts'
import type { Address } from '../profiles.ts'

/** Rows of a call, and what they were in the file. */
export interface Piece {
  body: string
  /** The line in the file of each line of the body. */
  lines: readonly number[]
}

export interface Counts {
  created: number
  updated: number
  unchanged: number
  failed: number
}

interface RefusedRow {
  line: number
  issues: readonly ValidationIssue[]
}

interface PieceResult {
  counts: Counts
  refused: RefusedRow[]
}

export interface Sender {
  /** Imports the rows of a piece. @throws CallFailed if the service refuses it, or is away for longer than the command waits */
  send(piece: Piece): Promise<PieceResult>
}

export interface SenderOptions {
  dryRun: boolean
  /** Names all calls of an import in history and audit. */
  requestId: string
  /** How long a piece is repeated, and the first wait between, in milliseconds. */
  patience?: { totalMs: number; firstMs: number }
}

const PATIENCE = { totalMs: 60_000, firstMs: 200 }
const MAX_WAIT_MS = 5_000

export function createSender(service: Address, { dryRun, requestId, patience = PATIENCE }: SenderOptions): Sender {
  /** Until then, a service that cannot be reached is not waited for: its address may be wrong. */
  let hasAnswered = false

  async function attempt({ body }: Piece): Promise<ImportRecord[]> {
    const response = await fetch(`${service.url}/api/sms/admin/quota/import${dryRun ? '?dry_run=true' : ''}`, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        authorization: `Bearer ${service.token}`,
        'content-type': 'application/x-ndjson',
        'x-request-id': requestId,
      },
      body,
    })
    const text = await textOf(response)
    const type = response.headers.get('content-type') ?? ''
    if (response.status === 200 && type.startsWith('application/x-ndjson')) {
      hasAnswered = true
      return recordsOf(text)
    }
    const refusal = refusalOf(response, text)
    if (refusal instanceof QuotaError && (response.status === 429 || response.status === 503)) {
      hasAnswered = true
      throw new Away(refusal.problem.detail, retryAfterMs(response.headers.get('retry-after') ?? '', Date.now()))
    }
    throw refusal
  }

  async function send(piece: Piece): Promise<PieceResult> {
    const result: PieceResult = { counts: { created: 0, updated: 0, unchanged: 0, failed: 0 }, refused: [] }
    let rest = piece
    let waitMs = patience.firstMs
    for (const deadline = performance.now() + patience.totalMs; ; ) {
      let away: Away
      try {
        const { stopped, doneUpTo } = take(result, rest, await attempt(rest))
        if (stopped === undefined) return result
        rest = withoutLines(rest, doneUpTo)
        away = new Away(stopped, 0)
      } catch (error) {
        if (error instanceof Away) away = error
        else if (isBroken(error) && hasAnswered) away = new Away(unreachable(service.url, error), 0)
        else throw callFailed(error, service.url) ?? error
      }
      if (performance.now() + Math.max(waitMs, away.afterMs) > deadline)
        throw new CallFailed({ message: away.message, exitCode: UNAVAILABLE })
      await pause(Math.max(waitMs, away.afterMs))
      waitMs = Math.min(MAX_WAIT_MS, waitMs * 2)
    }
  }
  return { send }
}

/** The service cannot be reached or cannot go on now: the call can be repeated. */
class Away extends Error {
  readonly afterMs: number

  constructor(message: string, afterMs: number) {
    super(message)
    this.afterMs = afterMs
  }
}

/** Lines of a response that broke off are left out: the piece is sent again. */
function recordsOf(text: string): ImportRecord[] {
  const lines = text.split('\n')
  return lines.slice(0, -1).map(line => JSON.parse(line))
}

/** Adds the records of a response to the result. @returns why the service stopped, and up to which line of the body */
function take(
  result: PieceResult,
  { lines }: Piece,
  records: readonly ImportRecord[],
): { stopped?: string; doneUpTo: number } {
  const last = records.at(-1)
  if (last === undefined || (last.record !== 'end' && last.record !== 'stopped')) {
    return { stopped: 'the connection broke off', doneUpTo: 0 }
  }
  const doneUpTo = last.record === 'end' ? lines.length : last.line
  let listed = 0
  for (const record of records) {
    if (record.record !== 'failed' || record.line > doneUpTo) continue
    const { line, detail, errors } = record
    listed += 1
    result.refused.push({ line: lines[line - 1] ?? 0, issues: errors ?? [{ path: '', message: detail }] })
  }
  for (const name of ['created', 'updated', 'unchanged'] as const) result.counts[name] += last[name]
  // A service that stopped may have refused rows behind the last step, too: they are sent again.
  result.counts.failed += last.record === 'end' ? last.failed : listed
  return last.record === 'end' ? { doneUpTo } : { stopped: last.detail, doneUpTo }
}

function withoutLines({ body, lines }: Piece, count: number): Piece {
  return {
    body: body.split('\n').slice(count).join('\n'),
    lines: lines.slice(count),
  }
}
