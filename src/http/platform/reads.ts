/**
 * What reading costs: a principal is charged calls by the rows of its answers, and by what they made the database read. So a report of
 * thousands of rows is no cheaper than the pages that would show as many. Long answers become JSON in slices.
 */
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { RateLimiter } from './rate-limiter.ts'
import { giveWay, SLICE_ROWS } from './turns.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Of the scopes whose callers are charged for what they read. */
    reads: Reads
  }
}

interface Reads {
  /** Charges the principal of a request for rows that the database has read and added up. */
  chargeSummed(request: FastifyRequest, rows: number): void
  /** Charges the principal of a request for rows, less those that the call has paid for. */
  charge(request: FastifyRequest, rows: number, paid?: number): void
  /** Resolves when the principal of a request has half of its calls of a minute left, which exports leave to its other calls, or a while later. */
  pace(request: FastifyRequest): Promise<void>
}

/** Rows that cost as much as a call: to make them into JSON and send them takes the process as long. Each call pays for as many. */
const ROWS_PER_CALL = 100

/** Rows that the database reads and adds up for about the cost of one that it sends. */
const READ_PER_ROW = 10

/** Clients are ended that get nothing for half a minute. */
const MAX_PAUSE_MS = 5_000

/** What the database reads at least for a page that is cut because it has read enough (`MAX_SCANNED` of the lists), in rows. */
const ROWS_OF_SCAN = 5_000 / READ_PER_ROW

/**
 * Charges all answers of the routes that are registered after this call. Comes last of what changes answers before they are serialized.
 * @param limiter of the calls of the same principals, with this many per minute
 */
export function chargeReads(app: FastifyInstance, limiter: RateLimiter, perMinute: number): void {
  const subjectOf = ({ principal }: FastifyRequest) => principal?.subject ?? ''
  const reads: Reads = {
    chargeSummed(request, rows) {
      reads.charge(request, rows / READ_PER_ROW)
    },
    charge(request, rows, paid = 0) {
      if (rows > paid) limiter.charge(subjectOf(request), (rows - paid) / ROWS_PER_CALL)
    },
    async pace(request) {
      const waitMs = limiter.waitOf(subjectOf(request), perMinute / 2)
      if (waitMs > 0) await pause(Math.min(waitMs, MAX_PAUSE_MS))
    },
  }
  app.decorate('reads', reads)
  app.addHook('preSerialization', async (request, reply, payload) => {
    if (reply.statusCode >= 400 || !isRecord(payload)) return payload
    const rows = rowsIn(payload)
    reads.charge(request, rows + (isCut(payload) ? ROWS_OF_SCAN : 0), ROWS_PER_CALL)
    const serialize = rows > SLICE_ROWS ? reply.getSerializationFunction(String(reply.statusCode)) : undefined
    if (serialize !== undefined) {
      const text = await textInSlices(payload, rows, serialize)
      reply.serializer(() => text)
    }
    return payload
  })
}

/** Sends pages as lines of JSON, and charges for them. What fails before the first page is answered like any other call. */
export async function sendLines(
  reply: FastifyReply,
  pages: AsyncGenerator<readonly object[], void>,
): Promise<FastifyReply> {
  const { request, server } = reply
  let unpaid = 0
  const textOf = async (records: readonly object[]) => {
    unpaid += records.length
    // Pages may be of one row.
    if (unpaid >= ROWS_PER_CALL) {
      server.reads.charge(request, unpaid)
      unpaid = 0
      await server.reads.pace(request)
    }
    return records.map(record => `${JSON.stringify(record)}\n`).join('')
  }
  const first = await pages.next()
  const lines = async function* () {
    if (first.done !== true) yield await textOf(first.value)
    for await (const page of pages) yield await textOf(page)
    server.reads.charge(request, unpaid)
  }
  return reply.type('application/x-ndjson').send(Readable.from(lines()))
}

type Answer = Record<string, unknown>

const isRecord = (value: unknown): value is Answer =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The records in the lists of an answer and its parts, and in the lists of these. */
function rowsIn(record: Answer, isRow = false): number {
  let rows = 0
  for (const value of Object.values(record)) {
    if (Array.isArray(value)) for (const item of value) rows += isRecord(item) ? 1 + rowsIn(item, true) : 0
    else if (!isRow && isRecord(value)) rows += rowsIn(value)
  }
  return rows
}

/** Whether an answer is a page that is short, and not the last. */
function isCut({ items, page_size: size, next_cursor: next }: Answer): boolean {
  return typeof next === 'string' && Array.isArray(items) && typeof size === 'number' && items.length < size
}

/**
 * The JSON of an answer, made slice by slice of its longest list: the text around the list is the same with any part of it.
 * @param serialize gives the JSON of an answer of the same form
 */
export async function textInSlices(
  answer: Answer,
  rows: number,
  serialize: (answer: Answer) => string,
  turn: () => Promise<unknown> = giveWay,
): Promise<string> {
  const lists = Object.entries(answer).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]))
  const [name, list] = lists.toSorted(([, one], [, other]) => other.length - one.length)[0] ?? ['', []]
  const around = serialize({ ...answer, [name]: [] })
  const mark = `${JSON.stringify(name)}:[]`
  const start = around.indexOf(mark) + mark.length - 1
  // Elsewhere in the answer there may be an empty list of the same name.
  if (around.lastIndexOf(mark) !== start + 1 - mark.length || start < mark.length) return serialize(answer)
  const size = Math.max(1, Math.floor((SLICE_ROWS * list.length) / rows))
  const parts: string[] = []
  for (let at = 0; at < list.length; at += size) {
    await turn()
    const text = serialize({ ...answer, [name]: list.slice(at, at + size) })
    parts.push(text.slice(start, text.length + start - around.length))
  }
  return `${around.slice(0, start)}${parts.join(',')}${around.slice(start)}`
}
