import type { FastifyReply } from 'fastify'
import type { Repeated } from '../../admin/kit/idempotency.ts'
import type { AlertsQuery } from '../../contract/quota-summary.ts'
import type { AdminListQuery } from '../../contract/quotas.ts'
import type { Database } from '../../db/connection/database.ts'
import { findDefaultPlan } from '../../db/plans/plans.ts'
import { newUsers } from '../../db/plans/users.ts'
import { firstBelow, listAlerts } from '../../db/quotas/alerts.ts'
import { listQuotas, MAX_SKIPPED, type Total } from '../../db/quotas/lists.ts'
import { quotasOfUser } from '../../db/quotas/quotas.ts'
import { pastUsage } from '../../db/usage/sums.ts'
import { DEFAULT_PAGE_SIZE, MAX_INTEGER } from '../../domain/basics/bounds.ts'
import { forecastInSlices } from '../../domain/forecasts/forecast.ts'
import { summarize } from '../../domain/forecasts/summary.ts'
import { pausesOf } from '../../domain/pauses/pause.ts'
import { type Quota, roll } from '../../domain/quotas/quota.ts'
import { type EpochMs, formatTimestamp } from '../../domain/time/time.ts'
import { ownViewOf, viewOf } from '../../domain/units/view.ts'
import { invalidRequest, type Problem } from '../../errors.ts'
import type { Viewer } from '../auth/guard.ts'
import { etagOf } from '../changes/requests.ts'
import type { RouteContext } from '../context.ts'
import { giveWay, inSlices } from '../platform/turns.ts'
import { alertCursors, listRequestOf } from './requests.ts'

/** A quota as of a time, with the ETag of its version. */
export function taggedView(reply: FastifyReply, { quota, at }: Answered) {
  reply.header('etag', etagOf(quota.version))
  return viewOf(quota, at)
}

/** A user's summary as of `at`. */
export async function summaryOf({ db, pauses }: Pick<RouteContext, 'db' | 'pauses'>, userId: number, at: EpochMs) {
  const [{ quotas, expired }, past] = await Promise.all([quotasOfUser(db, userId, at), pastUsage(db, userId, at)])
  const default_plan = quotas.length === 0 && expired === 0 ? await planToCome(db, userId) : null
  // Both look ahead, for tens of milliseconds at worst.
  const rolled = quotas.map(quota => roll(quota, at).quota)
  const ahead = await inSlices(forecastInSlices(rolled, past, at))
  await giveWay()
  return { ...summarize(userId, quotas, expired, ahead, pausesOf(pauses.known, userId, at), at), default_plan }
}

/** The plan that a user who never had a quota gets with the first message. */
async function planToCome(db: Database, userId: number) {
  const plan = await findDefaultPlan(db)
  if (plan === undefined || !(await newUsers(db, [userId])).has(userId)) return null
  const { id, name, version } = plan
  return { id, name, version }
}

/** A page of quotas as of `at`. @throws Problem `invalid_request` if parameters contradict each other, or the page is too deep */
export async function listPage(db: Database, query: AdminListQuery, viewer: Viewer, at: EpochMs) {
  const { filter, order, after, cursorAfter } = listRequestOf(query, viewer)
  const { page = 1, page_size: size = DEFAULT_PAGE_SIZE } = query
  const start = after === undefined ? { skip: Math.min((page - 1) * size, MAX_INTEGER) } : { after }
  const listed = await listQuotas(db, filter, order, start, size, at)
  if (listed === 'too_deep') throw tooDeep(page)
  const { items: quotas, total, next } = listed
  return {
    items: quotas.map(quota => (viewer.role === 'user' ? ownViewOf(quota, at) : viewOf(quota, at))),
    ...(total === undefined ? {} : { ...totalsOf(total, size), page }),
    page_size: size,
    next_cursor: next && cursorAfter(next),
  }
}

function totalsOf(total: Total, size: number) {
  return 'exactly' in total
    ? { total: total.exactly, total_pages: Math.ceil(total.exactly / size) }
    : { total: null, total_at_least: total.atLeast, total_pages: null }
}

function tooDeep(page: number): Problem {
  const message = `${page} is too deep in the list: a page may skip ${MAX_SKIPPED.toLocaleString('en')} quotas, fewer if the filters match few of many; follow next_cursor of an earlier page`
  return invalidRequest([{ path: 'page', message }])
}

/** The quotas that are running out as of `at`, the highest percent first. @throws Problem `invalid_request` for a bad cursor */
export async function alertsOf(db: Database, query: AlertsQuery, at: EpochMs) {
  const { limit = DEFAULT_PAGE_SIZE, below_percent, cursor } = query
  const start = below_percent === undefined ? undefined : firstBelow(below_percent)
  // A cursor lies behind the start of its list.
  const after = cursor === undefined ? start : alertCursors.read(cursor)
  const { items: alerts, next } = await listAlerts(db, { after, size: limit, now: at })
  return {
    items: alerts.map(alert => ({
      quota: viewOf(alert.quota, at),
      percent: alert.percent,
      at: formatTimestamp(alert.at),
    })),
    next_cursor: next && alertCursors.write(next),
  }
}

/** A quota that a call has made or changed, and when: a repeated call gets the answer of the first. */
interface Answered {
  quota: Quota
  at: EpochMs
}

/** What a call has made or changed, at `now` unless it repeats an earlier one. */
export function answeredOf(
  done: { outcome: 'created' | 'changed' | 'unchanged'; quota: Quota } | Extract<Repeated<Quota>, { answer: Quota }>,
  now: EpochMs,
): Answered {
  return done.outcome === 'replayed' ? { quota: done.answer, at: done.at } : { quota: done.quota, at: now }
}

export const quotaOf = (id?: number) => ({ what: 'quota', id })
