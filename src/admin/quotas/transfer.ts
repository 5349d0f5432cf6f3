/** Units that change hands: a transaction over the accounts of both users. */
import type { Database, Transaction } from '../../db/connection/database.ts'
import { BY_KEYS_IN_ORDER } from '../../db/connection/transaction-settings.ts'
import { runLedgerCalls } from '../../db/ledger/cluster-statements.ts'
import { correctWindows } from '../../db/ledger/windows.ts'
import { settleReservations } from '../../db/ledger/write-reservations.ts'
import { findQuota, lockAccounts, nextQuotaNumbers, quotasOfUsers } from '../../db/quotas/quotas.ts'
import {
  begunWith,
  findTransfer,
  insertTransfer,
  lockBooking,
  lockWindow,
  returnOpening,
  setReturned,
  unarchive,
} from '../../db/quotas/transfers.ts'
import { usersBeingErased } from '../../db/users/erasure.ts'
import { quotaIdOf, shardOf } from '../../domain/basics/shard.ts'
import { type Change, transferEvents } from '../../domain/events/outbox-event.ts'
import { withoutReturned } from '../../domain/plans/used-before.ts'
import { createQuota, type Quota, type QuotaChange, roll } from '../../domain/quotas/quota.ts'
import {
  type DecidedReturn,
  decideReturn,
  decideTransfer,
  type NotTransferred,
  type Transfer,
  type TransferTerms,
} from '../../domain/units/transfer.ts'
import type { Author } from '../kit/author.ts'
import { once, type Repeated } from '../kit/idempotency.ts'
import { type Decision, type DecisionsOfUser, recordChanges } from '../kit/record-change.ts'
import { type ForbiddenByOthers, forbiddenByOthers } from '../kit/user-limits.ts'

/** A transfer, and the grant that gave as it is after it. */
export interface Moved {
  transfer: Transfer
  quota: Quota
}

export type Transferred =
  | ({ outcome: 'transferred' } & Moved)
  | { outcome: 'not_found' }
  | { outcome: 'being_erased' }
  | NotTransferred
  | ForbiddenByOthers

export type Returned =
  | ({ outcome: 'returned' } & Moved)
  | { outcome: 'not_found' }
  | NotTransferred
  | Extract<QuotaChange, { outcome: 'immutable_field' | 'below_usage' }>

/** Moves units of a grant to a new grant of a user, once under its key. */
export function transferOnce(
  db: Database,
  quotaId: number,
  terms: TransferTerms,
  author: Author,
  key: string,
): Promise<Transferred | Repeated<Moved>> {
  const request = { operation: 'transfer', quotaId, ...terms }
  return once<Transferred, Moved>(db, callOf(key, request), author, tx => transfer(tx, quotaId, terms, author))
}

interface ReturnTerms {
  /** Null: all that are left over. */
  units: number | null
  reason: string | null
}

/** Gives units of a transfer back, once under its key. */
export function returnOnce(
  db: Database,
  id: number,
  terms: ReturnTerms,
  author: Author,
  key: string,
): Promise<Returned | Repeated<Moved>> {
  const { units, reason } = terms
  // A call without a reason repeats one of a version that took none.
  const request = { operation: 'return', id, units, ...(reason === null ? {} : { reason }) }
  return once<Returned, Moved>(db, callOf(key, request), author, tx => giveBack(tx, id, terms, author))
}

/** A call whose refusal leaves nothing: it has locked two accounts, and may have made one of them. */
const callOf = (key: string, request: { operation: string }) => ({
  ...{ key, request, answerOf: movedOf },
  undoesRefusals: true,
})

const movedOf = (done: Transferred | Returned): Moved | undefined =>
  done.outcome === 'transferred' || done.outcome === 'returned'
    ? { transfer: done.transfer, quota: done.quota }
    : undefined

/** Locks the accounts in ascending order, as batches do, and then the quotas that the change depends on, as they are under those locks. */
async function lockBoth(
  tx: Transaction,
  quotasOf: () => Promise<readonly Pick<Quota, 'user_id' | 'id'>[]>,
  userIds: readonly number[],
  author: Author,
) {
  await tx.query({ text: BY_KEYS_IN_ORDER })
  const users = [...new Set(userIds)].sort((one, other) => one - other)
  await lockAccounts(tx, users)
  const erased = await usersBeingErased(tx, users)
  const quotas = await quotasOf()
  const concerned = users.flatMap(user_id => {
    const own = quotas.filter(quota => quota.user_id === user_id)
    return own.length === 0 ? [{ user_id }] : own
  })
  return { erased, stored: await quotasOfUsers(tx, concerned, author.now, 'lock') }
}

