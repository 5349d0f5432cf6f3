import { insertChanges } from '../../db/changes/insert.ts'
import type { Database, Transaction } from '../../db/connection/database.ts'
import { fenceQuotas, lockAccounts, quotasOfUsers } from '../../db/quotas/quotas.ts'
import { holdRateCard } from '../../db/rates/rate-cards.ts'
import { isBeingErased } from '../../db/users/erasure.ts'
import { claimReference, findProfile, writeProfile } from '../../db/users/profiles.ts'
import { profileViewOf } from '../../domain/units/view.ts'
import { changeProfile, type ProfilePatch, type UserProfile } from '../../domain/users/user-profile.ts'
import type { Author } from '../kit/author.ts'
import type { VersionCheck } from '../kit/lock-quota.ts'
import { undoRefused } from '../kit/refused.ts'
import { type NoSuchCard, noSuchCard } from '../rates/rate-cards.ts'

export type ProfileUpdated =
  | { outcome: 'changed' | 'unchanged'; profile: UserProfile }
  | { outcome: 'version_mismatch'; version: number }
  /** The user has another reference. */
  | { outcome: 'immutable_ref' }
  /** The reference names another user, or did until a few minutes ago. */
  | { outcome: 'taken_ref' }
  /** The user's data is being erased. */
  | { outcome: 'being_erased' }
  | NoSuchCard

/**
 * Changes a user's profile by merging, and makes the user if need be. A repeated call finds what it asks for and changes
 * nothing.
 */
export function updateProfile(
  db: Database,
  userId: number,
  patch: ProfilePatch,
  author: Author,
  mayChange: VersionCheck,
): Promise<ProfileUpdated> {
  return undoRefused<ProfileUpdated>(db, (tx, undo) => change(tx, userId, patch, author, mayChange, undo))
}

async function change(
  tx: Transaction,
  userId: number,
  patch: ProfilePatch,
  author: Author,
  mayChange: VersionCheck,
  undo: (outcome: ProfileUpdated) => never,
): Promise<ProfileUpdated> {
  await lockAccounts(tx, [userId])
  if (await isBeingErased(tx, userId)) return { outcome: 'being_erased' }
  const before = await findProfile(tx, userId)
  // With a synchronous standby, a commit proves that it has what was read: an earlier call's answer may have been lost.
  const refuse = (outcome: ProfileUpdated) => (before.version === 0 ? undo(outcome) : outcome)
  if (!mayChange(before.version)) return refuse({ outcome: 'version_mismatch', version: before.version })
  const changed = changeProfile(before, patch, author)
  if (changed.outcome !== 'changed') return refuse(changed)
  const { profile } = changed
  const isNamed = profile.ref === before.ref || profile.ref === null || (await claimReference(tx, profile.ref, userId))
  if (!isNamed) return refuse({ outcome: 'taken_ref' })
  const { rate_card_id } = profile
  if (rate_card_id !== before.rate_card_id) {
    if (!(await holdRateCard(tx, rate_card_id))) return undo(noSuchCard(rate_card_id))
    // The engine remembers whose card the user has together with the quotas.
    await fenceQuotas(tx, await quotasOfUsers(tx, [{ user_id: userId }], author.now, 'lock'), author.now)
  }
  await recordProfile(tx, before, profile, author)
  return changed
}

/** The last step of a change of a profile: writes it, and the audit entry. */
export async function recordProfile(
  tx: Transaction,
  before: UserProfile,
  after: UserProfile,
  author: Author,
): Promise<void> {
  await writeProfile(tx, after)
  const { user_id: id, version } = after
  const isNew = before.version === 0
  const shown = { before: isNew ? null : profileViewOf(before), after: profileViewOf(after) }
  await insertChanges(tx, 'profile', [{ id, version, action: isNew ? 'created' : 'updated', ...shown }], author)
}
