/** Samples of every kind of list and summary, through the functions that the service uses. */
import { previewBulkStep } from '../src/admin/many/bulk-change.ts'
import { type GiveTerms, previewGiveStep } from '../src/admin/quotas/give-units.ts'
import type { Database, Queryable } from '../src/db/connection/database.ts'
import { listAlerts } from '../src/db/quotas/alerts.ts'
import type { QuotaFilter } from '../src/db/quotas/conditions.ts'
import { changesOfRequest } from '../src/db/quotas/gifts.ts'
import { listQuotas, type PageStart, type QuotaOrder } from '../src/db/quotas/lists.ts'
import { findQuota, quotasOfUser } from '../src/db/quotas/quotas.ts'
import { selectQuotasOfUsers } from '../src/db/quotas/selection.ts'
import { quotaIdOf, shardFrom } from '../src/domain/basics/shard.ts'
import { DAY_MS } from '../src/domain/time/time.ts'
import type { LoadOptions } from './load.ts'

export interface Sample {
  name: string
  /** What its cost grows with; undefined if its cost does not grow with the number of quotas. */
  grows?: string
  run(db: Database): Promise<unknown>
}

/** @param loaded a database that `loadQuotas` filled with the same options */
export async function samplesOf(loaded: Queryable, { quotas, users, now }: LoadOptions): Promise<Sample[]> {
  const list =
    (filter: QuotaFilter, order: QuotaOrder, start: PageStart = FIRST) =>
    (db: Database) =>
      listQuotas(db, filter, order, start, PAGE_SIZE, now)
  const user = Math.ceil(users / 2)
  const busiestUser = 1
  const ids = (await quotasOfUser(loaded, user, now)).quotas.map(({ id }) => id)
  const someId = ids[0] ?? 0
  const author = { now, actor: 'plans', requestId: 'plans' }
  const receivers = Array.from({ length: 10 }, (_, n) => ({ user_id: user + n, units: 5 }))
  const tenth = { after: { value: null, id: quotaIdOf(Math.ceil(quotas / 10), shardFrom(0)) } }
  return [
    { name: 'A quota by its id', run: db => findQuota(db, someId) },
    { name: 'Summary of a user', run: db => quotasOfUser(db, user, now) },
    { name: 'Summary of the user with the most quotas', run: db => quotasOfUser(db, busiestUser, now) },
    { name: "A user's list, newest first", run: list({ user_id: user }, NEWEST) },
    { name: "A user's list, soonest expiry first", run: list({ user_id: user }, SOONEST) },
    {
      name: "A user's list, most remaining first",
      run: list({ user_id: user }, { by: 'remaining', descending: true }),
    },
    { name: "A user's list, active ones", run: list({ user_id: user, status: 'active' }, NEWEST) },
    { name: 'The list of the user with the most quotas', run: list({ user_id: busiestUser }, NEWEST) },
    { name: "A user's deleted quotas", run: list({ user_id: busiestUser, status: 'deleted' }, NEWEST) },
    {
      name: 'The quotas of 20 users, for a bulk change',
      run: db =>
        selectQuotasOfUsers(
          db,
          Array.from({ length: 20 }, (_, n) => user + n),
          { kind: 'grant', status: 'active' },
          now,
        ),
    },
    {
      name: "A dry run of a bulk change of a user's quotas",
      run: db => previewBulkStep(db, ids, { action: 'suspend' }, author),
    },
    {
      name: 'A dry run of units for 10 users',
      run: db => previewGiveStep(db, receivers, GIFT, author),
    },
    {
      name: 'What a request has changed of 10 users',
      run: db => {
        const userIds = receivers.map(({ user_id }) => user_id)
        return db.transaction(tx => changesOfRequest(tx, userIds, { ...author, since: now }), 'keyed snapshot')
      },
    },
    { name: 'All users, newest first', run: list({}, NEWEST) },
    { name: 'All users, newest first, deep by cursor', run: list({}, NEWEST, tenth) },
    {
      name: 'All users, newest first, deep by page number',
      grows: 'skipped rows, up to 100,000',
      run: list({}, NEWEST, { skip: Math.min(100_000, Math.floor(quotas / 2)) }),
    },
    { name: 'All users, newest first, the last page', run: list({}, NEWEST, { skip: Math.floor(quotas * 0.94) }) },
    { name: 'All users, soonest expiry first', run: list({}, SOONEST) },
    { name: 'All users, latest expiry first', run: list({}, LATEST) },
    {
      name: 'All users, soonest expiry first, deep by cursor',
      run: list({}, SOONEST, { after: { value: now + 200 * DAY, id: someId } }),
    },
    { name: 'All users, caps', run: list({ kind: 'cap' }, NEWEST) },
    {
      name: 'All users, caps, soonest expiry first',
      grows: 'caps, up to 5,000',
      run: list({ kind: 'cap' }, SOONEST),
    },
    { name: 'All users, deleted', run: list({ status: 'deleted' }, NEWEST) },
    { name: 'All users, deleted, soonest expiry first', run: list({ status: 'deleted' }, SOONEST) },
    ...(['name', 'external_ref', 'created_at'] as const).map(by => ({
      name: `All users, by ${by}`,
      run: list({}, { by, descending: false }),
    })),
    { name: 'All users, with an external reference', run: list({ external_ref: `contract-${quotas}` }, SOONEST) },
    { name: 'All users, a name that few have', run: list({ name: `PACKAGE ${quotas - 1}` }, NEWEST) },
    { name: 'All users, a name that all have', grows: 'quotas, up to 10,000', run: list({ name: 'pack' }, NEWEST) },
    { name: 'All users, expired', grows: 'expired quotas, up to 10,000', run: list({ status: 'expired' }, NEWEST) },
    {
      name: 'All users, expired, latest expiry first, deep by cursor',
      run: list({ status: 'expired' }, LATEST, { after: { value: now - 300 * DAY, id: someId } }),
    },
    {
      name: 'All users, expiring within a day, newest first',
      grows: 'quotas that expire that day, up to 5,000',
      run: list({ expires_after: now, expires_before: now + DAY }, NEWEST),
    },
    {
      name: 'All users, suspended',
      grows: 'suspended quotas, up to 10,000',
      run: list({ status: 'suspended' }, NEWEST),
    },
    {
      name: 'All users, suspended, by name',
      grows: 'suspended quotas, up to 10,000',
      run: list({ status: 'suspended' }, { by: 'name', descending: false }),
    },
    {
      name: 'All users, scheduled',
      grows: 'scheduled quotas, up to 10,000',
      run: list({ status: 'scheduled' }, NEWEST),
    },
    {
      name: 'All users, exhausted',
      grows: 'exhausted quotas, up to 10,000',
      run: list({ status: 'exhausted' }, NEWEST),
    },
    {
      name: 'All users, exhausted, soonest expiry first',
      grows: 'exhausted quotas, up to 10,000',
      run: list({ status: 'exhausted' }, SOONEST),
    },
    { name: 'All users, active, newest first', grows: 'quotas, up to 50,000', run: list({ status: 'active' }, NEWEST) },
    {
      name: 'All users, active, soonest expiry first',
      grows: 'quotas, up to 50,000',
      run: list({ status: 'active' }, SOONEST),
    },
    {
      name: 'All users, active caps, by name',
      grows: 'quotas, up to 50,000',
      run: list({ status: 'active', kind: 'cap' }, { by: 'name', descending: true }),
    },
    { name: 'All users, active, newest first, deep by cursor', run: list({ status: 'active' }, NEWEST, tenth) },
    {
      name: 'All users, active, soonest expiry first, deep by cursor',
      run: list({ status: 'active' }, SOONEST, { after: { value: now + 200 * DAY, id: someId } }),
    },
    { name: 'Alerts', grows: 'reached percents, up to 10,000', run: db => listAlerts(db, { size: PAGE_SIZE, now }) },
  ]
}

export const PAGE_SIZE = 20
export const DAY = DAY_MS
export const NEWEST: QuotaOrder = { by: 'id', descending: true }
export const SOONEST: QuotaOrder = { by: 'expires_at', descending: false }
const GIFT: GiveTerms = {
  period: 'month',
  until: 'window_end',
  monthZone: 'UTC',
  reason: 'plans',
  again: true,
  name: 'Extra units for',
}
const LATEST: QuotaOrder = { by: 'expires_at', descending: true }
export const FIRST: PageStart = { skip: 0 }
