import { MAX_LOOKAHEAD_STEPS } from '../basics/bounds.ts'
import { usedShareOf } from '../quotas/alerts.ts'
import { isExtra } from '../quotas/extra-grant.ts'
import { headroomOf, isLive, type Quota, remainingOf, roll, shownWindowEnd } from '../quotas/quota.ts'
import { averageMs } from '../time/period.ts'
import { withinSteps } from '../time/step-budget.ts'
import { DAY_MS, type EpochMs, MINUTE_MS } from '../time/time.ts'
import type { QUOTA_DENIAL_REASONS } from '../units/reservation.ts'
import { runsOutAt } from './run-out.ts'
import { answersOf, type ScopeSending } from './sending.ts'

/** Where a customer stands who is at risk, the most urgent first. */
export const RISKS = ['blocked', 'near_limit', 'running_out', 'ending'] as const
type Risk = (typeof RISKS)[number]

/** `blocked_on_purpose`: by caps of 0. `no_quota`: the user has none that is live, and asks for none. */
export const CUSTOMER_STATES = [...RISKS, 'ok', 'blocked_on_purpose', 'no_quota'] as const
export type CustomerState = (typeof CUSTOMER_STATES)[number]

/** Where a customer stands: what the user can send now, and how soon that ends. */
export interface Standing {
  /** Units of messages in general, or of the kind of which most can be sent if none of these can; null: nothing bounds it. */
  sendable: number | null
  state: CustomerState
  /** Why messages are denied; null if the state is not one of denials. */
  reason: (typeof QUOTA_DENIAL_REASONS)[number] | null
  /** The quota that the state is about; null if it is about all of them. */
  quota_id: number | null
  /** When the blocked user can send again, the window ends that is nearly used up, the units run out or the grant ends; null: it is not known. */
  until: EpochMs | null
  /** The messages that the state is about; null: all. */
  countries: readonly string[] | null
  message_types: readonly string[] | null
  /** The share that is used of what is nearest to its end, in millionths: of a cap, or of the grants of one scope together. */
  used_share: number
}

type Reached = Omit<Standing, 'sendable' | 'used_share'>

/** How far ahead a user is seen to run out, and a grant to end. */
const AHEAD_MS = 7 * DAY_MS

/** Of one computation for a row of a list: an hundredth of what a summary may take. */
const MAX_STEPS = MAX_LOOKAHEAD_STEPS / 100

/** What PostgreSQL stores as an `integer`. */
export const MAX_SHARE = 2 ** 31 - 1

/**
 * Where a user stands at `now`. `quotas` are the user's undeleted, unexpired ones.
 *
 * @param dailyRate units per day; null: it is not known
 * @param isAsking whether the user has asked for units lately
 */
export function standingOf(
  userId: number,
  quotas: readonly Quota[],
  { dailyRate, isAsking }: { dailyRate: number | null; isAsking: boolean },
  now: EpochMs,
): Standing {
  const rolled = quotas.map(quota => roll(quota, now).quota)
  const live = rolled.filter(quota => isLive(quota, now))
  const answers = answersOf(userId, rolled, now)
  const pools = poolsOf(live)
  const reached =
    denied(answers, live, isAsking) ??
    nearLimit(pools) ??
    runningOut(rolled, live, dailyRate, now) ??
    ending(live, now) ??
    OK
  return { sendable: sendableIn(answers), ...reached, used_share: Math.max(0, ...pools.map(shareOf)) }
}

const NOTHING = { reason: null, quota_id: null, until: null, countries: null, message_types: null }
const OK: Reached = { state: 'ok', ...NOTHING }

function sendableIn([general, ...scopes]: readonly ScopeSending[]): number | null {
  if (general === undefined || general.denial === null) return general?.available ?? null
  const most = Math.max(0, ...scopes.map(({ available }) => available ?? Number.POSITIVE_INFINITY))
  return Number.isFinite(most) ? most : null
}

/** Null if no message is denied, or only some are on purpose. */
function denied(answers: readonly ScopeSending[], live: readonly Quota[], isAsking: boolean): Reached | null {
  const byQuotas = answers.flatMap(({ denial, ...answer }) => {
    const { reason = null } = denial ?? {}
    return denial === null || (reason !== 'cap_reached' && reason !== 'quota_exhausted')
      ? []
      : [{ ...answer, denial, reason }]
  })
  const blocks = new Set(live.filter(({ kind, limit }) => kind === 'cap' && limit === 0).map(({ id }) => id))
  const onPurpose = ({ limiting_quota_id: id }: { limiting_quota_id: number | null }) => id !== null && blocks.has(id)
  const chance = byQuotas.find(({ denial }) => !onPurpose(denial))
  const isWhole = answers.every(({ denial }) => denial !== null)
  const shown = chance ?? (isWhole ? byQuotas[0] : undefined)
  if (shown !== undefined) {
    const { countries, message_types, reason } = shown
    const { limiting_quota_id: quota_id, retry_at: until } = shown.denial
    const state = chance === undefined ? 'blocked_on_purpose' : 'blocked'
    return { state, reason, quota_id, until, countries, message_types }
  }
  if (!isWhole) return null
  return { ...NOTHING, state: isAsking ? 'blocked' : 'no_quota', reason: 'no_quota' }
}

