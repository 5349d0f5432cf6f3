/** What administrators do with the breaker, and how it pauses a destination. */
import { removeAllMinutes } from '../../db/breaker/minutes.ts'
import type { Destination } from '../../db/breaker/past.ts'
import { type BreakerRow, lockBreaker, writeBreaker } from '../../db/breaker/settings.ts'
import { insertChanges } from '../../db/changes/insert.ts'
import type { Database } from '../../db/connection/database.ts'
import { appendEvents } from '../../db/outbox/writes.ts'
import { insertPause, latestOfBreaker, lockPauses } from '../../db/pauses/pauses.ts'
import { lockAccounts } from '../../db/quotas/quotas.ts'
import { isBeingErased } from '../../db/users/erasure.ts'
import { type Evidence, evidenceViewOf, pauseMsOf } from '../../domain/pauses/breaker.ts'
import { type BreakerPatch, changeBreaker } from '../../domain/pauses/breaker-settings.ts'
import { type Pause, type PauseDraft, pauseViewOf } from '../../domain/pauses/pause.ts'
import { isDeepEqual } from '../../domain/quotas/quota-settings.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Author } from '../kit/author.ts'
import type { VersionCheck } from '../kit/lock-quota.ts'
import { createPause } from './pauses.ts'

export type BreakerUpdated =
  | { outcome: 'changed' | 'unchanged'; breaker: BreakerRow }
  | { outcome: 'version_mismatch'; version: number }

/** Changes the settings by merging. */
export function updateBreaker(
  db: Database,
  patch: BreakerPatch,
  author: Author,
  mayChange: VersionCheck,
): Promise<BreakerUpdated> {
  return db.transaction(async tx => {
    const row = await lockBreaker(tx)
    if (!mayChange(row.version)) return { outcome: 'version_mismatch', version: row.version }
    const { settings: before } = row
    const after = changeBreaker(before, patch)
    if (isDeepEqual(before, after)) return { outcome: 'unchanged', breaker: row }
    const version = row.version + 1
    if (!isDeepEqual(before.message_types, after.message_types)) await removeAllMinutes(tx)
    await writeBreaker(tx, after, version)
    await insertChanges(tx, 'breaker', [{ id: 0, version, action: 'updated', before, after }], author)
    return { outcome: 'changed', breaker: { ...row, version, settings: after } }
  })
}

/** A destination that the breaker found, and whether it only observes. */
export interface Finding extends Destination {
  evidence: Evidence
  message_types: readonly string[]
  observed: boolean
}

export type Tripped =
  | { outcome: 'tripped'; pause: Pause }
  /** `held`: it trips already. */
  | { outcome: 'held' | 'being_erased' | 'too_many_pauses' }

/** Whether a destination trips already, and so does not trip again. What was only observed does not keep it from being paused. */
export function isHeld(last: Pause | undefined, observed: boolean, now: EpochMs): boolean {
  if (last === undefined || last.until === null || last.until <= now) return false
  return last.observed ? observed : last.lifted_at === null
}

/** Pauses a destination, or notes that it would be paused: once, however many processes find it at the same time. */
export function trip(db: Database, finding: Finding, author: Author): Promise<Tripped> {
  const { user_id, country, evidence, message_types, observed } = finding
  const { now } = author
  return db.transaction(async tx => {
    await lockAccounts(tx, [user_id])
    if (await isBeingErased(tx, user_id)) return { outcome: 'being_erased' }
    await lockPauses(tx)
    const last = await latestOfBreaker(tx, user_id, country)
    if (isHeld(last, observed, now)) return { outcome: 'held' }
    // What was observed makes the first real pause no longer.
    const before =
      last === undefined || last.until === null || last.observed !== observed
        ? null
        : { from: last.created_at, until: last.until }
    const draft: PauseDraft = {
      ...{ user_id, country, message_types, observed },
      evidence: evidenceViewOf(evidence),
      until: now + pauseMsOf(before, now),
      reason: null,
      origin: 'breaker',
    }
    const pause = await (observed ? insertPause(tx, draft, author) : paused(createPause(tx, draft, author)))
    if (pause === undefined) return { outcome: 'too_many_pauses' }
    await appendEvents(tx, [{ user_id, type: 'breaker.tripped', data: { pause: pauseViewOf(pause, now) } }], now)
    return { outcome: 'tripped', pause }
  })
}

/** The user is locked and not being erased, and the end lies ahead: it can only be refused because too many are active. */
const paused = async (making: ReturnType<typeof createPause>): Promise<Pause | undefined> => {
  const made = await making
  return made.outcome === 'created' ? made.pause : undefined
}