async function transfer(tx: Transaction, quotaId: number, terms: TransferTerms, author: Author): Promise<Transferred> {
  const found = await findQuota(tx, quotaId)
  if (found === undefined || found.deleted_at !== null) return { outcome: 'not_found' }
  const { erased, stored } = await lockBoth(tx, async () => [found], [found.user_id, terms.to_user_id], author)
  if (erased.size > 0) return { outcome: 'being_erased' }
  const giver = stored.find(({ id }) => id === quotaId)
  if (giver === undefined) return { outcome: 'not_found' }
  const [number = 0, quotaNumber = 0] = await nextQuotaNumbers(tx, 2)
  const decided = decideTransfer(giver, terms, { ...author, id: quotaIdOf(number, shardOf(giver.user_id)) })
  if (decided.outcome !== 'transferred') return decided
  const created = createQuota(decided.draft, { ...author, id: quotaIdOf(quotaNumber, shardOf(terms.to_user_id)) })
  if ('issues' in created) return { outcome: 'invalid', issues: created.issues }
  const others = stored.filter(({ id, user_id }) => id !== quotaId && user_id === terms.to_user_id)
  const forbidden = forbiddenByOthers(
    created.quota,
    giver.user_id === terms.to_user_id ? [...others, giver] : others,
    author.now,
  )
  if (forbidden !== undefined) return forbidden

  const made = { ...decided.transfer, to_quota_id: created.quota.id }
  await insertTransfer(tx, made, author.requestId)
  const cause = causeOf(made, terms.reason)
  const [out, into] = transferEvents(
    'transfer.made',
    made,
    made.units,
    { giver: decided.giver, receiver: created.quota },
    author.now,
  )
  await recordBoth(
    tx,
    stored,
    [
      {
        change: { action: 'updated', before: giver, after: decided.giver, ...cause },
        closed: decided.closed,
        booking: decided.booking,
        events: [out],
      },
      { change: { action: 'created', before: null, after: created.quota, ...cause }, closed: [], events: [into] },
    ],
    author,
  )
  return { outcome: 'transferred', transfer: made, quota: decided.giver }
}

/** Of a transfer that is still listed. */
const NOTHING_LEFT: NotTransferred = {
  outcome: 'not_transferable',
  detail: 'The quota of the giver or of the receiver is deleted, so no units can go back.',
}

async function giveBack(
  tx: Transaction,
  id: number,
  { units, reason }: ReturnTerms,
  author: Author,
): Promise<Returned> {
  const found = await findTransfer(tx, id)
  if (found === undefined) return { outcome: 'not_found' }
  if (found.to_user_id === null || found.to_quota_id === null) return NOTHING_LEFT
  const quotas = [
    { user_id: found.user_id, id: found.quota_id },
    { user_id: found.to_user_id, id: found.to_quota_id },
  ]
  const concerned = async () => [...quotas, ...(await begunWith(tx, found.user_id, found.quota_id))]
  const { stored } = await lockBoth(tx, concerned, [found.user_id, found.to_user_id], author)
  const known = await findTransfer(tx, id, 'lock')
  const [giver, receiver] = quotas.map(quota => stored.find(one => one.id === quota.id))
  if (known === undefined) return { outcome: 'not_found' }
  if (giver === undefined || receiver === undefined) return NOTHING_LEFT
  const decided = decideReturn(known, { giver, receiver }, units, author)
  if (decided.outcome !== 'returned') return decided

  const cause = causeOf(decided.transfer, reason)
  await setReturned(tx, decided.transfer)
  await writeBooking(tx, decided, author)
  const begunWithLess = await lowerOpenings(tx, decided, stored, author)
  const [out, into] = transferEvents(
    'transfer.returned',
    decided.transfer,
    decided.units,
    { giver: decided.giver, receiver: decided.receiver },
    author.now,
  )
  await recordBoth(
    tx,
    stored,
    [
      {
        change: { action: 'updated', before: giver, after: decided.giver, ...cause },
        closed: decided.closed,
        events: [out],
      },
      {
        change: { action: 'updated', before: receiver, after: decided.receiver, ...cause },
        closed: decided.receiverClosed,
        events: [into],
      },
      ...begunWithLess.map(change => ({ change: { ...change, ...cause }, closed: [] })),
    ],
    author,
  )
  return { outcome: 'returned', transfer: decided.transfer, quota: decided.giver }
}

/** What the histories of both sides say. */
function causeOf({ id }: Transfer, reason: string | null) {
  return { transfer_id: id, ...(reason === null ? {} : { reason }) }
}

/** What goes back on the giver's side. Of a window that is over it is history, as long as that is kept. */
async function writeBooking(tx: Transaction, { transfer, units, booking, corrections }: DecidedReturn, author: Author) {
  const seq = await lockBooking(tx, transfer.user_id, booking.id)
  if (seq !== undefined)
    await runLedgerCalls(tx, [settleReservations.call(author, [{ ...booking, seq, settled_by: null }])])
  else await unarchive(tx, transfer, units)
  if (corrections.length > 0 && (await lockWindow(tx, transfer)))
    await runLedgerCalls(tx, [correctWindows.call(author, corrections)])
}

/** Takes what came back out of what later quotas of the slot began with: there the giver can send it again. */
async function lowerOpenings(
  tx: Transaction,
  { giver, transfer, units }: DecidedReturn,
  stored: readonly Quota[],
  { now, actor }: Author,
): Promise<Change[]> {
  const changes: Change[] = []
  const lowered: Quota[] = []
  for (const before of stored.toSorted((one, other) => one.id - other.id)) {
    const { quota } = roll(before, now)
    const without = withoutReturned(quota, giver, transfer, units, lowered)
    if (without === null) continue
    lowered.push(quota)
    await returnOpening(tx, before, without.less, now)
    const marks = { version: before.version + 1, updated_at: now, updated_by: actor }
    changes.push({ action: 'updated', before, after: { ...without.quota, ...marks } })
  }
  return changes
}

/** The last step: the decisions of both users, or of the one who is both, in the order of users. */
function recordBoth(
  tx: Transaction,
  stored: readonly Quota[],
  decisions: readonly Decision[],
  author: Author,
): Promise<void> {
  const changed = new Set(decisions.map(({ change }) => change.after.id))
  const users = [...Map.groupBy(decisions, ({ change }) => change.after.user_id)].sort(([one], [other]) => one - other)
  return recordChanges(
    tx,
    users.map(
      ([userId, ofUser]): DecisionsOfUser => ({
        decisions: ofUser,
        others: stored.filter(({ id, user_id }) => user_id === userId && !changed.has(id)),
      }),
    ),
    author,
  )
}
