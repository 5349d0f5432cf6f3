import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { MAX_PAGE_SIZE } from '../../../src/domain/bounds.ts'
import { ApiProblem, retryDelayOf } from '../api/problem.ts'
import { queryClient } from '../api/query-client.ts'
import type { Api } from '../api/types.ts'
import { type KnownEvents, NO_EVENTS, withNew } from '../model/events.ts'
import { request } from '../session/client.ts'

type Event = Api['Event']

export interface Feed extends KnownEvents {
  /** When the console began to follow the feed. */
  since: string
  /** Whether events were skipped: too many arrived at once, or the cursor is not accepted any more. */
  hasGap: boolean
  /** The cursor of the next request. */
  next: string
}

/** Full pages that are read after each other. What is still further on is skipped. */
const MAX_PAGES = 10

/** How long a request waits for an event. */
const WAIT_SECONDS = 25

/** Longer than the service waits, to detect a dead connection. */
const TIMEOUT_MS = (WAIT_SECONDS + 10) * 1_000

/** Pause between requests, so that a burst arrives as one page. */
const PAUSE_MS = 250

const KEY = ['events']

/** Query keys that an event invalidates, by the part of its type before the dot. */
const AFFECTED_QUERIES = {
  quota: ['quotas', 'summary'],
  reservation: ['quotas', 'summary', 'reservations'],
  request: ['requests'],
  webhook: ['webhooks'],
}

/**
 * Problems after which the feed begins again: the database has lost events, so what they reported is undone; events were
 * removed before the console read them; or another version of the service answers, which cannot read the cursor.
 */
const RESTARTS: ReadonlySet<Api['Problem']['code']> = new Set(['events_lost', 'events_pruned', 'invalid_request'])

/**
 * Follows the event feed with one long poll, shared by all components. It stops while no component uses it or the tab
 * is hidden, and resumes at its cursor as long as the query is cached.
 */
export function useFeed(): UseQueryResult<Feed> {
  return useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => follow(queryClient.getQueryData<Feed>(KEY), signal),
    refetchInterval: ({ state: { error } }) => (error === null ? PAUSE_MS : (retryDelayOf(error) ?? 10_000)),
    staleTime: 0,
    // It is small, and what was read before cannot be read again.
    gcTime: Number.POSITIVE_INFINITY,
  })
}

async function follow(before: Feed | undefined, signal: AbortSignal): Promise<Feed> {
  return before === undefined ? readFirst(signal) : readNext(before, signal)
}

async function readFirst(signal: AbortSignal): Promise<Feed> {
  const since = new Date().toISOString()
  // What is done to many at once is one line with its number, also after the page was loaded anew.
  const { items, next } = await read({ last: MAX_PAGE_SIZE, limit: MAX_PAGE_SIZE }, signal)
  return { since, hasGap: false, next, ...withNew(NO_EVENTS, items), count: 0 }
}

async function readNext(before: Feed, signal: AbortSignal): Promise<Feed> {
  // After a failure the first request does not wait, to show at once that the service is back.
  const isConnected = queryClient.getQueryState(KEY)?.error === null
  try {
    let feed = before
    for (let page = 0; page < MAX_PAGES; page++) {
      const waitSeconds = isConnected && page === 0 ? WAIT_SECONDS : 0
      const { items, next } = await read({ after: feed.next, limit: MAX_PAGE_SIZE, wait_seconds: waitSeconds }, signal)
      refetch(affectedBy(items))
      feed = { ...feed, ...withNew(feed, items), next }
      if (items.length < MAX_PAGE_SIZE) return feed
    }
    return { ...feed, hasGap: true, next: 'latest' }
  } catch (error) {
    if (!(error instanceof ApiProblem) || !RESTARTS.has(error.code)) throw error
    const first = await readFirst(signal)
    refetch(Object.values(AFFECTED_QUERIES).flat())
    return { ...first, hasGap: true }
  }
}

function read(query: Record<string, string | number>, signal: AbortSignal): Promise<Api['EventPage']> {
  const ending = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
  return request<Api['EventPage']>('/admin/events', { query, signal: ending })
}

function affectedBy(events: readonly Event[]): string[] {
  const affected = Object.entries(AFFECTED_QUERIES).filter(([prefix]) =>
    events.some(({ type }) => type.startsWith(`${prefix}.`)),
  )
  return affected.flatMap(([, resources]) => resources)
}

function refetch(resources: readonly string[]): void {
  for (const resource of new Set(resources)) void queryClient.invalidateQueries({ queryKey: [resource] })
}
