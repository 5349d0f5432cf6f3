import { Gauge, Histogram, type Registry } from '@prometheus-io/client'
import type { PoolUse } from '../db/connection/database.ts'

/** Whose connections: of calls, of jobs and webhooks, or of readiness and the clock. */
export type PoolName = 'calls' | 'jobs' | 'checks'

export interface PoolMetrics {
  /** Read at each scrape. */
  watchPool(pool: PoolName, use: () => PoolUse): void
  /** A statement or a transaction has waited for a connection, however short. */
  poolWait(pool: PoolName, ms: number): void
}

const WAIT_SECONDS = [0.001, 0.01, 0.1, 1]

export function poolMetrics(registers: Registry[]): PoolMetrics {
  const pools = new Map<PoolName, () => PoolUse>()
  new Gauge({
    name: 'sms_quota_pool_connections',
    help: 'Database connections of the pool, by state: used or idle. The engine has connections of its own.',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const [pool, use] of pools) {
        const { used, idle } = use()
        this.set({ pool, state: 'used' }, used)
        this.set({ pool, state: 'idle' }, idle)
      }
    },
  })
  new Gauge({
    name: 'sms_quota_pool_max_connections',
    help: 'The maximum number of database connections of the pool.',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const [pool, use] of pools) this.set({ pool }, use().max)
    },
  })
  new Gauge({
    name: 'sms_quota_pool_waiting',
    help: 'Statements and transactions that wait for a database connection of the pool.',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const [pool, use] of pools) this.set({ pool }, use().waiting)
    },
  })
  const waits = new Histogram({
    name: 'sms_quota_pool_wait_seconds',
    help: 'Time that statements and transactions waited for a database connection of the pool.',
    labelNames: ['pool'],
    buckets: WAIT_SECONDS,
    registers,
  })
  return {
    watchPool: (pool, use) => pools.set(pool, use),
    poolWait: (pool, ms) => waits.observe({ pool }, ms / 1_000),
  }
}
