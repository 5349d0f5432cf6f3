/**
 * The service as a process with a fast clock: an hour's window ends after seconds. Everything except the clock and the
 * retention period is the product's own.
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
const now = clockFrom(process.env)
const app = await createApp(config, log, { now })
await app.server.listen({ host: '127.0.0.1', port: 0 })

// The product's retention runs once a minute and keeps at least a day, which takes 72 seconds on this clock.
const db = openDatabase({ url: config.databaseUrl ?? '', maxConnections: 1, log })
const retention = createRetention({ db, now, retentionMs: Number(process.env.CHAOS_RETENTION_MS) })
process.stdout.write(`listening on ${(app.server.server.address() as AddressInfo).port}\n`)
for (;;) {
  await retention.removeOnce(now()).catch(() => {})
  await pause(250)
}
