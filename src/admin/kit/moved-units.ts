/** What support staff may give and take: a number of units of each user in a day, by all of them and all their changes together. */
import type { Transaction } from '../../db/connection/database.ts'
import { movedUnitsOf } from '../../db/quotas/history.ts'
import type { Change } from '../../domain/events/outbox-event.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { Problem } from '../../errors.ts'

/** By how many units a change moves a limit. A new grant moves it from 0. */
export function unitsMovedBy({ before, after }: Pick<Change, 'before' | 'after'>): number {
  return Math.abs((after.limit ?? 0) - (before?.limit ?? 0))
}

/**
 * Requires the lock of the user's account, so that changes at the same time count each other.
 *
 * @throws Problem `forbidden` if the changes move more units than the allowance has left
 */
export async function requireAllowance(
  tx: Transaction,
  userId: number,
  changes: readonly Change[],
  { now, allowance }: { now: EpochMs; allowance: number },
): Promise<void> {
  const units = changes.reduce((sum, change) => sum + unitsMovedBy(change), 0)
  const moved = await movedUnitsOf(tx, userId, now)
  if (moved + units > allowance) throw aboveAdjustLimit(units, allowance, moved)
}

/** The refusal of support staff who ask for more units than they may give or take. */
export function aboveAdjustLimit(units: number, limit: number, moved: number): Problem {
  const allowed = limit === 0 ? 'no units' : `at most ${limit} units a day`
  const before = moved === 0 ? '' : ` ${moved} were moved in the last 24 hours,`
  const detail = `The support role may move the limits of a user by ${allowed};${before}${moved === 0 ? '' : ' and'} this call asks for ${units}.`
  return new Problem('forbidden', detail, { reason: 'above_adjust_limit' })
}
