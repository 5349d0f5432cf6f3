/**
 * The packages of the peers. They are this folder's own, not the service's: whoever installs the service gets none of
 * them, and they are installed when a benchmark first needs them.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const BENCH = fileURLToPath(new URL('..', import.meta.url))

export function installPeers(): void {
  if (existsSync(`${BENCH}node_modules`)) return
  const { status } = spawnSync('npm', ['ci', '--prefix', BENCH, '--ignore-scripts', '--no-audit', '--no-fund'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) throw new Error('the packages of the peers could not be installed')
}

/** What of them is used: their own types are not there when the service's are checked. */
interface Limiter {
  consume(key: string, points: number): Promise<{ remainingPoints: number }>
}
type LimiterClass = new (options: object, ready?: (error?: Error) => void) => Limiter

interface RateLimiterFlexible {
  RateLimiterRedis: LimiterClass
  RateLimiterPostgres: LimiterClass
}

interface Ioredis {
  Redis: new (options: object) => { quit(): Promise<unknown> }
}

const require = createRequire(import.meta.url)

export const rateLimiterFlexible = (): RateLimiterFlexible => require('rate-limiter-flexible')
export const ioredis = (): Ioredis => require('ioredis')
