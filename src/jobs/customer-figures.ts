import type { Database } from '../db/connection/database.ts'
import { shardsBehind } from '../db/usage/maintenance.ts'
import {
  type FiguresSource,
  renewFigures,
  type StoredFigures,
  takeBackWalks,
  walkIdleShards,
} from '../db/users/customer-figures.ts'
import { figuresDueAt, figuresOf, fundedDays, nameKeyOf } from '../domain/forecasts/customer-figures.ts'
import { nextChangeOf, standingOf, urgencyOf } from '../domain/forecasts/customer-standing.ts'
import { dailyRateOf } from '../domain/forecasts/forecast.ts'
import { unknownIn } from '../domain/quotas/quota.ts'
import type { EpochMs } from '../domain/time/time.ts'
import { createPageSize, forEachApart } from './isolation.ts'
import type { Job } from './runner.ts'

/**
 * Makes the figures of customers anew where something has happened, and all of them once a day. It walks over the accounts of all shards,
 * again and again: after a stop it goes on where it was. Any number of processes may run it.
 */
export interface CustomerFigures extends Job {
  /**
   * One step: a page of each shard whose walk is due, each in a short transaction.
   * @throws PartsFailed after the last shard, if some failed
   */
  renewOnce(now: EpochMs, signal?: AbortSignal): Promise<Renewal>
}

interface Renewal {
  /** Users whose figures were due. */
  due: number
  /** Whether a shard has accounts that were not looked at. */
  isBehind: boolean
}

export interface CustomerFiguresOptions {
  db: Database
  now: () => EpochMs
  /** Users whose figures a page makes, at most. */
  pageSize?: number
}

/** Some 100 ms: of a busy user, up to 14,000 rows of usage are read, of others some hundred. */
const PAGE = 100

/** From the beginning of a walk over a shard to the next, by any process. */
const INTERVAL_MS = 15_000
/** The same where walks find nothing to do: each writes how far it has come, 64 commits that would be most of what an idle service costs. */
const IDLE_INTERVAL_MS = 45_000

export function createCustomerFigures({ db, now: clock, pageSize = PAGE }: CustomerFiguresOptions): CustomerFigures {
  const page = createPageSize(pageSize)
  let intervalMs = INTERVAL_MS

  async function renewOnce(now: EpochMs, signal?: AbortSignal): Promise<Renewal> {
    const renewal = { due: 0, isBehind: false }
    await takeBackWalks(db, now)
    await walkIdleShards(db, now, now - intervalMs)
    await forEachApart(await shardsBehind(db, 'figures', now - intervalMs), signal, async shard => {
      const { due, hasMore, unreadable } = await page.run(users =>
        renewFigures(db, shard, now, users, source => figuresAt(source, now)),
      )
      renewal.due += due
      renewal.isBehind ||= hasMore
      const [first] = unreadable
      if (first === undefined) return
      const ids = unreadable.map(({ user_id }) => user_id).join(', ')
      throw new Error(`no figures of ${unreadable.length === 1 ? 'user' : 'users'} ${ids}: ${first.error.message}`)
    })
    return renewal
  }

  return {
    name: 'customer figures',
    renewOnce,
    async step(signal) {
      const { due, isBehind } = await renewOnce(clock(), signal)
      if (due > 0) intervalMs = INTERVAL_MS
      else if (!isBehind) intervalMs = Math.min(2 * intervalMs, IDLE_INTERVAL_MS)
      // At most a third of the time, and a tenth while no figures are due: senders come first, and figures tell how old they are.
      const pauseOf = (tookMs: number) => (due > 0 ? 2 : 9) * tookMs
      return { isBehind, pauseMs: tookMs => Math.max(isBehind ? 5 : intervalMs, pauseOf(tookMs)) }
    },
  }
}

/** Undefined for a user with a quota of which a newer version has stored what this one does not know. */
function figuresAt(source: FiguresSource, now: EpochMs): StoredFigures | undefined {
  const { user_id, sequence, profile_version, first, last_message_at, days } = source
  if (source.quotas.some(quota => unknownIn(quota) !== null)) return undefined
  const quotas = source.quotas.filter(({ expires_at }) => expires_at === null || expires_at > now)
  const figures = figuresOf(days)
  const dailyRate = dailyRateOf({ first, days: fundedDays(days) }, now)
  const standing = standingOf(user_id, quotas, { dailyRate, isAsking: figures.sent + figures.denied > 0 }, now)
  return {
    user_id,
    ...{ sequence, profile_version, name_key: nameKeyOf(source.name) },
    computed_at: now,
    due_at: figuresDueAt(nextChangeOf(quotas, now), now),
    state: standing.state,
    urgency: urgencyOf(standing, days.find(({ day }) => day === 0)?.denied ?? 0, now),
    used_share: standing.used_share,
    ...figures,
    daily_rate: dailyRate,
    last_message_at: last_message_at ?? 0,
  }
}
