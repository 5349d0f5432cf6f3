import { connectionsOf } from '../app.ts'
import { createClock } from '../clock.ts'
import type { Config } from '../config/config.ts'
import type { Database } from '../db/connection/database.ts'
import { connectionOf } from '../db/embedded/embedded.ts'
import { type Check, checkDatabase } from '../db/schema/check.ts'
import { table } from './help.ts'
import { reportFailure } from './on-database.ts'

/** Beyond this difference, in milliseconds, an alert would fire. The service itself follows the database's clock. */
const MAX_AHEAD_MS = 1_000

/** Prints a line for each check of the database. Resolves to 0 if it can be used, 1 if not. */
export function check(config: Config): Promise<number> {
  return reportFailure('check the database', config, async () => {
    const url = config.databaseUrl ?? (await connectionOf(config.dataDir))
    if (url === undefined) {
      process.stdout.write(`\nThe database in ${config.dataDir} does not run; the service checks it when it starts.\n`)
      return 0
    }
    const checks = await checkDatabase({
      url,
      connections: connectionsOf(config),
      migrates: config.migrate === 'auto',
      checkClock,
    })
    process.stdout.write(`\n${reportOf(checks)}`)
    return checks.some(({ fault }) => fault !== null) ? 1 : 0
  })
}

async function checkClock(ping: Database['ping']): Promise<Check> {
  const clock = createClock()
  await clock.synchronize(async () => (await ping()).now)
  const ms = Math.round(Math.abs(clock.aheadMs))
  const found = `this machine's and the database's differ by ${ms} ms`
  const fault = ms > MAX_AHEAD_MS ? `${found}; at most ${MAX_AHEAD_MS} ms are accepted, synchronize both by NTP` : null
  return { name: 'clock', fault, found }
}

function reportOf(checks: readonly Check[]): string {
  const rows = checks.map(({ name, fault, found }) => [name, fault === null ? `ok: ${found}` : `wrong: ${fault}`])
  const wrong = checks.filter(({ fault }) => fault !== null).length
  const verdict = wrong === 0 ? 'The database fits.' : `${wrong} of ${checks.length} checks failed.`
  return `${table(rows)}${verdict}\n`
}
