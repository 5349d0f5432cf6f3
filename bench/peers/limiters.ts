/** Peers on rate-limiter-flexible: one `consume` per call on a counter per user, without a ledger. */
import pg from 'pg'
import { ioredis, rateLimiterFlexible } from '../servers/packages.ts'
import type { Reserve } from './http.ts'

/** More units per month than any run draws. */
const LIMITS = { keyPrefix: 'sms', points: 1_000_000_000, duration: 30 * 86_400 }

export async function redisLimiter(socket: string): Promise<Reserve> {
  // Configured as in its documentation. Automatic pipelining does not reduce its CPU per call.
  const client = new (ioredis().Redis)({ path: socket })
  const limiter = new (rateLimiterFlexible().RateLimiterRedis)({ ...LIMITS, storeClient: client })
  return reserveWith(limiter)
}

export async function postgresLimiter(url: string, connections: number): Promise<Reserve> {
  const pool = new pg.Pool({ connectionString: url, max: connections })
  const { RateLimiterPostgres } = rateLimiterFlexible()
  const options = { ...LIMITS, storeClient: pool, tableName: 'limits', clearExpiredByTimeout: false }
  const limiter = await new Promise<InstanceType<typeof RateLimiterPostgres>>((resolve, reject) => {
    const made = new RateLimiterPostgres(options, error => (error === undefined ? resolve(made) : reject(error)))
  })
  return reserveWith(limiter)
}

function reserveWith(limiter: { consume(key: string, points: number): Promise<{ remainingPoints: number }> }): Reserve {
  return async (userId, _id, units) => {
    // `consume` rejects when no units are left, which does not happen here.
    const { remainingPoints } = await limiter.consume(String(userId), units)
    return { granted: true, remaining: remainingPoints }
  }
}
