import { MAX_EVENTS, MAX_SHOWN } from '../../contract/overview.ts'
import { countActivePauses, listPauses } from '../../db/pauses/lists.ts'
import { listIncreaseRequests } from '../../db/quotas/increase-requests.ts'
import { listWebhooks } from '../../db/webhooks/webhooks.ts'
import { MAX_INTEGER, MAX_PAGE_SIZE } from '../../domain/bounds.ts'
import { requestViewOf } from '../../domain/increase-request.ts'
import { pauseViewOf } from '../../domain/pause.ts'
import { DAY_MS, type EpochMs, HOUR_MS } from '../../domain/time.ts'
import { webhookView } from '../../domain/webhook.ts'
import { eventView } from '../../events/views.ts'
import { createExpiringMap } from '../auth/expiring-map.ts'
import type { RouteContext } from '../context.ts'
import { rowsWithNames } from '../users/user-names.ts'
import { createCustomers } from './customers.ts'
import { keep } from './kept.ts'
import { readUsualDays, unusualCountries, usageOf } from './usage.ts'

/** The console asks every 12 seconds; so any number of them costs a read of each part in this time. */
const KEPT_MS = 5_000
/** Users at risk are the part that reads most. */
const CUSTOMERS_KEPT_MS = 10_000
const USUAL_KEPT_MS = HOUR_MS

/** Pauses of the breaker that are looked at, the newest. */
const MAX_FOUND = 50
/** Callers' time zones of which usage is kept. There are some 40 offsets. */
const MAX_ZONES = 50
const ZONE_KEPT_MS = HOUR_MS

export type OverviewParts = ReturnType<typeof createParts>

/** The reads of the overview, which all callers share. */
export function createParts(context: Pick<RouteContext, 'db' | 'pauses' | 'feed' | 'now'>) {
  const { db, feed, now } = context
  const keptFor = <T>(read: (at: EpochMs) => Promise<T>) => keep(KEPT_MS, now, read)
  const usual = keep(USUAL_KEPT_MS, now, at => readUsualDays(db, at))
  const customers = createCustomers(context)
  const zones = createExpiringMap<() => ReturnType<typeof usageOf>>(MAX_ZONES)

  function usage(timeZone: string) {
    const known = zones.get(timeZone, now())
    const read = known ?? keptFor(at => usageOf(db, timeZone, at))
    if (known === undefined) zones.set(timeZone, read, now() + ZONE_KEPT_MS)
    return read()
  }

  return {
    usage,
    pauses: keptFor(async at => {
      const [count, { pauses }] = await Promise.all([
        countActivePauses(db, at),
        listPauses(db, { active: true }, MAX_INTEGER, MAX_SHOWN, at),
      ])
      return { count, items: await named(pauses.map(pause => pauseViewOf(pause, at))) }
    }),
    breaker: keptFor(async at => {
      const { pauses } = await listPauses(db, { origin: 'breaker' }, MAX_INTEGER, MAX_FOUND, at)
      const recent = pauses.filter(({ created_at }) => created_at > at - DAY_MS)
      const observed = recent.filter(pause => pause.observed).length
      return {
        tripped: recent.length - observed,
        observed,
        is_more: recent.length === MAX_FOUND,
        items: await named(recent.slice(0, MAX_SHOWN).map(pause => pauseViewOf(pause, at))),
      }
    }),
    webhooks: keptFor(async at => {
      const failing = (await listWebhooks(db)).filter(
        ({ failing_since, disabled_reason }) => failing_since !== null || disabled_reason !== null,
      )
      return { failing: failing.length, items: failing.slice(0, MAX_SHOWN).map(webhook => webhookView(webhook, at)) }
    }),
    customers: keep(CUSTOMERS_KEPT_MS, now, async at => {
      const { items, ...counts } = await customers(at)
      return { ...counts, items: await named(items) }
    }),
    requests: keptFor(async () => {
      const open = await listIncreaseRequests(db, { status: 'open' }, MAX_INTEGER, MAX_PAGE_SIZE)
      // Those that wait longest.
      const first = open.slice(-MAX_SHOWN).toReversed()
      const items = await named(first.map(requestViewOf))
      return { open: open.length, is_more: open.length === MAX_PAGE_SIZE, items }
    }),
    destinations: keptFor(async at => unusualCountries(db, at, await usual())),
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
