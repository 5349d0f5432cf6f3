/** Numbers, texts and tags of messages leave no trace behind. The exception is the journal of a client or agent (docs/agent.md). */
import { Writable } from 'node:stream'
import { zstdDecompressSync } from 'node:zlib'
import { expect, inject, test } from 'vitest'
import { writeBackup } from '../../src/db/backup/write.ts'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { HOUR_MS } from '../../src/domain/time/time.ts'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import { createCollector } from '../support/collector.ts'
import { createReceiver } from '../support/receiver.ts'
import { rawSql } from '../support/sql.ts'
import { startSender } from './sender-fixture.ts'

const [ANN, BEN] = ['+4915112345678', '+4915187654321']
const TEXT = 'Your code is 8264-7735'
const TAG = 'campaign-of-spring'
/** Without the plus sign, which some encodings write otherwise. */
const SECRETS = [ANN.slice(1), BEN.slice(1), TEXT, TAG].flatMap(text => [text, Buffer.from(text).toString('hex')])

const { endpoint, exports } = await createCollector<object>()
const receiver = await createReceiver()
const lines: string[] = []
const service = await startSender({
  env: {
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    LOG_LEVEL: 'debug',
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_TRACES_SAMPLER_ARG: '1',
  },
  tracing: { sendEveryMs: 20 },
  webhooks: { allowPrivate: true },
  onLogLine: line => void lines.push(line),
})
const { call, clock, db } = service
const ADMIN = '/api/sms/admin'
/** Ids of messages begin with it: each place shows at least one of them, so that it is known to have been looked at. */
const MARK = 'private'

let asked = 0
/** Asks for a message, with its id as that of the request, too. */
async function ask(op: string, body: object | string) {
  asked += 1
  const id = `${MARK}-${asked}`
  const named = op === 'batch' ? {} : op === 'check' ? { user_id: 7 } : { user_id: 7, id }
  const request = typeof body === 'string' ? body : { ...named, ...body }
  const options = { token: service.senderToken, body: request, headers: { 'x-request-id': id } }
  return call('POST', `/api/sms/sender/quota/${op}`, options)
}

/** Each table with all of its columns. */
async function contentOf(database: Database): Promise<string> {
  const tables = await database.query<{ name: string }>({
    text: sql`select relname::text as name from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace`,
  })
  const rows = tables.map(({ name }) =>
    database.query({ text: rawSql`select to_jsonb(t.*)::text as row from "${name}" t` }),
  )
  return JSON.stringify(await Promise.all(rows))
}

async function backUp(): Promise<string> {
  const chunks: Buffer[] = []
  const target = new Writable({
    write(chunk, _, done) {
      chunks.push(chunk)
      done()
    },
  })
  await writeBackup(service.databaseUrl, target, new Date(clock.now))
  return zstdDecompressSync(Buffer.concat(chunks)).toString('latin1')
}

/** Answers of reads, as the administrator reads them. */
async function read(...paths: string[]): Promise<string> {
  const answers = []
  for (const path of paths) {
    const answer = await call('GET', ADMIN + path)
    expect(answer.status, path).toBe(200)
    answers.push(answer)
  }
  return JSON.stringify(answers.map(({ body }) => body))
}

/** Messages that are granted, settled and denied, each for another reason. Resolves to the answers. */
async function send() {
  const ann = { units: 1, recipient: ANN, tag: TAG }
  const ben = { message: { to: BEN, text: TEXT }, tag: TAG }
  const operations = [
    { op: 'consume', user_id: 7, id: `${MARK}-batch`, ...ben },
    { op: 'check', user_id: 7, ...ann },
  ]
  const answers = [
    await ask('consume', ann),
    await ask('reserve', { ...ben, ttl_seconds: 60 }),
    await ask('batch', { operations }),
    await ask('check', { ...ben, explain: true }),
    // Denied by the cap on tags, and by a pause.
    await ask('consume', { ...ann, recipient: BEN }),
    await ask('reserve', { ...ann, country: 'FR' }),
    await ask('consume', { ...ben, force: true }),
  ]
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  return answers
}

