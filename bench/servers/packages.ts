/**
 * The packages of the peers. They belong to this folder's own package.json, so that an installation of the service does
 * not include them. The first benchmark that needs them installs them.
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
  if (status !== 0) throw new Error('cannot install the packages of the peers')
}

/** The parts of the packages that the peers use. Their own types are missing when the service's types are checked. */
interface Limiter {
  consume(key: string, points: number): Promise<{ remainingPoints: number }>
}
type LimiterClass = new (options: object, ready?: (error?: Error) => void) => Limiter

interface RateLimiterFlexible {
  RateLimiterRedis: LimiterClass
  RateLimiterPostgres: LimiterClass
}

interface Ioredis {
  Redis: new (
    options: object,
  ) => {
    script(command: 'LOAD', lua: string): Promise<string>
    evalsha(sha: string, keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>
  }
}

const require = createRequire(import.meta.url)

export const rateLimiterFlexible = (): RateLimiterFlexible => require('rate-limiter-flexible')
export const ioredis = (): Ioredis => require('ioredis')
