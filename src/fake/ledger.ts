/** Quotas, reservations and pauses in memory, changed by the rules of the service. */
import { forbiddenByOthers } from '../admin/kit/user-limits.ts'
import { summarize } from '../domain/forecasts/summary.ts'
import {
  isActive,
  type Pause,
  type PauseDraft,
  type PausesByCountry,
  pauseIssues,
  pausesByCountry,
  pausesOf,
} from '../domain/pauses/pause.ts'
import type { Quota, QuotaDraft, QuotaPatch } from '../domain/quotas/quota.ts'
import * as rules from '../domain/quotas/quota.ts'
import type { EpochMs } from '../domain/time/time.ts'
import type { Command, Outcome } from '../domain/units/command.ts'
import { decide } from '../domain/units/decide.ts'
import { createDraft } from '../domain/units/draft.ts'
import { openingOf, outstandingOf, type Reservation } from '../domain/units/reservation.ts'
import { countedValueOf, counterOf, type KeyOf, type ValueCounter } from '../domain/units/value-counter.ts'
import { invalidRequest } from '../errors.ts'
import { found, refusal } from '../http/changes/outcomes.ts'

const ACTOR = 'fake'
/** Tests shall not mistake a count for an id. */
const FIRST_ID = 1_000_000
/** Explanations name this many quotas that have ended, as those of the service. */
const MAX_ENDED = 20

export interface Ledger {
  perform(command: Command): Outcome
  /** @throws Problem, as the following */
  create(draft: QuotaDraft): Quota
  find(id: number): Quota
  update(id: number, patch: QuotaPatch, mayChange: (version: number) => boolean): Quota
  remove(id: number, mayChange: (version: number) => boolean): void
  summary(userId: number): object
  pause(draft: PauseDraft): Pause
  liftPause(id: number): void
}

export function createLedger(now: () => EpochMs): Ledger {
  const pauses = createPauses(now)
  const { perform, closeExpired, known, put, quotasOf, reservationsOf } = createRows(now, at => pauses.activeAt(at))
  let lastId = FIRST_ID
  return {
    perform,
    create(draft) {
      const at = now()
      const created = rules.createQuota(draft, { id: lastId + 1, now: at, actor: ACTOR })
      if ('issues' in created) throw invalidRequest(created.issues)
      const quota = put(created.quota, at)
      lastId = quota.id
      const opening = openingOf(quota)
      if (opening !== null) reservationsOf(quota.user_id).set(opening.id, opening)
      return quota
    },
    find: id => known(id, () => true),
    update(id, patch, mayChange) {
      const quota = known(id, mayChange)
      const changed = rules.changeQuota(quota, patch, { now: now(), actor: ACTOR })
      if (changed.outcome === 'unchanged') return quota
      if (changed.outcome !== 'changed') throw refusal(changed)
      return put(changed.quota, now())
    },
    remove(id, mayChange) {
      put(rules.deleteQuota(known(id, mayChange), { now: now(), actor: ACTOR }).quota, now())
    },
    summary(userId) {
      const at = now()
      closeExpired(userId, at)
      const undeleted = quotasOf(userId).filter(({ deleted_at }) => deleted_at === null)
      const open = undeleted.filter(quota => isOpen(quota, at))
      // A forecast needs a week of use.
      return summarize(
        userId,
        open,
        undeleted.length - open.length,
        null,
        pausesOf(pauses.activeAt(at), userId, at),
        at,
      )
    },
    pause: pauses.add,
    liftPause: pauses.lift,
  }
}

function createPauses(now: () => EpochMs) {
  const all = new Map<number, Pause>()
  return {
    activeAt: (at: EpochMs) => pausesByCountry([...all.values()].filter(pause => isActive(pause, at))),
    add(draft: PauseDraft): Pause {
      const at = now()
      const issues = pauseIssues(draft, at)
      if (issues.length > 0) throw invalidRequest(issues)
      const id = all.size + 1
      const pause = { ...draft, id, created_at: at, created_by: ACTOR, lifted_at: null, lifted_by: null }
      all.set(id, pause)
      return pause
    },
    lift(id: number): void {
      const pause = found(all.get(id), { what: 'pause', id })
      if (isActive(pause, now())) all.set(id, { ...pause, lifted_at: now(), lifted_by: ACTOR })
    },
  }
}

