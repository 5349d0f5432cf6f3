/** What goes wrong during the chaos test: processes are killed, backends terminated and cancelled, and rows held. */
import { setTimeout as pause } from 'node:timers/promises'
import { openDatabase } from '../../../src/db/connection/database.ts'
import { shardOf } from '../../../src/domain/basics/shard.ts'
import { whenDone } from '../cleanup.ts'
import { rawSql } from '../sql.ts'
import { createCaller } from './caller.ts'
import type { Deployment } from './deployment.ts'
import { HOT_USER, USERS } from './messages.ts'
import type { RunRecord } from './record.ts'

export type Victim = 'service' | 'backend' | 'postmaster'

export interface Faults {
  /** Kills a process, or terminates some of the engine's backends. Returns what was killed. */
  kill(victim: Victim): Promise<string>
  /** Lets strangers hold rows and cancel what the engine's backends do, now and then, until `stop`. */
  start(): void
  /**
   * Holds rows of some users while nothing else goes wrong, and waits until these users are served again. `onHeld` is
   * called for each as soon as the rows are held.
   */
  holdInCalm(onHeld: (user: number) => Promise<void>): Promise<void>
  stop(): Promise<void>
}

/** More than twice as long as a batch waits for a lock, and shorter than the server lets a transaction idle. */
const LONGEST_HOLD_MS = 3_000
const SHORTEST_HOLD_MS = 200
/** How long the backends of killed services may go on, and keep their locks. */
const GRACE_MS = 2_500

const SERVICES = [0, 1]
const CHECK = '/api/sms/sender/quota/check'
const ENGINE_BACKENDS = `select pid, state from pg_stat_activity where application_name = 'sms-quota engine'`

export function createFaults(deployment: Deployment, record: RunRecord, random: () => number): Faults {
  const strangers = openDatabase({ url: deployment.url, maxConnections: 6 })
  whenDone(() => strangers.close())
  const call = createCaller(deployment, record, random)
  const below = (bound: number) => Math.floor(random() * bound)
  const oneOf = <const T>(list: readonly [T, ...T[]]) => list[below(list.length)] ?? list[0]
  let isStopped = false
  let hasKilled = false
  let ending: Promise<unknown> = Promise.resolve()
  /** Holds that are cut short when a calm begins, and at the end. */
  let interruption = new AbortController()
  /** Undefined while strangers do as they like. */
  let calm: Promise<void> | undefined

  /** Locks rows of a user for a time. While the database is away, nothing is held. */
  async function hold(user: number, table: 'account' | 'quota', ms: number, onHeld = () => {}): Promise<void> {
    const hold = { user, from: performance.now(), lockedAt: Number.POSITIVE_INFINITY, to: Number.POSITIVE_INFINITY }
    record.holds.push(hold)
    const { signal } = interruption
    const holding = strangers.transaction(async tx => {
      const order = table === 'quota' ? 'id' : 'user_id'
      await tx.query({
        text: rawSql`select 1 from ${table} where shard = $1 and user_id = $2 order by ${order} for update`,
        values: [shardOf(user), user],
      })
      hold.lockedAt = performance.now()
      record.count(table === 'quota' ? 'quotas held' : 'accounts held')
      onHeld()
      await pause(ms, undefined, { signal })
    })
    await holding.catch(() => {})
    hold.to = performance.now()
  }

  async function holdNowAndThen(): Promise<void> {
    while (!isStopped) {
      await calm
      // Short ones more often.
      const ms = SHORTEST_HOLD_MS + random() ** 2 * (LONGEST_HOLD_MS - SHORTEST_HOLD_MS)
      await hold(random() < 0.1 ? HOT_USER : below(USERS), oneOf(['account', 'quota']), ms)
      await pause(below(500))
    }
  }

  async function cancelNowAndThen(): Promise<void> {
    while (!isStopped) {
      await calm
      const text = rawSql`select pg_cancel_backend(pid) from (${ENGINE_BACKENDS} and state <> 'idle' order by random() limit 2) b`
      const cancelled = await strangers.query({ text }).catch(() => [])
      record.count('backends cancelled', cancelled.length)
      await pause(50 + below(300))
    }
  }

  /** Several times, because few are in the middle of a commit at a time. */
  async function terminateBusyBackends(): Promise<number> {
    const text = rawSql`select pg_terminate_backend(pid) from (${ENGINE_BACKENDS} and state <> 'idle' order by random() limit 3) b`
    let count = 0
    for (let volley = 0; volley < 5; volley++) {
      count += (await strangers.query({ text }).catch(() => [])).length
      await pause(below(40))
    }
    return count
  }

  /** Waits until both services decide commands again, and nothing is left of those that were killed. */
  async function recovered(): Promise<void> {
    for (const service of SERVICES) {
      while ((await deployment.call(service, 'POST', CHECK, { user_id: HOT_USER, units: 1 }))?.status !== 200) {
        await pause(50)
      }
    }
    if (hasKilled) await pause(GRACE_MS)
    hasKilled = false
  }

  async function holdWithoutOtherFaults(onHeld: (user: number) => Promise<void>): Promise<void> {
    interruption.abort()
    interruption = new AbortController()
    await recovered()
    const interval = { from: performance.now(), to: Number.POSITIVE_INFINITY }
    record.calms.push(interval)
    const held = [
      // One that shares its batches with the hot user, and one that shares them with a user who does as little.
      { user: oneOf([39, 49]), table: 'quota' },
      { user: oneOf([4, 5, 7, 13, 14]), table: 'account' },
      { user: below(USERS), table: oneOf(['account', 'quota']) },
    ] as const
    const sending: Promise<void>[] = []
    await Promise.all(
      held.map(({ user, table }) => hold(user, table, LONGEST_HOLD_MS, () => sending.push(onHeld(user)))),
    )
    const checks = held.flatMap(({ user }) =>
      SERVICES.map(service => call(user, { method: 'POST', path: CHECK, body: { user_id: user, units: 1 }, service })),
    )
    await Promise.all(checks)
    interval.to = performance.now()
    await Promise.all(sending)
  }

  return {
    async kill(victim) {
      hasKilled = true
      if (victim !== 'service') record.losses.push(performance.now())
      switch (victim) {
        case 'service': {
          const service = Number(random() < 0.5)
          await deployment.killService(service)
          return `service ${service}`
        }
        case 'backend':
          return `${await terminateBusyBackends()} backends`
        case 'postmaster':
          return (await deployment.killPostmaster()) ? 'the postmaster' : 'no postmaster'
      }
    },

    start() {
      ending = Promise.all([holdNowAndThen(), cancelNowAndThen()])
    },

    async holdInCalm(onHeld) {
      calm = holdWithoutOtherFaults(onHeld)
      await calm
      calm = undefined
    },

    async stop() {
      isStopped = true
      interruption.abort()
      await ending
    },
  }
}
