import { MAX_AT_RISK } from '../../contract/overview.ts'
import type { Database } from '../../db/connection/database.ts'
import { firstBelow, listAlerts } from '../../db/quotas/alerts.ts'
import { listQuotas } from '../../db/quotas/lists.ts'
import { quotasOfUsers } from '../../db/quotas/quotas.ts'
import { listDenials } from '../../db/reservations/denials.ts'
import { pastUsage } from '../../db/usage/sums.ts'
import { topUsers } from '../../db/usage/top-users.ts'
import { AHEAD_MS, byUrgency, RISKS, type Risk, riskOf, runsOutSoon } from '../../domain/at-risk.ts'
import { USAGE_BUCKET_MS } from '../../domain/bounds.ts'
import { namedValues } from '../../domain/named-values.ts'
import type { Quota } from '../../domain/quota.ts'
import { DAY_MS, type EpochMs, formatTimestampOrNull, HOUR_MS } from '../../domain/time.ts'
import { usageBucketOf } from '../../domain/usage.ts'
import type { RouteContext } from '../context.ts'
import { keep } from './kept.ts'

/** Exhausted quotas, quotas near their limit, and quotas that end: the first of each are looked at. */
const MAX_OF_EACH = 50
/** The latest denials of an hour. */
const MAX_DENIALS = 100

/** A forecast is a read for each user, and changes slowly. */
const FORECASTS_KEPT_MS = 300_000
/** The users who sent most in a week. */
const MAX_FORECASTS = 100
/** Users whose past is read at a time. */
const LANES = 4

/** Reads who is at risk: of the first of each list, never of all users. */
export function createCustomers({ db, pauses, now }: Pick<RouteContext, 'db' | 'pauses' | 'now'>) {
  const forecasts = keep(FORECASTS_KEPT_MS, now, at => readForecasts(db, at))

  return async (at: EpochMs) => {
    const order = { by: 'expires_at', descending: false } as const
    const until = { status: 'active', expires_after: at, expires_before: at + AHEAD_MS } as const
    const [exhausted, near, denials, ending, soon] = await Promise.all([
      listAlerts(db, undefined, MAX_OF_EACH, at),
      listAlerts(db, firstBelow(100), MAX_OF_EACH, at),
      listDenials(db, { from: at - HOUR_MS }, undefined, MAX_DENIALS),
      listQuotas(db, until, order, { skip: 0 }, MAX_OF_EACH, at),
      forecasts(),
    ])
    // The beginning of a list is never too deep.
    const [ends, hasMore] = ending === 'too_deep' ? [[], true] : [ending.quotas, ending.next !== null]
    const suspects = new Set([
      ...[...exhausted.alerts, ...near.alerts].map(({ quota }) => quota.user_id),
      ...[...denials.denials, ...ends].map(({ user_id }) => user_id),
      ...soon.runsOut.keys(),
    ])
    const quotas = await readQuotas(db, [...suspects], at)
    const ofUser = Map.groupBy(denials.denials, ({ user_id }) => user_id)
    const found = [...suspects].flatMap(user_id => {
      const runsOutAt = soon.runsOut.get(user_id) ?? null
      const suspect = { user_id, quotas: quotas.get(user_id) ?? [], denials: ofUser.get(user_id) ?? [], runsOutAt }
      return riskOf(suspect, pauses.known, at) ?? []
    })
    const count = (risk: Risk) => found.filter(({ state }) => state === risk).length
    return {
      ...namedValues<Record<Risk, number>>(RISKS, count),
      is_more: [exhausted.next, near.next, denials.next].some(next => next !== null) || soon.isMore || hasMore,
      items: byUrgency(found)
        .slice(0, MAX_AT_RISK)
        .map(({ quota, until, ...user }) => ({
          ...user,
          quota: quota && { id: quota.id, kind: quota.kind, name: quota.name },
          until: formatTimestampOrNull(until),
        })),
    }
  }
}

/** The unexpired quotas of users, in one statement. */
async function readQuotas(db: Database, ids: readonly number[], at: EpochMs): Promise<Map<number, Quota[]>> {
  const users = ids.map(user_id => ({ user_id }))
  const quotas = await db.transaction(tx => quotasOfUsers(tx, users, at, 'read'), 'snapshot')
  return Map.groupBy(quotas, ({ user_id }) => user_id)
}

/** Of the users who sent most in the last 7 days: when their units run out, if that is soon. */
async function readForecasts(db: Database, at: EpochMs) {
  const to = usageBucketOf(at) + USAGE_BUCKET_MS
  const { users } = await topUsers(db, to - 7 * DAY_MS, to, MAX_FORECASTS)
  const ids = users.map(({ user_id }) => user_id)
  const quotas = await readQuotas(db, ids, at)
  const runsOut = new Map<number, EpochMs>()
  const rest = ids.values()
  const lane = async () => {
    for (const user_id of rest) {
      const soon = runsOutSoon(quotas.get(user_id) ?? [], await pastUsage(db, user_id, at), at)
      if (soon !== null) runsOut.set(user_id, soon)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return { runsOut, isMore: users.length === MAX_FORECASTS }
}
