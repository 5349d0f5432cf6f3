import type { ExportRecord } from '../../contract/users.ts'
import { type AuditFilter, type AuditKey, listChanges } from '../../db/changes/audit.ts'
import type { Database } from '../../db/connection/database.ts'
import type { Page, Slice } from '../../db/lists/pages.ts'
import { closedWindowsOf } from '../../db/quotas/history.ts'
import { listIncreaseRequests } from '../../db/quotas/increase-requests.ts'
import { listTransfers } from '../../db/quotas/transfers.ts'
import { listReservations, type ReservationKey } from '../../db/reservations/lists.ts'
import { exportUsage } from '../../db/usage/export.ts'
import { findAddress } from '../../db/users/addresses.ts'
import { namesOfUser } from '../../db/users/principal-names.ts'
import { findProfile } from '../../db/users/profiles.ts'
import { denialsAfter, eventsAfter, pausesAfter, quotasAfter } from '../../db/users/user-data.ts'
import { requestViewOf } from '../../domain/increase-request.ts'
import { pauseViewOf } from '../../domain/pause.ts'
import type { Quota } from '../../domain/quota.ts'
import { type EpochMs, formatTimestamp, formatTimestampOrNull } from '../../domain/time.ts'
import { addressViewOf } from '../../domain/user-address.ts'
import { closedWindowViewOf, profileViewOf, viewOf } from '../../domain/view.ts'
import { eventView } from '../../events/views.ts'
import { changeViewOf } from '../audit/responses.ts'
import { denialViewOf } from '../denials/lists.ts'
import { recordViewOf } from '../reservations/lists.ts'
import { transferView } from '../transfers/responses.ts'
import { countsOf } from '../usage/responses.ts'

/** Rows that are read at a time: what an export holds in memory. */
const PAGE = 200

/**
 * Everything of a user, page by page. Each page is a short read of its own, so an export of any size
 * delays no sender; each record is as of its reading, and what is written meanwhile may or may not be among them.
 */
export async function* exportOf(db: Database, userId: number, now: EpochMs): AsyncGenerator<ExportRecord[], void> {
  let records = 0
  yield [{ record: 'export', user_id: userId, as_of: formatTimestamp(now) }]
  for await (const page of pagesOf(db, userId, now)) {
    records += page.length
    yield page
  }
  yield [{ record: 'end', records }]
}

async function* pagesOf(db: Database, userId: number, now: EpochMs): AsyncGenerator<ExportRecord[], void> {
  yield* profilePages(db, userId, now)
  yield* addressPages(db, userId, now)
  for (const state of ['undeleted', 'deleted'] as const) yield* quotaPages(db, userId, state, now)
  yield* reservationPages(db, userId, now)
  yield* denialPages(db, userId)
  yield* usagePages(db, userId, now)
  yield* eventPages(db, userId)
  yield* transferPages(db, userId, now)
  yield* pausePages(db, userId, now)
  yield* requestPages(db, userId, now)
  const names = await namesOfUser(db, userId)
  yield names.map(({ seen_at, ...name }) => ({ record: 'principal_name', ...name, seen_at: formatTimestamp(seen_at) }))
}

/** All pages of a list. */
async function* slicesOf<Row, Key>(
  read: (page: Page<Key>) => Promise<Slice<Row, Key>>,
  now: EpochMs,
): AsyncGenerator<Row[], void> {
  for (let after: Key | undefined; ; ) {
    const { items, next } = await read({ after, size: PAGE, now })
    yield items
    if (next === null) return
    after = next
  }
}

async function* profilePages(db: Database, userId: number, now: EpochMs): AsyncGenerator<ExportRecord[], void> {
  const profile = await findProfile(db, userId)
  if (profile.version > 0) yield [{ record: 'user_profile', ...profileViewOf(profile) }]
  yield* changePages(db, { user_id: userId, resource: 'profile' }, { record: 'profile_change', user_id: userId }, now)
}

async function* addressPages(db: Database, userId: number, now: EpochMs): AsyncGenerator<ExportRecord[], void> {
  const address = await findAddress(db, userId)
  if (address !== undefined) yield [{ record: 'user_address', user_id: userId, ...addressViewOf(address, false) }]
  yield* changePages(
    db,
    { user_id: userId, resource: 'address' },
    { record: 'user_address_change', user_id: userId },
    now,
  )
}

