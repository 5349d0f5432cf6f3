/** Writes docs/openapi.json from the routes. With --check, only checks that it is current (exit code 1 if not). */
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import pino from 'pino'
import { openDatabase } from '../src/db/connection/database.ts'
import { secretKeys } from '../src/db/webhooks/secret-keys.ts'
import { DEFAULT_SEGMENT_RULES } from '../src/domain/messages/segment-rules.ts'
import { createListener } from '../src/http/listener.ts'
import { createMetricsPage } from '../src/http/platform/metrics-page.ts'
import { createServer } from '../src/http/server.ts'
import { createMetrics } from '../src/metrics.ts'

const FILE = fileURLToPath(new URL('../docs/openapi.json', import.meta.url))

// The document needs only the routes: nothing connects, and no handler runs.
const db = openDatabase({ url: 'postgresql://127.0.0.1:1/unused' })
const unused = () => {
  throw new Error('a handler runs while the document is generated')
}
const metrics = createMetrics()
const app = await createServer({
  db,
  engine: { enqueue: unused, hasRoom: unused },
  pauses: { known: new Map(), read: unused },
  webhooks: { test: unused, allowPrivate: false, canMail: false, userMail: null },
  addressCodes: null,
  secretKeys: secretKeys(null, []),
  references: { recall: unused, find: unused },
  senderUsers: { identify: unused },
  feed: { waiting: 0, read: unused, stop() {} },
  now: Date.now,
  log: pino({ level: 'silent' }),
  metrics,
  metricsPage: createMetricsPage(metrics),
  authenticator: {
    authenticate: unused,
    require: unused,
    requireSenderUser: unused,
  },
  listener: createListener(),
  settings: {
    ...{ trustProxy: null, maxConnections: 10, logClientAddress: 'off' },
    ...{ rateLimitPerMinute: 0, senderOperationsPerSecond: 0, authFailuresPerMinute: 0 },
    ...{
      breaker: { messageTypes: ['otp'], intervalSeconds: 15 },
      requireCountry: false,
      requireRecipient: false,
      senderDoor: true,
      autoUsers: false,
      defaultPlanUsersPerMinute: 1,
      segments: DEFAULT_SEGMENT_RULES,
      supportAdjustLimit: 0,
      contact: { text: null, url: null },
      requestAutoApprovePercent: 0,
      publicUrl: null,
    },
  },
  exportSlots: { hold: unused },
  oidc: null,
})
await app.ready()
const current = `${JSON.stringify(app.swagger(), null, 2)}\n`
await app.close()
await db.close()

if (!process.argv.includes('--check')) {
  await writeFile(FILE, current)
} else if ((await readFile(FILE, 'utf8').catch(() => '')) !== current) {
  process.stderr.write('docs/openapi.json is not current: run npm run openapi\n')
  process.exitCode = 1
}