/* ── Pools ──────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** Quotas of which one counts only with the others: a cap by itself, or the grants that pay for the same messages. */
type Pool = readonly [Quota, ...Quota[]]

/** Without those that have no limit, and without caps that count each value by itself or are made to block. */
function poolsOf(live: readonly Quota[]): Pool[] {
  const limited = live.filter(({ kind, limit, per }) => per === null && (kind === 'grant' || limit !== 0))
  const pools = Map.groupBy(limited, ({ kind, id, countries, message_types }) =>
    kind === 'cap' ? id : JSON.stringify([countries, message_types]),
  )
  return [...pools.values()].flatMap(([first, ...others]) => {
    if (first === undefined || [first, ...others].some(({ limit }) => limit === null)) return []
    return [[first, ...others] satisfies Pool]
  })
}

function shareOf(pool: Pool): number {
  const sum = (of: (quota: Quota) => number) => pool.reduce((total, quota) => total + of(quota), 0)
  const whole = { limit: sum(({ limit }) => limit ?? 0), rolled_over: sum(({ rolled_over }) => rolled_over) }
  return Math.min(usedShareOf({ ...whole, used: sum(({ used }) => used) }), MAX_SHARE)
}

/** The fullest pool that has reached the first percent of its quotas' `alert_at`, and has units left. */
function nearLimit(pools: readonly Pool[]): Reached | null {
  const near = pools
    .filter(pool => pool.some(quota => headroomOf(quota) > 0))
    .map(pool => ({ pool, share: shareOf(pool), first: Math.min(...pool.flatMap(({ alert_at }) => alert_at)) }))
    .filter(({ share, first }) => share > 0 && share >= first * 10_000)
    .reduce<{ pool: Pool; share: number } | null>((most, one) => (most && most.share >= one.share ? most : one), null)
  if (near === null) return null
  const [{ id, countries, message_types }] = near.pool
  const ends = near.pool.map(quota => shownWindowEnd(quota) ?? Number.POSITIVE_INFINITY)
  return { ...NOTHING, state: 'near_limit', quota_id: id, until: finite(Math.min(...ends)), countries, message_types }
}

const finite = (at: number) => (Number.isFinite(at) ? at : null)

/* ── Ends ahead ─────────────────────────────────────────────────────────────────────────────────────────────────── */

/** A user who is stopped by a short cap only can go on before the week is over: then the end of the units counts. */
function runningOut(
  rolled: readonly Quota[],
  live: readonly Quota[],
  dailyRate: number | null,
  now: EpochMs,
): Reached | null {
  if (dailyRate === null || dailyRate <= 0) return null
  const isShort = ({ kind, per, period }: Quota) =>
    kind === 'cap' && per === null && period !== null && averageMs(period) <= AHEAD_MS
  const counted = live.some(isShort) ? rolled.filter(({ kind }) => kind === 'grant') : rolled
  const until = withinSteps(MAX_STEPS, budget => runsOutAt(counted, dailyRate / DAY_MS, now, budget, AHEAD_MS))
  return until === null || until <= now ? null : { ...NOTHING, state: 'running_out', until }
}

/** The grant with units left that ends first within a week. Extra units are meant to end. */
function ending(live: readonly Quota[], now: EpochMs): Reached | null {
  const [first] = live
    .flatMap(quota => {
      const { id, kind, expires_at: until, countries, message_types } = quota
      if (kind !== 'grant' || isExtra(quota) || remainingOf(quota) === 0) return []
      return until !== null && until <= now + AHEAD_MS ? [{ quota_id: id, until, countries, message_types }] : []
    })
    .sort((one, other) => one.until - other.until || one.quota_id - other.quota_id)
  return first === undefined ? null : { state: 'ending', reason: null, ...first }
}

/* ── Urgency ────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** Urgencies of one state: the states of risk lie apart by this much. */
const OF_STATE = 1_000_000_000

/** The first urgency of a state, and the first behind it. */
export function urgenciesOf(risk: Risk): { from: number; to: number } {
  const from = (RISKS.length - RISKS.indexOf(risk)) * OF_STATE
  return { from, to: from + OF_STATE }
}

export const isRisk = (state: CustomerState): state is Risk => RISKS.some(risk => risk === state)

/**
 * The place of a customer among those at risk, highest first; 0: at none. By state, and within one by the units denied on the last day, by
 * the share that is used, or by how soon it ends.
 */
export function urgencyOf({ state, until, used_share }: Standing, deniedLately: number, now: EpochMs): number {
  if (!isRisk(state)) return 0
  const minutesLeft = ((until ?? now) - now) / MINUTE_MS
  const within = {
    blocked: deniedLately,
    near_limit: used_share,
    running_out: AHEAD_MS / MINUTE_MS - minutesLeft,
    ending: AHEAD_MS / MINUTE_MS - minutesLeft,
  }
  return urgenciesOf(state).from + Math.max(0, Math.min(Math.floor(within[state]), OF_STATE - 1))
}

/** When the standing can change by time alone: a window or a quota begins or ends. Infinity: never. */
export function nextChangeOf(quotas: readonly Quota[], now: EpochMs): EpochMs {
  const times = quotas.flatMap(quota => {
    const { starts_at, expires_at, window_end } = roll(quota, now).quota
    return [starts_at, expires_at, window_end].filter(at => at !== null).filter(at => at > now)
  })
  return Math.min(Number.POSITIVE_INFINITY, ...times)
}