/** What the tables hold in the service. */
function createRows(now: () => EpochMs, pausesAt: (at: EpochMs) => PausesByCountry) {
  /** By id, in ascending order. */
  const quotas = new Map<number, Quota>()
  const reservations = new Map<number, Map<string, Reservation>>()
  const values = { keyOf: createKeyOf(), stored: new Map<string, ValueCounter>() }

  const quotasOf = (userId: number) => [...quotas.values()].filter(quota => quota.user_id === userId)

  function reservationsOf(userId: number): Map<string, Reservation> {
    const known = reservations.get(userId) ?? new Map<string, Reservation>()
    reservations.set(userId, known)
    return known
  }

  function run(command: Command, at: EpochMs): Outcome {
    const all = reservationsOf(command.user_id)
    const named = all.get(command.id)
    const own = quotasOf(command.user_id)
    const isDrawn = ({ id }: Quota) => named?.draws.some(({ quota_id }) => quota_id === id) ?? false
    const open = own.filter(quota => isOpen(quota, at) || isDrawn(quota))
    const draft = createDraft(command.user_id, open, named ? [named] : [], { ended: endedOf(own, at), ...values })
    const outcome = decide(draft, command, at, { observe: false, pauses: pausesAt(at) })
    for (const quota of draft.quotas) {
      const before = quotas.get(quota.id)
      if (before !== undefined) quotas.set(quota.id, { ...before, ...quota })
    }
    for (const [place, cap] of draft.valueCaps) values.stored.set(place, counterOf(cap))
    for (const [id, reservation] of draft.reservations) all.set(id, reservation)
    return outcome
  }

  /** The service does this by itself. */
  function closeExpired(userId: number, at: EpochMs): void {
    for (const reservation of reservationsOf(userId).values()) {
      if (reservation.expires_at > at || outstandingOf(reservation) === 0) continue
      run({ op: 'expire', user_id: userId, id: reservation.id }, at)
    }
  }

  /** @throws Problem if there is none, or it has another version */
  function known(id: number, mayChange: (version: number) => boolean): Quota {
    const stored = quotas.get(id)
    if (stored !== undefined) closeExpired(stored.user_id, now())
    const closed = quotas.get(id)
    const quota = found(closed?.deleted_at === null ? closed : undefined, { what: 'quota', id })
    const { version } = quota
    if (!mayChange(version)) throw refusal({ outcome: 'version_mismatch', version })
    return quota
  }

  /** @throws Problem if the user's other quotas forbid it */
  function put(quota: Quota, at: EpochMs): Quota {
    const others = quotasOf(quota.user_id).filter(({ id, deleted_at }) => id !== quota.id && deleted_at === null)
    const forbidden = forbiddenByOthers(quota, others, at)
    if (forbidden !== undefined) throw refusal(forbidden)
    quotas.set(quota.id, quota)
    return quota
  }

  return {
    ...{ quotasOf, reservationsOf, closeExpired, known, put },
    perform(command: Command): Outcome {
      const at = now()
      closeExpired(command.user_id, at)
      return run(command, at)
    },
  }
}

/** Numbers values as they come: nothing is stored that would need a hash. */
function createKeyOf(): KeyOf {
  const known = new Map<string, bigint>()
  return (of, command) => {
    const value = countedValueOf(of, command)
    if (value === null) return null
    const name = `${of} ${command.user_id} ${value}`
    const key = known.get(name) ?? BigInt(known.size)
    known.set(name, key)
    return key
  }
}

function isOpen({ deleted_at, expires_at }: Quota, at: EpochMs): boolean {
  return deleted_at === null && (expires_at === null || expires_at > at)
}

function endedOf(quotas: readonly Quota[], at: EpochMs) {
  return quotas
    .flatMap(({ user_id, id, kind, expires_at, deleted_at }) =>
      deleted_at === null && expires_at !== null && expires_at <= at ? [{ user_id, id, kind, expires_at }] : [],
    )
    .sort((one, other) => other.expires_at - one.expires_at || other.id - one.id)
    .slice(0, MAX_ENDED)
}
