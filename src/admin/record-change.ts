import { replaceAlerts } from '../db/alerts.ts'
import type { Transaction } from '../db/database.ts'
import { addReservations } from '../db/ledger/add-reservations.ts'
import { closeWindows } from '../db/ledger/close-windows.ts'
import { runLedgerCalls } from '../db/ledger-calls.ts'
import { appendEvents, lockExpiryPosition, type QuotaTotals } from '../db/outbox-writes.ts'
import { insertChange, type RecordedChange } from '../db/quota-history.ts'
import { fenceOtherQuotas, insertQuota, replaceQuota, setLiveQuotas } from '../db/quotas.ts'
import { newAlerts } from '../domain/alerts.ts'
import { type Change, eventsOfChange } from '../domain/outbox-event.ts'
import type { ClosedWindow, Quota } from '../domain/quota.ts'
import type { Reservation } from '../domain/reservation.ts'
import { shardOfQuota } from '../domain/shard.ts'
import { viewOf } from '../domain/view.ts'
import type { Author } from './author.ts'
import { countUnexpired } from './user-limits.ts'

/** What a change of a quota comes to, decided and not yet written. */
export interface Decision {
  change: Change
  /** Windows that the change closes, oldest first. */
  closed: readonly ClosedWindow[]
  /** Units that were used elsewhere before the quota was created, as a reservation. */
  opening?: Reservation | null
  /** The user's other unexpired quotas; some that have expired may be among them. */
  others: readonly Quota[]
}

/**
 * The last step of a change: writes the quota, its closed windows, its marks, the audit entry and the events.
 *
 * The user's other unexpired quotas get a new `seq` too, so that no engine writes what it decided from memory before the change.
 * The events come last: they lock the end of the shard's outbox until the commit.
 */
export async function recordChange(
  tx: Transaction,
  { change, closed, opening = null, others }: Decision,
  author: Author,
): Promise<void> {
  const { before, after } = change
  const { now } = author
  const shard = shardOfQuota(after.id)
  await (before === null ? insertQuota(tx, after) : replaceQuota(tx, after))
  const scope = { now }
  const windows = closed.map(window => ({ ...window, quota_id: after.id }))
  if (opening !== null)
    await runLedgerCalls(tx, [addReservations.call(scope, [{ ...opening, made_by: null, settled_by: null }])])
  if (windows.length > 0) await runLedgerCalls(tx, [closeWindows.call(scope, windows)])
  if (before !== null || after.alerted.length > 0) await replaceAlerts(tx, after, newAlerts(before, after), now)
  await fenceOtherQuotas(tx, after, now)
  await setLiveQuotas(tx, after.user_id, countUnexpired([...others, after], now), now)
  await insertChange(tx, after.id, auditEntryOf(change, author))
  const position = await lockExpiryPosition(tx, shard)
  await appendEvents(tx, shard, eventsOfChange(change, now, position), now, totalsOf(change))
}

function auditEntryOf(change: Change, { now, actor, requestId }: Author): RecordedChange {
  const { action, before, after } = change
  return {
    version: after.version,
    action,
    at: now,
    actor,
    request_id: requestId,
    reason: 'reason' in change ? (change.reason ?? null) : null,
    before: before && viewOf(before, now),
    after: viewOf(after, now),
  }
}

/** How the change moves the numbers of quotas in the shard, by which lists know their totals. */
function totalsOf({ action, after }: Change): QuotaTotals {
  const present = { created: 1, updated: 0, deleted: -1 }[action]
  const deleted = action === 'deleted' ? 1 : 0
  return after.kind === 'grant'
    ? { grants: present, deleted_grants: deleted, caps: 0, deleted_caps: 0 }
    : { grants: 0, deleted_grants: 0, caps: present, deleted_caps: deleted }
}
