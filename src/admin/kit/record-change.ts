import { insertChanges, type NewChange } from '../../db/changes/insert.ts'
import type { Transaction } from '../../db/connection/database.ts'
import { runLedgerCalls } from '../../db/ledger/cluster-statements.ts'
import { closeWindows } from '../../db/ledger/windows.ts'
import { addReservations } from '../../db/ledger/write-reservations.ts'
import { appendEvents, lockExpiryPositions, type QuotaTotals } from '../../db/outbox/writes.ts'
import { replaceAlerts } from '../../db/quotas/alerts.ts'
import { fenceQuotas, insertQuotas, replaceQuotas, setLiveQuotas } from '../../db/quotas/quotas.ts'
import { type Shard, shardOf, shardOfQuota } from '../../domain/basics/shard.ts'
import { type Change, eventsOfChange, type OutboxEvent } from '../../domain/events/outbox-event.ts'
import { newAlerts } from '../../domain/quotas/alerts.ts'
import type { ClosedWindow, Quota } from '../../domain/quotas/quota.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Reservation } from '../../domain/units/reservation.ts'
import { viewOf } from '../../domain/units/view.ts'
import type { Author } from './author.ts'
import { requireAllowance, unitsMovedBy } from './moved-units.ts'
import { countUnexpired } from './user-limits.ts'

/** A change of a quota that is decided and not yet written. */
export interface Decision {
  change: Change
  /** Windows that the change closes, oldest first. */
  closed: readonly ClosedWindow[]
  /** Units that the change itself uses, as a reservation of the service's own: used elsewhere before the quota was created, or handed on. */
  booking?: Reservation | null
  /** What it tells beside the change of the quota. */
  events?: readonly OutboxEvent[]
}

/** The changes of one user's quotas, at most one for each quota. */
export interface DecisionsOfUser {
  decisions: readonly Decision[]
  /** The user's other unexpired quotas; some that have expired may be among them. */
  others: readonly Quota[]
}

/** The last step of a change of one quota. */
export function recordChange(
  tx: Transaction,
  { others, ...decision }: Decision & Pick<DecisionsOfUser, 'others'>,
  author: Author,
): Promise<void> {
  return recordChanges(tx, [{ decisions: [decision], others }], author)
}

/**
 * The last step of a change: writes the quotas, their closed windows, their marks, the audit entries and the events. It is
 * one statement per table, however many quotas there are.
 *
 * The users' other unexpired quotas get a new `seq` too, so that no engine writes what it decided from memory before the
 * change. The events come last: they lock the ends of the shards' outboxes until the commit.
 *
 * @param users in ascending order, so that rows are written in the engine's order
 * @throws Problem `forbidden` if it moves more units than the author may
 */
export async function recordChanges(tx: Transaction, users: readonly DecisionsOfUser[], author: Author): Promise<void> {
  const { now, allowance } = author
  if (allowance !== undefined)
    for (const { decisions } of users) {
      const changes = decisions.map(({ change }) => change)
      const [first] = changes
      if (first !== undefined) await requireAllowance(tx, first.after.user_id, changes, { now, allowance })
    }
  const scope = { now }
  const decisions = users.flatMap(user => user.decisions)
  const changes = decisions.map(({ change }) => change)
  const quotasOf = (isNew: boolean) =>
    changes.filter(({ before }) => (before === null) === isNew).map(({ after }) => after)
  const [created, changed] = [quotasOf(true), quotasOf(false)]
  if (created.length > 0) await insertQuotas(tx, created)
  if (changed.length > 0) await replaceQuotas(tx, changed)

  // Their ids name the quota or the transfer, so none is used again: any `seq` will do.
  const bookings = decisions.flatMap(({ booking }) =>
    booking ? [{ ...booking, seq: 0, made_by: null, settled_by: null }] : [],
  )
  if (bookings.length > 0) await runLedgerCalls(tx, [addReservations.call(scope, bookings)])
  const windows = decisions.flatMap(({ change: { after }, closed }) =>
    closed.map(window => ({ ...window, quota_id: after.id })),
  )
  if (windows.length > 0) await runLedgerCalls(tx, [closeWindows.call(scope, windows)])
  const marked = changes.filter(({ before, after }) => before !== null || after.alerted.length > 0)
  if (marked.length > 0) {
    const reached = marked.map(({ before, after }) => ({ quota: after, reached: newAlerts(before, after) }))
    await replaceAlerts(tx, reached, now)
  }
  await fenceQuotas(
    tx,
    users.flatMap(({ others }) => others),
    now,
  )
  await setLiveQuotas(tx, liveQuotasOf(users, now), now)
  await insertChanges(
    tx,
    'quota',
    changes.map(change => auditEntryOf(change, author)),
    author,
  )
  await emitChanges(tx, users, now)
}

/** How many quotas of each user are neither deleted nor expired after the changes. */
function liveQuotasOf(users: readonly DecisionsOfUser[], now: EpochMs): Map<number, number> {
  return new Map(
    users.flatMap(({ decisions, others }) => {
      const quotas = [...others, ...decisions.map(({ change }) => change.after)]
      const userId = decisions[0]?.change.after.user_id
      return userId === undefined ? [] : [[userId, countUnexpired(quotas, now)] as const]
    }),
  )
}

async function emitChanges(tx: Transaction, users: readonly DecisionsOfUser[], now: EpochMs): Promise<void> {
  const totals = totalsOf(users.flatMap(({ decisions }) => decisions.map(({ change }) => change)))
  const positions = await lockExpiryPositions(tx, [...totals.keys()])
  const events = users.flatMap(({ decisions, others }) => {
    const changed = decisions.map(({ change }) => change.after)
    return decisions.flatMap(({ change, events: further = [] }) => {
      const shard = shardOf(change.after.user_id)
      const position = positions.get(shard)
      if (position === undefined) throw new Error(`shard ${shard} has no outbox`)
      const rest = [...others, ...changed.filter(quota => quota !== change.after)]
      return [...eventsOfChange(change, now, position, rest), ...further]
    })
  })
  await appendEvents(tx, events, now, totals)
}

function auditEntryOf(change: Change, { now, allowance }: Author): NewChange<'quota'> {
  const { action, before, after } = change
  return {
    id: after.id,
    version: after.version,
    action,
    reason: change.reason ?? null,
    transfer_id: change.transfer_id ?? null,
    moved_units: allowance === undefined ? null : unitsMovedBy(change),
    before: before && viewOf(before, now),
    after: viewOf(after, now),
  }
}

/** How the changes move the numbers of quotas in each shard, by which lists know their totals. */
function totalsOf(changes: readonly Change[]): Map<Shard, QuotaTotals> {
  const ofShard = new Map<Shard, QuotaTotals>()
  for (const { action, after } of changes) {
    const shard = shardOfQuota(after.id)
    const totals = ofShard.get(shard) ?? { grants: 0, caps: 0, deleted_grants: 0, deleted_caps: 0 }
    ofShard.set(shard, totals)
    const present = { created: 1, updated: 0, deleted: -1 }[action]
    totals[after.kind === 'grant' ? 'grants' : 'caps'] += present
    if (action === 'deleted') totals[after.kind === 'grant' ? 'deleted_grants' : 'deleted_caps'] += 1
  }
  return ofShard
}
