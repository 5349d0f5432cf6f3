/** The API on webhooks that write to people, and on those of some users. */
import { expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { expectSlack } from '../messages/documented-formats.ts'
import { createMailServer } from '../support/mail-server.ts'
import { createReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'
import { startSender } from './sender-fixture.ts'

const server = await createMailServer()
const receiver = Object.assign(await createReceiver(), { answer: 200, body: 'ok' })
const ENV = {
  SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
  SMTP_URL: `smtp://127.0.0.1:${server.port}`,
  MAIL_FROM: 'quotas@sms.example',
  PUBLIC_URL: 'https://sms.example/',
}
const service = await startSender({ webhooks: { allowPrivate: true }, env: ENV })
const { ask, call, db, clock, allow, someone, webhooks } = service
const WEBHOOKS = '/api/sms/admin/webhooks'
const SECRET = 'T012/B345/aVerySecretPartOfTheUrl'

const create = async (body: object, headers = {}) => {
  const answer = await call('POST', WEBHOOKS, { body, headers })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}

async function dispatch(): Promise<void> {
  await webhooks.dispatchOnce(clock.now)
  await webhooks.idle()
}

test('the URL of Slack is a secret: it is stored encrypted, and nothing shows it', async () => {
  const url = `${receiver.url}/${SECRET}`
  const headers = { 'idempotency-key': 'slack' }
  const made = await create({ kind: 'slack', url, language: 'de', description: 'Betrieb' }, headers)
  const shown = `${new URL(url).origin}/…eUrl`
  expect(made).toMatchObject({ kind: 'slack', url: shown, addresses: null, language: 'de', secret: null })
  expect((await create({ kind: 'slack', url, language: 'de', description: 'Betrieb' }, headers)).id).toBe(made.id)
  const other = { kind: 'slack', url: `${url}x`, language: 'de', description: 'Betrieb' }
  expect(await call('POST', WEBHOOKS, { body: other, headers })).toMatchObject({
    status: 409,
    body: { code: 'idempotency_mismatch' },
  })

  const path = `${WEBHOOKS}/${made.id}`
  expect(await call('POST', `${path}/rotate-secret`)).toMatchObject({ status: 400 })
  const done = { delivered: true, response_code: 200, error: null, answer: 'ok' }
  expect((await call('POST', `${path}/test`)).body).toEqual(done)
  const [sent] = receiver.deliveries.splice(0)
  expectSlack(JSON.parse(sent?.body ?? ''))
  expect(sent?.body).toContain('Test des Webhooks Betrieb')
  expect(sent?.body).toContain(`https://sms.example/console/webhooks/${made.id}`)

  const changed = await call('PUT', path, { body: { url: `${receiver.url}/new/${SECRET}`, enabled: false } })
  expect(changed.body).toMatchObject({ url: shown, enabled: false })
  const answers = [
    changed,
    ...(await Promise.all(
      [WEBHOOKS, path, `/api/sms/admin/audit?resource=webhook&thing_id=${made.id}`].map(read => call('GET', read)),
    )),
  ]
  const tables = await Promise.all(
    [
      sql`select encode(secret, 'escape') as secret, w::text as row from webhook w`,
      sql`select c::text from webhook_change c`,
      sql`select i::text from idempotency i`,
    ].map(text => db.query({ text })),
  )
  expect(JSON.stringify(answers.map(({ body }) => body)) + JSON.stringify(tables)).not.toContain('VerySecret')
  expect(await call('DELETE', path)).toMatchObject({ status: 204 })
})

test('a test says what Slack, Teams and the mail server answered, without the secret of the URL', async () => {
  const url = `${receiver.url}/${SECRET}`
  const [slack, teams, email] = [
    await create({ kind: 'slack', url }),
    await create({ kind: 'teams', url }),
    await create({ kind: 'email', addresses: ['ops@sms.example'] }),
  ]
  const tested = async ({ id }: { id: number }) => (await call('POST', `${WEBHOOKS}/${id}/test`)).body
  receiver.body = `<!DOCTYPE html>\r\n<p>Cannot POST /hook/${SECRET}</p>`
  const failed = { delivered: false, response_code: 200, error: 'the answer does not say that the message was taken' }
  const page = { ...failed, answer: '<!DOCTYPE html> <p>Cannot POST /hook/T012/B345/…</p>' }
  expect([await tested(slack), await tested(teams)]).toEqual([page, page])
  receiver.body = 'x'.repeat(9_000)
  expect((await tested(slack)).answer).toHaveLength(500)
  Object.assign(receiver, { answer: 202, body: '' })
  expect(await tested(slack)).toEqual({ ...failed, response_code: 202, answer: null })
  expect(await tested(teams)).toEqual({ delivered: true, response_code: 202, error: null, answer: null })
  Object.assign(receiver, { answer: 200, body: 'ok' })
  server.refused.set('ops@sms.example', '550 5.7.1 Relay access denied')
  expect(await tested(email)).toEqual({
    delivered: false,
    response_code: 550,
    error: 'not taken for ops@sms.example (550)',
    answer: '550 5.7.1 Relay access denied',
  })
  server.refused.clear()
  expect(await tested(email)).toMatchObject({ delivered: true, answer: expect.stringMatching(/^250 /) })
  receiver.deliveries.length = server.mails.length = 0
  for (const { id } of [slack, teams, email]) await call('DELETE', `${WEBHOOKS}/${id}`)
})

test('an e-mail goes to the addresses, and their number is bounded', async () => {
  const made = await create({ kind: 'email', addresses: ['ops@sms.example'], types: ['quota.created'] })
  expect(made).toMatchObject({ url: null, addresses: ['ops@sms.example'], secret: null })
  await allow({ user_id: someone(), limit: 10, name: 'Package' })
  await dispatch()
  expect(server.mails.splice(0)).toMatchObject([
    { recipients: ['ops@sms.example'], head: expect.stringMatching(/Subject: =\?UTF-8\?Q\?New_quota/) },
  ])
  for (const addresses of [
    ['a b@c.example'],
    ['a@b.example\r\nBcc: x@y.example'],
    ['Ada <a@b.example>'],
    ['a@b.example,c@d.example'],
    ['jürgen@b.example'],
    ['a@b\u00adücher.example'],
    ['a@bücher'],
  ]) {
    expect(await call('PUT', `${WEBHOOKS}/${made.id}`, { body: { addresses } }), addresses.join()).toMatchObject({
      status: 400,
    })
  }
  const elsewhere = { addresses: ['ops@Bücher.example', 'ops@例え.テスト'] }
  expect((await call('PUT', `${WEBHOOKS}/${made.id}`, { body: elsewhere })).body).toMatchObject(elsewhere)
  const many = Array.from({ length: 21 }, (_, n) => `a${n}@b.example`)
  expect(await call('PUT', `${WEBHOOKS}/${made.id}`, { body: { addresses: many } })).toMatchObject({ status: 400 })
  expect(await call('POST', WEBHOOKS, { body: { kind: 'email' } })).toMatchObject({
    status: 400,
    body: { errors: [{ path: '/addresses' }] },
  })
  expect(await call('DELETE', `${WEBHOOKS}/${made.id}`)).toMatchObject({ status: 204 })
})

test('a webhook is still disabled, and deleted, by a service that lost its SMTP server', async () => {
  const { id } = await create({ kind: 'email', addresses: ['ann@example.com'] })
  const { MAIL_FROM: _, SMTP_URL: __, ...env } = ENV
  const lacking = await startService({ env: { ...env, DATABASE_URL: service.databaseUrl } })
  const change = (body: object) => lacking.call('PUT', `${WEBHOOKS}/${id}`, { body })
  expect(await change({ enabled: false, description: 'Retired' })).toMatchObject({
    status: 200,
    body: { enabled: false },
  })
  expect(await change({ addresses: ['ben@example.com'] })).toMatchObject({
    status: 400,
    body: { errors: [{ path: '/kind' }] },
  })
  expect((await lacking.call('DELETE', `${WEBHOOKS}/${id}`)).status).toBe(204)
})

test('a URL that was shown shortened does not replace the whole one', async () => {
  const { id, url } = await create({ kind: 'slack', url: `${receiver.url}/${SECRET}` })
  for (const shown of [url, new URL(url).href, `${receiver.url}/%e2%80%a6eUrl`])
    expect((await call('PUT', `${WEBHOOKS}/${id}`, { body: { url: shown } })).status, shown).toBe(400)
  await call('DELETE', `${WEBHOOKS}/${id}`)
})

test('a webhook of some users gets only their events, sent again too', async () => {
  const [user, other] = [someone(), someone()]
  const { id } = await create({ url: receiver.url, user_ids: [user] })
  for (const user_id of [user, other]) await allow({ user_id, limit: 10 })
  await dispatch()
  const users = () => receiver.deliveries.splice(0).map(({ body }) => JSON.parse(body).data.user_id)
  expect(users()).toEqual([user])
  const since = { since: new Date(clock.now - 1_000).toISOString() }
  expect((await call('POST', `${WEBHOOKS}/${id}/redeliver`, { body: since })).body).toEqual({ redelivered: 1 })
  await dispatch()
  expect(users()).toEqual([user])
  // Versions that know no kinds and no users take it for disabled.
  const [row] = await db.query({ text: sql`select enabled from webhook where id = $1`, values: [id] })
  expect(row).toEqual({ enabled: false })
  expect((await call('GET', `${WEBHOOKS}/${id}`)).body).toMatchObject({ enabled: true, user_ids: [user] })
})

test('a webhook for when little is left hears of no small pack beside a large one', async () => {
  const user = someone()
  const [{ id }] = await Promise.all([
    create({ url: receiver.url, user_ids: [user], types: ['quota.threshold_reached'], only_when_low: { share: 0.25 } }),
    allow({ user_id: user, name: 'small', limit: 10, alert_at: [50, 80], priority: 1 }),
    allow({ user_id: user, name: 'large', limit: 100, alert_at: [50, 80], priority: 2 }),
  ])
  const heard = () => {
    const bodies = receiver.deliveries.splice(0).map(({ body }) => JSON.parse(body).data)
    return bodies.map(({ quota, sendable }) => [quota.name, sendable.units])
  }
  const send = async (units: number) => {
    expect(await ask('consume', { user_id: user, id: `low-${units}`, units })).toMatchObject({ status: 200 })
    await dispatch()
  }
  for (const units of [9, 60]) await send(units)
  expect(heard()).toEqual([])
  await send(21)
  expect(heard()).toEqual([['large', 20]])
  const path = `${WEBHOOKS}/${id}`
  expect((await call('PUT', path, { body: { description: 'low' } })).body.only_when_low).toEqual({ share: 0.25 })
  expect((await call('PUT', path, { body: { only_when_low: { units: 9 } } })).body.only_when_low).toEqual({ units: 9 })
  expect((await call('PUT', path, { body: { only_when_low: null } })).body.only_when_low).toBeNull()
})

test('a digest waits for its hour, is kept by other changes, and is null for a program', async () => {
  const user = someone()
  const channel = { kind: 'slack', url: `${receiver.url}/${SECRET}`, user_ids: [user] }
  const digest = { hour: 9, time_zone: 'Europe/Berlin' }
  const { id } = await create({ ...channel, digest: { hour: 9, time_zone: 'europe/berlin' } })
  const path = `${WEBHOOKS}/${id}`
  await allow({ user_id: user, limit: 10, name: 'First' })
  await allow({ user_id: user, limit: 10, name: 'Second' })
  await dispatch()
  expect(receiver.deliveries).toEqual([])
  expect((await call('PUT', path, { body: { description: 'daily' } })).body.digest).toEqual(digest)
  const [waiting] = (await call('GET', `${path}/deliveries`)).body.items
  expect(waiting).toMatchObject({ status: 'pending', attempts: 0, last_attempt_at: null })
  clock.now = Date.parse(waiting.next_attempt_at)
  await dispatch()
  expect(receiver.deliveries.splice(0).map(({ body }) => JSON.parse(body).text)).toEqual(['Daily summary: 2 events'])
  expect((await call('PUT', path, { body: { digest: null } })).body.digest).toBeNull()
  const [change] = (await call('GET', '/api/sms/admin/audit?resource=webhook')).body.items
  expect(change).toMatchObject({ before: { digest }, after: { digest: null } })
  expect((await create({ url: receiver.url, digest: null })).digest).toBeNull()
})