/** What is refused, or fails. */
async function fail() {
  const long = `${ANN}${'0'.repeat(64)}`
  const refused = [
    await ask('consume', { id: `${MARK}-1`, units: 2, recipient: BEN }),
    await ask('consume', { units: 1, recipient: long, tag: long }),
    await ask('consume', { units: 1, recipient: Number(ANN), tag: [TAG] }),
    await ask('consume', { units: 'many', phone: ANN }),
    await ask('consume', { recipient: ANN, message: { to: BEN, text: TEXT } }),
    await ask('consume', { message: { to: `${BEN}${long}`, text: TEXT.repeat(1_000) } }),
    await ask('consume', { message: { to: BEN, text: TEXT, sender: TAG } }),
    await ask('consume', { message: { to: Number(BEN), text: [TEXT] } }),
    await ask('batch', { operations: [{ op: 'send', recipient: ANN, text: TEXT }] }),
    await ask('consume', `{"user_id":7,"id":"${MARK}","recipient":"${ANN}","text":"${TEXT}`),
    await call('POST', '/api/sms/sender/quota/consume', { token: 'forged', body: { recipient: ANN, tag: TAG } }),
  ]
  await db.query({ text: sql`alter table value_counter rename to elsewhere` })
  const failed = await ask('consume', { units: 1, recipient: ANN, tag: TAG })
  await db.query({ text: sql`alter table elsewhere rename to value_counter` })
  // A node of a cluster without a table has just given it to another: the call is to be repeated.
  const withoutTable = inject('nodes') === null ? 500 : 503
  const statuses = [409, ...new Array(7).fill(400), 200, 400, 401, withoutTable]
  expect([...refused, failed].map(({ status }) => status)).toEqual(statuses)
  return [...refused, failed]
}

test('texts, numbers and tags of messages are in nothing that the service stores, shows, logs or sends', async () => {
  await call('POST', `${ADMIN}/webhooks`, { body: { url: receiver.url } })
  await service.allow({ user_id: 7, limit: 5, alert_at: [20], overage_limit: 10 })
  await service.allow({ user_id: 7, kind: 'cap', limit: 9, period: 'day', per: 'recipient' })
  await service.allow({ user_id: 7, kind: 'cap', limit: 3, period: 'day', per: 'tag' })
  await call('POST', `${ADMIN}/pauses`, { body: { user_id: 7, country: 'FR' } })
  const answers = [...(await send()), ...(await fail())]

  clock.now += HOUR_MS
  await createUsageRollup({ db, log: console }).rollUpOnce()
  // It has expired: that is an event.
  await ask('commit', { id: `${MARK}-2` })
  await service.webhooks.dispatchOnce(clock.now)
  await service.webhooks.idle()
  await expect.poll(() => JSON.stringify(exports)).toContain(`${MARK}-5`)

  const period = 'from=2026-03-15T00:00:00Z&to=2026-03-16T00:00:00Z'
  const [denial] = JSON.parse(await read('/denials?user_id=7'))[0].items
  const places: Record<string, string> = {
    answers: JSON.stringify(answers),
    database: await contentOf(db),
    backup: await backUp(),
    log: lines.join('\n'),
    metrics: String((await call('GET', '/metrics', { token: null })).body),
    traces: JSON.stringify(exports),
    denials: await read('/denials?user_id=7', `/denials/${denial.denial_id}`),
    reservations: await read('/quota/reservations?user_id=7'),
    events: await read('/events?last=200'),
    webhooks: JSON.stringify(receiver.deliveries),
    exports: await read('/export/denials', `/export/ledger?user_id=7`, '/users/7/data'),
    reports: await read(`/export/usage?${period}`, '/export/quotas', `/quota/usage?user_id=7&interval=day&${period}`),
  }
  const unseen = Object.entries(places).filter(
    ([place, text]) => !text.includes(place === 'metrics' || place === 'reports' ? 'cap_reached' : MARK),
  )
  expect(unseen.map(([place]) => place)).toEqual([])
  const found = Object.entries(places).flatMap(([place, text]) =>
    SECRETS.filter(secret => text.includes(secret)).map(secret => `${secret} in ${place}`),
  )
  expect(found).toEqual([])
})
