/** How users say where messages about their own events go, and how they take it back. Each change holds the lock of the user's account. */

import { insertChanges } from '../../db/changes/insert.ts'
import type { Database, Transaction } from '../../db/connection/database.ts'
import { lockAccounts, lockKnownAccounts } from '../../db/quotas/quotas.ts'
import { countLink, findAddress, writeAddress } from '../../db/users/addresses.ts'
import { isBeingErased } from '../../db/users/erasure.ts'
import type { Shard } from '../../domain/basics/shard.ts'
import type { ActionOn } from '../../domain/events/audit.ts'
import {
  type AddressSet,
  auditedAddressOf,
  setAddress,
  statusOf,
  type UserAddress,
} from '../../domain/users/user-address.ts'
import type { MessageLanguage } from '../../domain/webhooks/webhook.ts'
import type { Author } from '../kit/author.ts'
import { undoRefused } from '../kit/refused.ts'

export type UserAddressSet =
  | ({ outcome: 'set' } & AddressSet)
  /** As many links as there may be went out in this hour, for this user or to this address. */
  | { outcome: 'too_many_links' }
  | { outcome: 'being_erased' }

/** An address that a user asks for, and what it gets if it is another one. */
export interface AddressDraft {
  user_id: number
  address: string
  language: MessageLanguage
  serial: number
}

/**
 * Sets the address of a user; whether a link must confirm it is in the answer.
 *
 * @param counters of the links that the user, and the address, are sent
 */
export function setUserAddress(
  db: Database,
  { serial, ...wanted }: AddressDraft,
  counters: readonly { shard: Shard; digest: Uint8Array }[],
  author: Author,
): Promise<UserAddressSet> {
  return undoRefused<UserAddressSet>(db, async (tx, refuse) => {
    await lockAccounts(tx, [wanted.user_id])
    if (await isBeingErased(tx, wanted.user_id)) return refuse({ outcome: 'being_erased' })
    const before = await findAddress(tx, wanted.user_id)
    const { address, mustConfirm } = setAddress(before, wanted, author.now, serial)
    for (const { shard, digest } of mustConfirm ? counters : []) {
      if (!(await countLink(tx, shard, digest, author.now))) return refuse({ outcome: 'too_many_links' })
    }
    await record(tx, before, address, 'created', author)
    return { outcome: 'set', address, mustConfirm }
  })
}

export type AddressChanged =
  /** `unchanged`: it was so before. */
  | { outcome: 'changed' | 'unchanged' }
  /** The link is too old, or of another address. */
  | { outcome: 'outdated' }

/** Confirms the address that a link names. */
export function confirmAddress(
  db: Database,
  { user_id, serial }: Pick<UserAddress, 'user_id' | 'serial'>,
  author: Author,
): Promise<AddressChanged> {
  return changeAddress(db, user_id, 'outdated', async (tx, before) => {
    if (before.address === null || before.serial !== serial) return { outcome: 'outdated' }
    if (statusOf(before) === 'confirmed') return { outcome: 'unchanged' }
    if (before.confirmed_at === null && before.expires_at < author.now) return { outcome: 'outdated' }
    const after = { ...before, confirmed_at: author.now, refused_at: null, version: before.version + 1 }
    await record(tx, before, after, 'confirmed', author)
    return { outcome: 'changed' }
  })
}

/** Takes the address of a user back. @param serial the address that a link names; undefined: any */
export function withdrawAddress(
  db: Database,
  userId: number,
  author: Author,
  serial?: number,
): Promise<AddressChanged> {
  return changeAddress(db, userId, 'unchanged', async (tx, before) => {
    if (before.address === null) return { outcome: 'unchanged' }
    if (serial !== undefined && before.serial !== serial) return { outcome: 'outdated' }
    const marks = { address: null, confirmed_at: null, refused_at: null, version: before.version + 1 }
    await record(tx, before, { ...before, ...marks }, 'withdrawn', author)
    return { outcome: 'changed' }
  })
}

/** @param without the outcome for a user who has none, or whose data is being erased */
function changeAddress(
  db: Database,
  userId: number,
  without: 'unchanged' | 'outdated',
  change: (tx: Transaction, before: UserAddress) => Promise<AddressChanged>,
): Promise<AddressChanged> {
  return db.transaction(async tx => {
    await lockKnownAccounts(tx, [userId])
    const isErased = await isBeingErased(tx, userId)
    const before = await findAddress(tx, userId)
    return before === undefined || isErased ? { outcome: without } : change(tx, before)
  })
}

/** The last step of a change: writes the address, and the audit entry unless only the language or the end of a link is another one. */
async function record(
  tx: Transaction,
  before: UserAddress | undefined,
  after: UserAddress,
  action: ActionOn<'address'>,
  author: Author,
): Promise<void> {
  await writeAddress(tx, after)
  const { user_id: id, version } = after
  if (version === before?.version) return
  const shown = { before: before === undefined ? null : auditedAddressOf(before), after: auditedAddressOf(after) }
  await insertChanges(tx, 'address', [{ id, version, action, ...shown }], author)
}
