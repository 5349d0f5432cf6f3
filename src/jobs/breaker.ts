import { type Finding, isHeld, trip } from '../admin/breaker.ts'
import {
  countWatchedUsers,
  type Destination,
  findDaySuspects,
  findSuspects,
  hasFeedback,
  quartersOf,
  recentSlots,
  removeMinutes,
} from '../db/breaker/minutes.ts'
import { readBreaker, takeTurn, writeWatchedUsers } from '../db/breaker/settings.ts'
import type { Database, Log } from '../db/connection/database.ts'
import { latestOfBreaker } from '../db/pauses/pauses.ts'
import { USAGE_BUCKET_MS } from '../domain/bounds.ts'
import {
  type Evidence,
  HISTORY_DAYS,
  type History,
  historyOf,
  judge,
  measure,
  NOTHING_USUAL,
} from '../domain/breaker.ts'
import type { BreakerSettings } from '../domain/breaker-settings.ts'
import { type Pause, pausedBy } from '../domain/pause.ts'
import { DAY_MS, type EpochMs } from '../domain/time.ts'
import { SERVICE_ACTOR } from '../domain/webhook.ts'
import type { Pauses } from '../engine/pauses.ts'
import { createCleaner } from './cleaner.ts'
import { forEachApart } from './isolation.ts'
import type { Job, RetentionJob } from './runner.ts'
import type { UsageRollup } from './usage-rollup.ts'

export interface BreakerOptions {
  db: Database
  log: Log
  now: () => EpochMs
  pauses: Pauses
  /** Adds up what was sent before it is judged. */
  rollup: Pick<UsageRollup, 'rollUpOnce'>
  /** How often what was sent lately is judged, by whichever process comes first. */
  intervalMs: number
  /** The message types that are watched unless the settings name others. */
  messageTypes: readonly string[]
  /** Called for each destination that trips. */
  onTrip?: (trip: Pick<Finding, 'observed'> & Pick<Evidence, 'budget'>) => void
}

/** The breaker: judges what was sent to each destination, and pauses those that exceed a budget (src/domain/breaker.ts). */
export interface Breaker extends Job {
  /** One turn, unless another process has just had it. Resolves to the destinations that trip. */
  judgeOnce(signal?: AbortSignal): Promise<Finding[]>
}

/** The `request_id` of what the breaker pauses. */
const REQUEST_ID = 'breaker'

export const watchedTypes = ({ mode, message_types }: BreakerSettings, configured: readonly string[]) =>
  mode === 'off' ? [] : (message_types ?? configured)

export function createBreaker(options: BreakerOptions): Breaker {
  const { db, log, now, pauses, rollup, intervalMs, messageTypes, onTrip } = options
  const historyFor = createHistories(db)

  async function evidenceOf(
    destination: Destination,
    last: Pause | undefined,
    { budgets }: BreakerSettings,
    types: readonly string[],
    at: EpochMs,
  ): Promise<Evidence | null> {
    // Who lifted a pause knew of what was sent before.
    const since = last === undefined || last.observed ? null : last.lifted_at
    const slots = await recentSlots(db, destination, types, at)
    const figures = measure(since === null ? slots : slots.filter(({ start }) => start >= since), at)
    if (judge(figures, NOTHING_USUAL, budgets) === null) return null
    return judge(figures, await historyFor(destination, types, at), budgets)
  }

  async function judgeOne(
    destination: Destination,
    settings: BreakerSettings,
    types: readonly string[],
    at: EpochMs,
  ): Promise<Finding | undefined> {
    const { user_id, country } = destination
    if (types.some(message_type => pausedBy(pauses.known, { user_id, country, message_type }, at))) return undefined
    const last = await latestOfBreaker(db, user_id, country)
    // Every code of a user without feedback would count as pumped.
    const observed = settings.mode === 'observe' || !(await hasFeedback(db, user_id, at))
    if (isHeld(last, observed, at)) return undefined
    const evidence = await evidenceOf(destination, last, settings, types, at)
    if (evidence === null) return undefined
    const finding = { ...destination, evidence, message_types: types, observed }
    const tripped = await trip(db, finding, { now: at, actor: SERVICE_ACTOR, requestId: REQUEST_ID })
    if (tripped.outcome === 'too_many_pauses') log.error({ user_id, country }, 'breaker: too many pauses are active')
    return tripped.outcome === 'tripped' ? finding : undefined
  }

  async function judgeOnce(signal?: AbortSignal): Promise<Finding[]> {
    const at = now()
    const { settings } = await readBreaker(db)
    const types = watchedTypes(settings, messageTypes)
    if (types.length === 0) return []
    await rollup.rollUpOnce(signal)
    // Some less than the interval: the turn of a process is not exactly as long after its last one.
    if (!(await takeTurn(db, 'judged_at', at, 0.9 * intervalMs))) return []
    const findings: Finding[] = []
    await forEachApart(await suspectsOf(db, settings, types, at), signal, async suspect => {
      const finding = await judgeOne(suspect, settings, types, at)
      if (finding === undefined) return
      findings.push(finding)
      onTrip?.({ observed: finding.observed, budget: finding.evidence.budget })
    })
    if (findings.some(({ observed }) => !observed)) await pauses.read()
    return findings
  }

  return {
    name: 'breaker',
    judgeOnce,
    async step(signal) {
      await judgeOnce(signal)
      return { isBehind: false, pauseMs: tookMs => Math.max(tookMs, intervalMs - tookMs) }
    },
  }
}

/** Destinations that may exceed a budget, and may be paused. */
async function suspectsOf(
  db: Database,
  settings: BreakerSettings,
  types: readonly string[],
  at: EpochMs,
): Promise<Destination[]> {
  const suspects = await findSuspects(db, at, settings.budgets)
  // What is sent counts for a day longer than minutes are kept.
  if (await takeTurn(db, 'swept_at', at, USAGE_BUCKET_MS)) {
    suspects.push(...(await findDaySuspects(db, at, types, settings.budgets)))
    await writeWatchedUsers(db, await countWatchedUsers(db, at, types))
  }
  const unique = new Map(suspects.map(suspect => [`${suspect.user_id} ${suspect.country}`, suspect]))
  return [...unique.values()].filter(
    ({ user_id, country }) => !settings.pass_users.includes(user_id) && !settings.pass_countries.includes(country),
  )
}

/** Destinations whose histories are kept in memory, until the next day. */
const MAX_HISTORIES = 20_000

/** What was usual of destinations: it holds for a day (`historyOf`). */
function createHistories(db: Database) {
  let [day, known] = [Number.NaN, new Map<string, History>()]
  return async (destination: Destination, types: readonly string[], now: EpochMs): Promise<History> => {
    const today = Math.floor(now / DAY_MS)
    if (today !== day || known.size >= MAX_HISTORIES) [day, known] = [today, new Map()]
    const key = [destination.user_id, destination.country, ...types].join(' ')
    const kept = known.get(key)
    if (kept !== undefined) return kept
    const history = historyOf(
      await quartersOf(db, destination, types, (today - HISTORY_DAYS) * DAY_MS, today * DAY_MS),
      now,
    )
    known.set(key, history)
    return history
  }
}

/** Removes minutes that the breaker judges no longer. */
export const createBreakerCleaner = ({ db, now }: Pick<BreakerOptions, 'db' | 'now'>): RetentionJob =>
  createCleaner({ name: 'breaker cleaner', now, remove: (shard, at, rows) => removeMinutes(db, shard, at, rows) })
