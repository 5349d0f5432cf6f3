import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { request } from './client.ts'
import { ApiProblem, retryDelayOf } from './problem.ts'
import { queries } from './queries.ts'
import type { Api } from './types.ts'

type Event = Api['Event']

export interface Feed {
  /** Since when it has been followed. */
  since: string
  /** The newest first, at most `MAX_KEPT`; some of them had happened before. */
  events: readonly Event[]
  /** How many have come since then. */
  count: number
  /** More came at once than anybody reads, and some were passed over. */
  hasGap: boolean
  /** Where to go on. */
  next: string
}

const MAX_KEPT = 50
/** So many of what had happened before are shown to begin with. */
const LAST = 20
const PAGE_SIZE = 100

/** How long one request waits for an event. */
const WAIT_SECONDS = 25

/** Longer than the service ever waits: a connection that died without a word is given up. */
const TIMEOUT_MS = (WAIT_SECONDS + 10) * 1_000

/** Between two requests, so that a burst comes as one page. */
const BREATH_MS = 250

const KEY = ['events']

/** What was read of these is no longer so, once something of the kind has happened. */
const CONCERNED = {
  quota: ['quotas', 'alerts', 'summary'],
  reservation: ['quotas', 'summary', 'reservations'],
  webhook: ['webhooks'],
}

/**
 * What happens, while it happens: one long poll for everybody who looks. It stops when nobody does or the tab is
 * hidden, and goes on from where it was within the time that queries are kept.
 */
export function useFeed(): UseQueryResult<Feed> {
  return useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => follow(queries.getQueryData<Feed>(KEY), signal),
    refetchInterval: ({ state: { error } }) => (error === null ? BREATH_MS : (retryDelayOf(error) ?? 10_000)),
    staleTime: 0,
  })
}

async function follow(before: Feed | undefined, signal: AbortSignal): Promise<Feed> {
  return before === undefined ? begin(signal) : goOn(before, signal)
}

async function begin(signal: AbortSignal): Promise<Feed> {
  const since = new Date().toISOString()
  const { items, next } = await read({ last: LAST, limit: PAGE_SIZE }, signal)
  return { since, events: items.toReversed(), count: 0, hasGap: false, next }
}

async function goOn(before: Feed, signal: AbortSignal): Promise<Feed> {
  // The first page after a failure says at once that the service is there; the others wait.
  const isKnownThere = queries.getQueryState(KEY)?.error === null
  const query = { after: before.next, limit: PAGE_SIZE, wait_seconds: isKnownThere ? WAIT_SECONDS : 0 }
  try {
    const { items, next } = await read(query, signal)
    refresh(items)
    const isBehind = items.length === PAGE_SIZE
    return {
      since: before.since,
      events: [...items.toReversed(), ...before.events].slice(0, MAX_KEPT),
      count: before.count + items.length,
      hasGap: before.hasGap || isBehind,
      next: isBehind ? 'latest' : next,
    }
  } catch (error) {
    // An older backup was restored, and the cursor is ahead of it.
    if (!(error instanceof ApiProblem) || error.code !== 'invalid_request') throw error
    return { ...before, hasGap: true, next: 'latest' }
  }
}

function read(query: Record<string, string | number>, signal: AbortSignal): Promise<Api['EventPage']> {
  const ending = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
  return request<Api['EventPage']>('/admin/events', { query, signal: ending })
}

function refresh(events: readonly Event[]): void {
  const happened = Object.entries(CONCERNED).filter(([about]) =>
    events.some(({ type }) => type.startsWith(`${about}.`)),
  )
  for (const resource of new Set(happened.flatMap(([, resources]) => resources))) {
    void queries.invalidateQueries({ queryKey: [resource] })
  }
}
