/** What administrators and the breaker do with pauses of destinations. */
import { insertChanges } from '../../db/changes/insert.ts'
import type { Database, Transaction } from '../../db/connection/database.ts'
import { appendEvents, appendSystemEvent } from '../../db/outbox/writes.ts'
import { findPause, insertPause, lockPauses, PAUSE_SHARD, setLifted } from '../../db/pauses/pauses.ts'
import { lockAccounts } from '../../db/quotas/quotas.ts'
import { isBeingErased } from '../../db/users/erasure.ts'
import { isActive, type Pause, type PauseDraft, pauseIssues, pauseViewOf } from '../../domain/pauses/pause.ts'
import type { ValidationIssue } from '../../errors.ts'
import type { Author } from '../kit/author.ts'
import { once, type Repeated } from '../kit/idempotency.ts'

export type PauseMade =
  | { outcome: 'created'; pause: Pause }
  | { outcome: 'invalid'; issues: ValidationIssue[] }
  | { outcome: 'too_many_pauses' }
  | { outcome: 'being_erased' }

export type PauseLifted =
  /** `unchanged`: it had ended, or was lifted before. */
  { outcome: 'lifted' | 'unchanged'; pause: Pause } | { outcome: 'not_found' }

/** Makes a pause; with an idempotency key, makes it only once. */
export function createPauseOnce(
  db: Database,
  draft: PauseDraft,
  author: Author,
  key: string | undefined,
): Promise<PauseMade | Repeated<Pause>> {
  const request = { operation: 'createPause', ...draft }
  const call = { key, request, answerOf: pauseOf, undoesRefusals: true }
  return once(db, call, author, tx => createPause(tx, draft, author))
}

const pauseOf = (done: PauseMade): Pause | undefined => (done.outcome === 'created' ? done.pause : undefined)

/**
 * Makes a pause as the last step of a transaction. It locks the account of its user, and makes it if need be: an erasure then finds the
 * pause. What is refused is to be undone.
 */
export async function createPause(tx: Transaction, draft: PauseDraft, author: Author): Promise<PauseMade> {
  const { user_id } = draft
  const issues = pauseIssues(draft, author.now)
  if (issues.length > 0) return { outcome: 'invalid', issues }
  if (user_id !== null) {
    await lockAccounts(tx, [user_id])
    if (await isBeingErased(tx, user_id)) return { outcome: 'being_erased' }
  }
  await lockPauses(tx)
  const pause = await insertPause(tx, draft, author)
  if (pause === undefined) return { outcome: 'too_many_pauses' }
  await record(tx, null, pause, author)
  return { outcome: 'created', pause }
}

/** Lifts a pause. One that has ended, or was lifted, stays as it is. */
export function liftPause(db: Database, id: number, author: Author): Promise<PauseLifted> {
  return db.transaction(async tx => {
    await lockPauses(tx)
    const before = await findPause(tx, id)
    if (before === undefined) return { outcome: 'not_found' }
    if (!isActive(before, author.now)) return { outcome: 'unchanged', pause: before }
    const pause = { ...before, lifted_at: author.now, lifted_by: author.actor }
    await setLifted(tx, pause)
    await record(tx, before, pause, author)
    return { outcome: 'lifted', pause }
  })
}

/** Writes the audit entry and the event of a change. */
async function record(tx: Transaction, before: Pause | null, after: Pause, author: Author): Promise<void> {
  const { now } = author
  const isMade = before === null
  const pause = pauseViewOf(after, now)
  const { id, user_id } = after
  const shown = { before: before && pauseViewOf(before, now), after: pause }
  const made = isMade ? ({ version: 1, action: 'created' } as const) : ({ version: 2, action: 'lifted' } as const)
  await insertChanges(tx, 'pause', [{ id, user_id, ...made, ...shown }], author)
  const event = { type: isMade ? 'pause.made' : 'pause.lifted', data: { pause } } as const
  if (after.user_id === null) await appendSystemEvent(tx, PAUSE_SHARD, event, now)
  else await appendEvents(tx, [{ user_id: after.user_id, ...event }], now)
}
