import type { ExportRecord } from '../../contract/users.ts'
import { type AuditedChange, type AuditFilter, listChanges } from '../../db/changes/audit.ts'
import type { Database } from '../../db/connection/database.ts'
import type { Page, Slice } from '../../db/lists/pages.ts'
import { closedWindowsOf } from '../../db/quotas/history.ts'
import { listIncreaseRequests } from '../../db/quotas/increase-requests.ts'
import { listTransfers } from '../../db/quotas/transfers.ts'
import { listReservations } from '../../db/reservations/lists.ts'
import { exportUsage } from '../../db/usage/export.ts'
import { findAddress } from '../../db/users/addresses.ts'
import { namesOfUser } from '../../db/users/principal-names.ts'
import { findProfile } from '../../db/users/profiles.ts'
import { denialsOfExport, eventsOfExport, pausesOfExport, quotasOfExport } from '../../db/users/user-data.ts'
import { pauseViewOf } from '../../domain/pauses/pause.ts'
import { requestViewOf } from '../../domain/quotas/increase-request.ts'
import { type EpochMs, formatTimestamp, formatTimestampOrNull } from '../../domain/time/time.ts'
import { closedWindowViewOf, profileViewOf, viewOf } from '../../domain/units/view.ts'
import { addressViewOf } from '../../domain/users/user-address.ts'
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

type Read<Filter, Row, Key> = (db: Database, filter: Filter, page: Page<Key>) => Promise<Slice<Row, Key> | undefined>

/** All pages of a list. */
async function* slicesOf<Filter, Row, Key>(
  read: Read<Filter, Row, Key>,
  db: Database,
  filter: Filter,
  now: EpochMs,
): AsyncGenerator<Row[], void> {
  for (let after: Key | null | undefined; after !== null; ) {
    const slice: Slice<Row, Key> = (await read(db, filter, { after, size: PAGE, now })) ?? { items: [], next: null }
    yield slice.items
    after = slice.next
  }
}

async function* pagesOf(db: Database, userId: number, now: EpochMs): AsyncGenerator<ExportRecord[], void> {
  const user = { user_id: userId }
  async function* all<Filter, Row, Key>(
    read: Read<Filter, Row, Key>,
    filter: Filter,
    view: (row: Row) => ExportRecord,
  ) {
    for await (const rows of slicesOf(read, db, filter, now)) yield rows.map(view)
  }
  const changes = (filter: AuditFilter, of: ExportRecord) =>
    all(listChanges<AuditedChange>, filter, change => ({ ...of, ...changeViewOf(change) }))

  const profile = await findProfile(db, userId)
  if (profile.version > 0) yield [{ record: 'user_profile', ...profileViewOf(profile) }]
  yield* changes({ ...user, resource: 'profile' }, { record: 'profile_change', ...user })
  const address = await findAddress(db, userId)
  if (address !== undefined) yield [{ record: 'user_address', ...user, ...addressViewOf(address, false) }]
  yield* changes({ ...user, resource: 'address' }, { record: 'user_address_change', ...user })
  for (const state of ['undeleted', 'deleted'] as const) {
    for await (const quotas of slicesOf(quotasOfExport, db, { ...user, state }, now)) {
      for (const quota of quotas) {
        const { id: quota_id, deleted_at } = quota
        yield [{ record: 'quota', ...viewOf(quota, now), deleted_at: formatTimestampOrNull(deleted_at) }]
        yield* all(closedWindowsOf, quota_id, window => ({
          record: 'quota_window',
          quota_id,
          ...closedWindowViewOf(window),
        }))
        yield* changes({ resource: 'quota', thing_id: quota_id }, { record: 'quota_change', quota_id })
      }
    }
  }
  yield* all(listReservations, user, reservation => ({ record: 'reservation', ...recordViewOf(reservation) }))
  yield* all(denialsOfExport, user, ({ explanation: explain, ...denial }) => ({
    record: 'denial',
    ...denialViewOf(denial),
    explain,
  }))
  yield* usagePages(db, userId, now)
  yield* all(eventsOfExport, user, event => ({ record: 'event', ...eventView(event) }))
  yield* all(listTransfers, user, transfer => ({ record: 'transfer', ...transferView(transfer) }))
  yield* all(pausesOfExport, user, pause => ({ record: 'pause', ...pauseViewOf(pause, now) }))
  yield* all(listIncreaseRequests, user, request => ({ record: 'increase_request', ...requestViewOf(request) }))
  const names = await namesOfUser(db, userId)
  yield names.map(({ seen_at, ...name }) => ({ record: 'principal_name', ...name, seen_at: formatTimestamp(seen_at) }))
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
