import { MAX_AT_RISK, MAX_EVENTS, MAX_SHOWN } from '../../contract/overview.ts'
import { readBreaker } from '../../db/breaker/settings.ts'
import type { Database } from '../../db/connection/database.ts'
import { countActivePauses, listPauses } from '../../db/pauses/lists.ts'
import { listIncreaseRequests } from '../../db/quotas/increase-requests.ts'
import { countAtRisk } from '../../db/users/customers.ts'
import { listWebhooks } from '../../db/webhooks/webhooks.ts'
import { MAX_PAGE_SIZE } from '../../domain/basics/bounds.ts'
import { namedValues } from '../../domain/basics/named-values.ts'
import { RISKS } from '../../domain/forecasts/customer-standing.ts'
import { isPausedForAll, type Pause, type PausesByCountry, pausedBy, pauseViewOf } from '../../domain/pauses/pause.ts'
import { requestViewOf } from '../../domain/quotas/increase-request.ts'
import { MEMORY_MS } from '../../domain/time/memories.ts'
import { DAY_MS, type EpochMs } from '../../domain/time/time.ts'
import { webhookView } from '../../domain/webhooks/webhook.ts'
import { eventView } from '../../events/views.ts'
import type { RouteContext } from '../context.ts'
import { completeUntil, readCustomers } from '../customers/responses.ts'
import { createExpiringMap } from '../platform/expiring-map.ts'
import { rowsWithNames } from '../references/user-names.ts'
import { readUsualDays, unusualCountries, usageOf } from './usage.ts'

/** Pauses of the breaker that are looked at, the newest. */
const MAX_FOUND = 50
/** Callers' time zones of which usage is kept. There are some 40 offsets. */
const MAX_ZONES = 50

export type OverviewParts = ReturnType<typeof createParts>

/**
 * What the breaker found in the last 24 hours, the newest first: each destination once, however often it was found. What it only observed
 * is left out once such messages are paused.
 */
async function findingsOf(db: Database, known: PausesByCountry, at: EpochMs) {
  const [{ items: pauses }, { users }] = await Promise.all([
    listPauses(db, { origin: 'breaker' }, { size: MAX_FOUND, now: at }),
    readBreaker(db),
  ])
  const recent = pauses.filter(({ created_at }) => created_at > at - DAY_MS)
  // While no user gives feedback, each of their codes looks pumped, and what is observed says nothing.
  const judges = users === null || users.with_feedback > 0
  const shown = recent.filter(pause => !pause.observed || (judges && !isDecided(pause, known, at)))
  const ofDestinations = Map.groupBy(shown, ({ user_id, country }) => `${user_id} ${country}`)
  const found = [...ofDestinations.values()].flatMap(([newest]) => newest ?? [])
  return { found, isMore: recent.length === MAX_FOUND }
}

/** Whether all messages that the breaker would pause are paused by now. */
function isDecided({ user_id, country, message_types }: Pause, known: PausesByCountry, at: EpochMs): boolean {
  if (user_id === null) return isPausedForAll(known, country, at)
  return (message_types ?? [null]).every(
    message_type => pausedBy(known, { user_id, country, message_type }, at) !== undefined,
  )
}

/** The reads of the overview, which all callers share. */
export function createParts({ db, feed, now, pauses }: Pick<RouteContext, 'db' | 'feed' | 'now' | 'pauses'>) {
  const keptFor = <T>(read: (at: EpochMs) => Promise<T>) => keep(MEMORY_MS.overview, now, read)
  const usual = keep(MEMORY_MS.overviewOfPast, now, at => readUsualDays(db, at))
  const zones = createExpiringMap<() => ReturnType<typeof usageOf>>(MEMORY_MS.overviewOfPast, MAX_ZONES)

  function usage(timeZone: string) {
    const known = zones.get(timeZone, now())
    const read = known ?? keptFor(at => usageOf(db, timeZone, at))
    if (known === undefined) zones.set(timeZone, read, now() + MEMORY_MS.overviewOfPast)
    return read()
  }

  return {
    usage,
    pauses: keptFor(async at => {
      const [count, { items: active }] = await Promise.all([
        countActivePauses(db, at),
        listPauses(db, { active: 'true' }, { size: MAX_SHOWN, now: at }),
      ])
      return { count, items: await named(active.map(pause => pauseViewOf(pause, at))) }
    }),
    breaker: keptFor(async at => {
      const { found, isMore } = await findingsOf(db, pauses.known, at)
      const observed = found.filter(pause => pause.observed).length
      return {
        tripped: found.length - observed,
        observed,
        is_more: isMore,
        items: await named(found.slice(0, MAX_SHOWN).map(pause => pauseViewOf(pause, at))),
      }
    }),
    webhooks: keptFor(async at => {
      const failing = (await listWebhooks(db)).filter(
        ({ failing_since, disabled_reason }) => failing_since !== null || disabled_reason !== null,
      )
      return { failing: failing.length, items: failing.slice(0, MAX_SHOWN).map(webhook => webhookView(webhook, at)) }
    }),
    customers: keptFor(async at => {
      const [{ counts, isMore }, { items, walkedAt }] = await Promise.all([
        countAtRisk(db),
        readCustomers(db, { view: 'at_risk' }, { size: MAX_AT_RISK, now: at }),
      ])
      return {
        ...namedValues<Record<(typeof RISKS)[number], number>>(RISKS, state => counts.get(state) ?? 0),
        is_more: isMore,
        complete_until: completeUntil(walkedAt),
        items: await named(items),
      }
    }),
    requests: keptFor(async at => {
      const { items: open, next } = await listIncreaseRequests(db, { status: 'open' }, { size: MAX_PAGE_SIZE, now: at })
      // Those that wait longest.
      const first = open.slice(-MAX_SHOWN).toReversed()
      const items = await named(first.map(requestViewOf))
      return { open: open.length, is_more: next !== null, items }
    }),
    destinations: keptFor(async at => unusualCountries(db, at, await usual(), pauses.known)),
    events: keptFor(async () => {
      const query = { after: { last: MAX_EVENTS }, limit: MAX_EVENTS, waitMs: 0 }
      const page = await feed.read(query, '', new AbortController().signal)
      if (page.outcome !== 'page') throw new Error(`the latest events are ${page.outcome}`)
      return page.events.map(eventView)
    }),
  }

  function named(rows: readonly object[]): Promise<readonly object[]> {
    return rowsWithNames(db, rows)
  }
}

/**
 * A read that all callers share: it runs once at a time, and answers for a while what it has read. A failure is not kept. What comes
 * too late for one caller is there for the next.
 */
export function keep<T>(keptMs: number, now: () => EpochMs, read: (at: EpochMs) => Promise<T>): () => Promise<T> {
  let kept: { value: T; at: EpochMs } | null = null
  let reading: Promise<T> | null = null

  async function readNow(): Promise<T> {
    const at = now()
    try {
      const value = await read(at)
      kept = { value, at }
      return value
    } finally {
      reading = null
    }
  }

  return async () => {
    // The absolute value, so that a clock that was ahead once does not make what is kept stay.
    if (kept !== null && Math.abs(now() - kept.at) < keptMs) return kept.value
    reading ??= readNow()
    return reading
  }
}