async function* quotaPages(
  db: Database,
  userId: number,
  state: 'undeleted' | 'deleted',
  now: EpochMs,
): AsyncGenerator<ExportRecord[], void> {
  for (let after = 0; ; ) {
    const quotas = await quotasAfter(db, userId, after, state, PAGE)
    for (const quota of quotas) {
      yield [{ record: 'quota', ...viewOf(quota, now), deleted_at: formatTimestampOrNull(quota.deleted_at) }]
      yield* windowPages(db, quota, now)
      yield* changePages(db, { quota_id: quota.id }, { record: 'quota_change', quota_id: quota.id }, now)
    }
    if (quotas.length < PAGE) return
    after = quotas.at(-1)?.id ?? after
  }
}

async function* windowPages(db: Database, { id }: Quota, now: EpochMs): AsyncGenerator<ExportRecord[], void> {
  const read = async (page: Page<number>) => (await closedWindowsOf(db, id, page)) ?? { items: [], next: null }
  for await (const windows of slicesOf(read, now))
    yield windows.map(window => ({ record: 'quota_window', quota_id: id, ...closedWindowViewOf(window) }))
}

async function* changePages(
  db: Database,
  filter: AuditFilter,
  shown: ExportRecord,
  now: EpochMs,
): AsyncGenerator<ExportRecord[], void> {
  const read = (page: Page<AuditKey>) => listChanges(db, filter, page)
  for await (const changes of slicesOf(read, now)) yield changes.map(change => ({ ...shown, ...changeViewOf(change) }))
}

async function* reservationPages(db: Database, userId: number, now: EpochMs): AsyncGenerator<ExportRecord[], void> {
  const read = (page: Page<ReservationKey>) => listReservations(db, { user_id: userId }, page)
  for await (const reservations of slicesOf(read, now))
    yield reservations.map(reservation => ({ record: 'reservation', ...recordViewOf(reservation) }))
}

async function* denialPages(db: Database, userId: number): AsyncGenerator<ExportRecord[], void> {
  for (let after = { at: Number.NEGATIVE_INFINITY, number: 0 }; ; ) {
    const denials = await denialsAfter(db, userId, after, PAGE)
    yield denials.map(({ explanation, ...denial }) => ({
      record: 'denial',
      ...denialViewOf(denial),
      explain: explanation,
    }))
    if (denials.length < PAGE) return
    after = denials.at(-1) ?? after
  }
}

async function* usagePages(db: Database, userId: number, now: EpochMs): AsyncGenerator<ExportRecord[], void> {
  for await (const rows of exportUsage(db, userId, now, PAGE)) {
    yield rows.map(({ table, bucket, quota_id, country, message_type, ...sums }) => ({
      record: table,
      start: formatTimestamp(bucket),
      quota_id,
      country,
      message_type,
      ...countsOf(sums),
    }))
  }
}

async function* transferPages(db: Database, userId: number, now: EpochMs): AsyncGenerator<ExportRecord[], void> {
  const read = (page: Page<number>) => listTransfers(db, { user_id: userId }, page)
  for await (const transfers of slicesOf(read, now))
    yield transfers.map(transfer => ({ record: 'transfer', ...transferView(transfer) }))
}

async function* pausePages(db: Database, userId: number, now: EpochMs): AsyncGenerator<ExportRecord[], void> {
  for (let after = { country: '', id: 0 }; ; ) {
    const pauses = await pausesAfter(db, userId, after, PAGE)
    yield pauses.map(pause => ({ record: 'pause', ...pauseViewOf(pause, now) }))
    if (pauses.length < PAGE) return
    after = pauses.at(-1) ?? after
  }
}

async function* requestPages(db: Database, userId: number, now: EpochMs): AsyncGenerator<ExportRecord[], void> {
  const read = (page: Page<number>) => listIncreaseRequests(db, { user_id: userId }, page)
  for await (const requests of slicesOf(read, now))
    yield requests.map(request => ({ record: 'increase_request', ...requestViewOf(request) }))
}

async function* eventPages(db: Database, userId: number): AsyncGenerator<ExportRecord[], void> {
  for (let after = 0; ; ) {
    const events = await eventsAfter(db, userId, after, PAGE)
    yield events.map(event => ({ record: 'event', ...eventView(event) }))
    if (events.length < PAGE) return
    after = events.at(-1)?.sequence ?? after
  }
}
