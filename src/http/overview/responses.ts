import { OVERVIEW_PARTS, type OverviewPart, type UnreadReason } from '../../contract/overview.ts'
import { type EpochMs, formatTimestamp } from '../../domain/time/time.ts'
import { Problem } from '../../errors.ts'
import type { OverviewParts } from './parts.ts'

/** How long an answer waits for its parts. A part that takes longer reads on, and the next call has it. */
const TIMEOUT_MS = 3_000

interface Asked {
  timeZone: string
  at: EpochMs
  notReady: string | null
  /** Gets the cause why a part could not be read. */
  onFailed: (part: OverviewPart, cause: unknown) => void
  timeoutMs?: number
}

/** The overview, with the parts that could be read in time. @throws the cause, if none could */
export async function overviewOf(parts: OverviewParts, { timeZone, at, notReady, onFailed, timeoutMs }: Asked) {
  const unread = new Map<OverviewPart, UnreadReason>()
  const readings: Promise<unknown>[] = []
  const timeout = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => timeout.resolve(undefined), timeoutMs ?? TIMEOUT_MS)

  async function inTime<T>(part: OverviewPart, reading: Promise<T>): Promise<T | null> {
    readings.push(reading)
    const failed = (cause: unknown) => {
      onFailed(part, cause)
      return null
    }
    const outcome = await Promise.race([reading.then(value => ({ value }), failed), timeout.promise])
    if (outcome) return outcome.value
    unread.set(part, outcome === undefined ? 'timed_out' : 'failed')
    return null
  }

  const [pauses, breaker, webhooks, customers, requests, destinations, usage, events] = await Promise.all([
    inTime('pauses', parts.pauses()),
    inTime('breaker', parts.breaker()),
    inTime('webhooks', parts.webhooks()),
    inTime('customers', parts.customers()),
    inTime('requests', parts.requests()),
    inTime('destinations', parts.destinations()),
    inTime('usage', parts.usage(timeZone)),
    inTime('events', parts.events()),
  ])
  clearTimeout(timer)
  if (unread.size === OVERVIEW_PARTS.length) {
    // What comes first, though late, says why.
    await Promise.race(readings)
    throw new Problem('unavailable', 'No part of the overview could be read in time.')
  }
  return {
    as_of: formatTimestamp(at),
    not_ready: notReady,
    unread: OVERVIEW_PARTS.flatMap(part => {
      const reason = unread.get(part)
      return reason === undefined ? [] : [{ part, reason }]
    }),
    ...{ pauses, breaker, webhooks, customers, requests, destinations, usage, events },
  }
}
