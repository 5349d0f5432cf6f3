/** Sweepers on a bench, whose clock only goes forward: each test starts where the previous one ended. */
import { sql } from '../../src/db/connection/sql.ts'
import type { EpochMs } from '../../src/domain/time/time.ts'
import { createSweeper, type Sweep, type Sweeper, type SweeperOptions } from '../../src/jobs/sweeper.ts'
import type { Bench, TestEngine } from '../support/engine.ts'

export const MINUTE_MS = 60_000

export interface Sweeping {
  /** Moves the clock forward, and returns its time. */
  later(ms: number): EpochMs
  sweeperOf(options?: Partial<SweeperOptions>): Sweeper
  /** Sweeps until there is nothing more to do at this time. */
  sweepAll(sweeper: Sweeper, now?: EpochMs): Promise<{ closed: number; steps: Sweep[] }>
  /** What has become of a reservation. */
  found(user: number, id: string): Promise<object>
}

export function createSweeping({ db, clock }: Bench, engine: TestEngine): Sweeping {
  return {
    later(ms) {
      clock.now += ms
      return clock.now
    },

    sweeperOf(options = {}) {
      const log = { info() {}, warn() {}, error() {} }
      return createSweeper({ db, engine, now: () => clock.now, log, ...options })
    },

    async sweepAll(sweeper, now = clock.now) {
      const steps: Sweep[] = []
      do steps.push(await sweeper.sweepOnce(now))
      while (steps.at(-1)?.pending !== 'none')
      return { closed: steps.reduce((sum, step) => sum + step.closed, 0), steps }
    },

    async found(user, id) {
      const [row] = await db.query<object>({
        text: sql`select committed, released, refunded, expired from reservation where user_id = $1 and id = $2`,
        values: [user, id],
      })
      return row ?? {}
    },
  }
}
