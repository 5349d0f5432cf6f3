/** Changes of many: what is selected is changed in steps, and reported as lines of JSON. */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Author } from '../../admin/kit/author.ts'
import { type BegunBulk, beginBulk } from '../../admin/many/bulk-change.ts'
import type { Database } from '../../db/connection/database.ts'
import { DAY_MS, type EpochMs } from '../../domain/time/time.ts'
import { Problem } from '../../errors.ts'
import { UNBUFFERED } from '../platform/headers.ts'
import { keyMismatch, problemOf } from '../platform/problems.ts'
import { authorOf } from './requests.ts'
import type { Steps } from './step-pacer.ts'

/** How often progress is reported. A client that sends all before it reads must not fill the buffers between. */
const PROGRESS_MS = 1_000

interface Many<Item, Outcome, Line extends { record: string }, Counts extends object> {
  /** What it is, for the log. */
  what: string
  isDryRun: boolean
  key: string
  /** What a repeated call must ask for again. */
  asked: Parameters<typeof beginBulk>[2] & Readonly<Record<string, unknown>>
  /** What is to be changed, in parts of any size, also empty ones. @param begunAt when the first call with the key began */
  select(begunAt: EpochMs): AsyncIterable<readonly Item[]>
  /**
   * Carries out a step, or decides what it would do.
   *
   * @param author as of now: each step has a time of its own
   * @returns the outcome of each item, in their order
   */
  step(items: readonly Item[], author: () => Author, begunAt: EpochMs): Promise<Outcome[]>
  /** Counts an outcome, and answers its lines. */
  linesOf(item: Item, outcome: Outcome): Iterable<Line>
  /** How many lines of a kind are sent at most; left out: all. */
  listed: Readonly<Partial<Record<Line['record'], number>>>
  /** As they stand. */
  counts: Counts
}

/** Carries out a change of many, and sends its lines. */
export async function sendMany<Item, Outcome, Line extends { record: string }, Counts extends object>(
  { db, now, steps }: { db: Database; now: () => EpochMs; steps: Steps },
  reply: FastifyReply,
  many: Many<Item, Outcome, Line, Counts>,
): Promise<FastifyReply> {
  const { request, server } = reply
  steps.slots.hold(reply)
  const author = authorOf(request, now())
  const begun = many.isDryRun ? null : await beginOf(db, many, author)
  const begunAt = begun?.begunAt ?? author.now
  const changing = { ...author, ...(begun === null ? {} : { requestId: begun.id }) }
  const records = async function* () {
    if (begun !== null) yield { record: 'begin', bulk_id: begun.id }
    yield* stepsOf({
      ...many,
      selected: many.select(begunAt),
      carryOut: items => steps.pacer.run(items, part => many.step(part, () => ({ ...changing, now: now() }), begunAt)),
      perStep: () => steps.pacer.rows,
      onStopped: error => server.requestLog.stopped(request, many.what, error),
    })
  }
  return sendRecords(reply, records())
}

/** Sends records as lines, each as soon as it is there. */
export function sendRecords(reply: FastifyReply, records: AsyncIterable<object>): FastifyReply {
  const lines = async function* () {
    for await (const record of records) yield `${JSON.stringify(record)}\n`
  }
  return reply.type('application/x-ndjson').headers(UNBUFFERED).send(Readable.from(lines()))
}

/**
 * The bulk change of a key.
 *
 * @throws Problem `idempotency_mismatch` if the key came with another request, or so long ago that the history of a quota may
 *   not tell any more what the bulk change has done
 */
async function beginOf(
  db: Database,
  { key, asked }: Pick<Many<never, never, never, never>, 'key' | 'asked'>,
  author: Author,
): Promise<BegunBulk> {
  const begun = await beginBulk(db, key, asked, author)
  if (begun.outcome === 'begun') return begun
  if (begun.outcome === 'mismatch') throw keyMismatch(begun.fields)
  if (begun.at > author.now - DAY_MS) return begun.answer
  const detail = 'This Idempotency-Key belongs to a bulk change that has begun more than 24 hours ago. Use a new key.'
  throw new Problem('idempotency_mismatch', detail, {
    members: { errors: [{ path: '/idempotency-key', message: 'is older than 24 hours' }] },
  })
}

/** Says whether progress is to be reported: about once a second. */
export function createProgressClock(): () => boolean {
  let reportedAt = performance.now()
  return () => {
    if (performance.now() - reportedAt < PROGRESS_MS) return false
    reportedAt = performance.now()
    return true
  }
}

/** What a stopped stream says. @param bodyLimit the maximum size of the body, in bytes */
export function stoppedBy(error: unknown, bodyLimit = Number.POSITIVE_INFINITY) {
  const { code, message } = problemOf(error, bodyLimit)
  return { code, detail: message }
}

interface Stream<Item, Outcome, Line extends { record: string }, Counts extends object>
  extends Pick<Many<Item, Outcome, Line, Counts>, 'linesOf' | 'listed' | 'counts'> {
  selected: AsyncIterable<readonly Item[]>
  carryOut(items: readonly Item[]): Promise<Outcome[]>
  /** How many items a step has. */
  perStep(): number
  onStopped(error: unknown): void
}

/**
 * Works through items, step by step, and yields the records. It selects further ones only after a step has committed. If the call breaks
 * off, the steps so far stay.
 */
async function* stepsOf<Item, Outcome, Line extends { record: string }, Counts extends object>({
  selected,
  carryOut,
  perStep,
  linesOf,
  listed,
  counts,
  onStopped,
}: Stream<Item, Outcome, Line, Counts>) {
  const waiting: Item[] = []
  const isDue = createProgressClock()
  const sent = new Map<Line['record'], number>()
  const isListed = ({ record }: Line) => {
    const number = (sent.get(record) ?? 0) + 1
    sent.set(record, number)
    return number <= (listed[record as Line['record']] ?? number)
  }
  async function* step(items: readonly Item[]) {
    const outcomes = await carryOut(items)
    for (const [index, item] of items.entries()) {
      const outcome = outcomes[index]
      if (outcome === undefined) throw new Error(`${JSON.stringify(item)} has no outcome`)
      for (const line of linesOf(item, outcome)) if (isListed(line)) yield line
    }
    if (isDue()) yield { record: 'progress', ...counts }
  }
  try {
    for await (const items of selected) {
      waiting.push(...items)
      while (waiting.length >= perStep()) yield* step(waiting.splice(0, perStep()))
      if (isDue()) yield { record: 'progress', ...counts }
    }
    if (waiting.length > 0) yield* step(waiting)
    yield { record: 'end', ...counts }
  } catch (error) {
    onStopped(error)
    yield { record: 'stopped', ...counts, ...stoppedBy(error) }
  }
}
