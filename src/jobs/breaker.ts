import { type Finding, isHeld, trip } from '../admin/pauses/breaker.ts'
import { findOldMinutes, findSuspects, minutesSince, removeMinutes, type Suspect } from '../db/breaker/minutes.ts'
import { type Destination, hasFeedback, readQuarters, sweepDay } from '../db/breaker/past.ts'
import { readBreaker, takeTurn, writeWatchedUsers } from '../db/breaker/settings.ts'
import type { Database, Log } from '../db/connection/database.ts'
import { latestOfBreaker } from '../db/pauses/pauses.ts'
import { USAGE_BUCKET_MS } from '../domain/basics/bounds.ts'
import {
  type Evidence,
  HISTORY_DAYS,
  type History,
  historyOf,
  judge,
  measure,
  NOTHING_USUAL,
} from '../domain/pauses/breaker.ts'
import type { BreakerSettings } from '../domain/pauses/breaker-settings.ts'
import { pausedBy } from '../domain/pauses/pause.ts'
import { DAY_MS, type EpochMs, MINUTE_MS } from '../domain/time/time.ts'
import { SERVICE_ACTOR } from '../domain/webhooks/webhook.ts'
import type { Pauses } from '../engine/pauses.ts'
import { createCleaner } from './cleaners.ts'
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

/** The breaker: judges what was sent to each destination, and pauses those that exceed a budget (src/domain/pauses/breaker.ts). */
export interface Breaker extends Job {
  /** One turn, unless another process has just had it. Resolves to the destinations that trip. */
  judgeOnce(signal?: AbortSignal): Promise<Finding[]>
}

/** The `request_id` of what the breaker pauses. */
const REQUEST_ID = 'breaker'

export const watchedTypes = ({ mode, message_types }: BreakerSettings, configured: readonly string[]) =>
  mode === 'off' ? [] : (message_types ?? configured)

/** What destinations are judged by in one turn. */
interface Turn {
  readonly settings: BreakerSettings
  readonly types: readonly string[]
  readonly at: EpochMs
}

export function createBreaker(options: BreakerOptions): Breaker {
  const { db, log, now, pauses, rollup, intervalMs, messageTypes, onTrip } = options
  const historyFor = createHistories(db)

  async function judgeOne(suspect: Suspect, isOfDay: boolean, turn: Turn): Promise<Finding | undefined> {
    const { user_id, country } = suspect
    const { settings, types, at } = turn
    if (types.some(message_type => pausedBy(pauses.known, { user_id, country, message_type }, at))) return undefined
    const last = await latestOfBreaker(db, user_id, country)
    // Who lifted a pause knew of what was sent before.
    const since = last === undefined || last.observed || last.lifted_at === null ? 0 : last.lifted_at
    const judgeSince = (slots: Suspect['minutes'], history: History) =>
      judge(
        measure(
          slots.filter(({ start }) => start >= since),
          at,
        ),
        history,
        settings.budgets,
      )
    // Of most suspects the last hour is enough to see that their budgets are larger: what was before only raises these.
    if (!isOfDay && judgeSince(suspect.minutes, NOTHING_USUAL) === null) return undefined
    const history = await historyFor(suspect, turn)
    if (!isOfDay && judgeSince(suspect.minutes, history) === null) return undefined
    const to = suspect.minutes.length === 0 ? at : minutesSince(at)
    const before = await readQuarters(db, suspect, { message_types: types, from: at - DAY_MS - USAGE_BUCKET_MS, to })
    const evidence = judgeSince([...before, ...suspect.minutes], history)
    if (evidence === null) return undefined
    // Every code of a user without feedback would count as pumped.
    const observed = settings.mode === 'observe' || !(await hasFeedback(db, user_id, at))
    if (isHeld(last, observed, at)) return undefined
    const finding = { user_id, country, evidence, message_types: types, observed }
    const tripped = await trip(db, finding, { now: at, actor: SERVICE_ACTOR, requestId: REQUEST_ID })
    if (tripped.outcome === 'too_many_pauses') log.error({ user_id, country }, 'breaker: too many pauses are active')
    return tripped.outcome === 'tripped' ? finding : undefined
  }

  async function judgeOnce(signal?: AbortSignal): Promise<Finding[]> {
    const { settings } = await readBreaker(db)
    const types = watchedTypes(settings, messageTypes)
    // Some less than the interval: the turn of a process is not exactly as long after its last one.
    if (types.length === 0 || !(await takeTurn(db, 'judged_at', now(), 0.9 * intervalMs))) return []
    await rollup.rollUpOnce(signal)
    const turn = { settings, types, at: now() }
    const findings: Finding[] = []
    const suspects = await suspectsOf(db, turn)
    await forEachApart(suspects, signal, async ({ suspect, isOfDay }) => {
      const finding = await judgeOne(suspect, isOfDay, turn)
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

/** Destinations that may exceed a budget, and may be paused; `isOfDay`: the budget of a day. */
async function suspectsOf(db: Database, { settings, types, at }: Turn) {
  const { budgets, pass_users, pass_countries } = settings
  const keyOf = ({ user_id, country }: Destination) => `${user_id} ${country}`
  const found = new Map<string, { suspect: Suspect; isOfDay: boolean }>()
  const isHourJudged = await takeTurn(db, 'hour_judged_at', at, 0.9 * MINUTE_MS)
  for (const suspect of await findSuspects(db, at, budgets, isHourJudged))
    found.set(keyOf(suspect), { suspect, isOfDay: false })
  // What is sent counts for a day longer than minutes are kept.
  if (await takeTurn(db, 'day_judged_at', at, USAGE_BUCKET_MS)) {
    const { suspects, users } = await sweepDay(db, at, types, budgets)
    for (const destination of suspects) {
      const { suspect } = found.get(keyOf(destination)) ?? { suspect: { ...destination, minutes: [] } }
      found.set(keyOf(destination), { suspect, isOfDay: true })
    }
    await writeWatchedUsers(db, users)
  }
  return [...found.values()].filter(
    ({ suspect: { user_id, country } }) => !pass_users.includes(user_id) && !pass_countries.includes(country),
  )
}

/** Destinations whose histories are kept in memory, until the next day. */
const MAX_HISTORIES = 20_000

/** What was usual of destinations: it holds for a day (`historyOf`). */
function createHistories(db: Database) {
  let [day, known] = [Number.NaN, new Map<string, History>()]
  return async ({ user_id, country }: Destination, { types, at }: Turn): Promise<History> => {
    const today = Math.floor(at / DAY_MS)
    if (today !== day || known.size >= MAX_HISTORIES) [day, known] = [today, new Map()]
    const key = [user_id, country, ...types].join(' ')
    const kept = known.get(key)
    if (kept !== undefined) return kept
    const past = { message_types: types, from: (today - HISTORY_DAYS) * DAY_MS, to: today * DAY_MS }
    const history = historyOf(await readQuarters(db, { user_id, country }, past), at)
    known.set(key, history)
    return history
  }
}

/** Removes minutes that the breaker judges no longer. */
export const createBreakerCleaner = ({ db, now }: Pick<BreakerOptions, 'db' | 'now'>): RetentionJob =>
  createCleaner({
    ...{ name: 'breaker cleaner', db, now },
    findShards: () => findOldMinutes(db, now()),
    remove: (_db, shard, _now, rows) => removeMinutes(db, shard, now(), rows),
  })
