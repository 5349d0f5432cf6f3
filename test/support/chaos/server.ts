/**
 * The service as a process with a fast clock: an hour's window ends after seconds. Everything except the clock and the
 * retention period is the product's own. Without CHAOS_SPEED it has the product's clock, which follows the database's, and its retention
 * period.
 *
 *     CHAOS_BEGAN=… CHAOS_SPEED=… CHAOS_LAG_MS=… CHAOS_RETENTION_MS=… bin/node test/support/chaos/server.ts
 */
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import pino from 'pino'
import { createApp } from '../../../src/app.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { openDatabase } from '../../../src/db/connection/database.ts'
import { createRetention } from '../../../src/jobs/retention.ts'
import { clockFrom } from './clock.ts'

const loaded = loadConfig(process.env)
if ('issues' in loaded) throw new Error(JSON.stringify(loaded.issues))
const { config } = loaded
const log = pino({ level: 'error', base: null }, pino.destination(2))
const now = process.env.CHAOS_SPEED === undefined ? undefined : clockFrom(process.env)
const app = await createApp(config, log, now === undefined ? {} : { now })
await app.server.listen({ host: '127.0.0.1', port: 0 })

// The product's retention runs once a minute and keeps at least a day, which takes 72 seconds on this clock.
const db = openDatabase({ url: config.databaseUrl ?? '', maxConnections: 1, log })
process.stdout.write(`listening on ${(app.server.server.address() as AddressInfo).port}\n`)
let at = 0
const period = now === undefined ? {} : { retentionMs: Number(process.env.CHAOS_RETENTION_MS) }
const retention = createRetention({ db, now: () => at, ...period })
const removeSettled = async () => {
  at = now === undefined ? (await db.ping()).now : now()
  await retention.removeOnce(at)
}
for (;;) {
  await removeSettled().catch(() => {})
  await pause(250)
}
