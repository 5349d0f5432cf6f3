/** Messages to users about their own events: the address, the links, and what goes out, through a real SMTP server. */
import { expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { takeTurns } from '../../src/db/webhooks/recipients.ts'
import { findWebhook } from '../../src/db/webhooks/webhooks.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/time/time.ts'
import { createMailServer, shownTextOf } from '../support/mail-server.ts'
import { startSender } from './sender-fixture.ts'

const server = await createMailServer()
const lines: string[] = []
const service = await startSender({
  env: {
    SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
    SMTP_URL: `smtp://127.0.0.1:${server.port}`,
    MAIL_FROM: 'quotas@sms.example',
    PUBLIC_URL: 'https://sms.example/',
    USER_NOTIFICATIONS: 'true',
    LOG_LEVEL: 'trace',
  },
  onLogLine: line => lines.push(line),
})
const { call, db, clock, allow, someone, userToken, webhooks, app } = service
const MINE = '/api/sms/quota/notifications'
const WEBHOOKS = '/api/sms/admin/webhooks'

async function mine(user: number, method: string, body?: object) {
  return call(method, MINE, { token: await userToken(user), ...(body === undefined ? {} : { body }) })
}
const follow = (what: 'confirm' | 'stop', code: string) =>
  call('POST', `${MINE}/${what}`, { token: null, body: { code } })

async function dispatch(): Promise<void> {
  await webhooks.dispatchOnce(clock.now)
  await webhooks.idle()
}

/** The e-mails since the last call, as people and programs read them. */
function mails() {
  return server.mails.splice(0).map(mail => ({
    to: mail.recipients.join(),
    head: mail.head.replaceAll('\r\n ', ' '),
    text: shownTextOf(mail),
  }))
}

function codeIn(text: string, what: 'confirm' | 'stop'): string {
  const [, code = ''] = new RegExp(`https://sms.example/console/notifications/${what}#([\\w.-]+)`).exec(text) ?? []
  expect(code).toMatch(/^\d+\.\d+\.[\w-]{43}$/)
  return code
}

/** Sets and confirms the address of a user. */
async function confirmed(user: number, email = `user-${user}@mail.example`, language = 'en'): Promise<string> {
  expect(await mine(user, 'PUT', { email, language })).toMatchObject({ status: 200, body: { status: 'pending' } })
  const [mail] = mails()
  expect(await follow('confirm', codeIn(mail?.text ?? '', 'confirm'))).toMatchObject({ status: 204 })
  return email
}

/** Two queries: on a cluster, deliveries and events do not lie together. */
async function deliveriesOf(user: number) {
  const [events] = await db.query<{ numbers: number[] }>({
    text: sql`select array_agg(number) as numbers from event where shard = $1 and user_id = $2`,
    values: [shardOf(user), user],
  })
  return db.query<{ status: string; error: string | null }>({
    text: sql`select status, error from webhook_delivery where event_shard = $1 and number = any($2) order by number`,
    values: [shardOf(user), events?.numbers ?? []],
  })
}

const made = await call('POST', WEBHOOKS, { body: { kind: 'users' } })
const WEBHOOK = `${WEBHOOKS}/${made.body.id}`

test('the webhook takes what tells users something, and without it users hear that the service is off', async () => {
  expect(made).toMatchObject({ status: 201, body: { kind: 'users', url: null, addresses: null, secret: null } })
  expect(made.body.types).toContain('quota.threshold_reached')
  expect(made.body.types).not.toContain('breaker.tripped')
  for (const [body, path] of [
    [{ kind: 'users', addresses: ['ann@mail.example'] }, '/addresses'],
    [{ kind: 'users', types: ['quota.expired', 'user.erased'] }, '/types/1'],
  ]) {
    expect(await call('POST', WEBHOOKS, { body })).toMatchObject({ status: 400, body: { errors: [{ path }] } })
  }
  expect((await call('POST', `${WEBHOOK}/test`)).body).toMatchObject({ delivered: false })
  const user = someone()
  await call('PUT', WEBHOOK, { body: { enabled: false } })
  expect(await mine(user, 'GET')).toMatchObject({ status: 200, body: { status: 'off', email: null } })
  const refused = await mine(user, 'PUT', { email: 'ann@mail.example' })
  expect(refused).toMatchObject({ status: 404, body: { detail: expect.stringContaining('USER_NOTIFICATIONS') } })
  await call('PUT', WEBHOOK, { body: { enabled: true, types: null } })
  expect((await call('GET', WEBHOOK)).body.types).toEqual(made.body.types)
  expect(await mine(user, 'GET')).toMatchObject({ body: { status: 'none' } })
})

test('an address that is confirmed gets the own events, a message a minute, until the one click that ends it', async () => {
  const user = someone()
  expect(await mine(user, 'PUT', { email: 'ann@mail.example', language: 'de' })).toMatchObject({
    status: 200,
    body: { status: 'pending', email: 'ann@mail.example', language: 'de' },
  })
  await allow({ user_id: user, limit: 10, name: 'Früher' })
  await dispatch()
  const [link, ...none] = mails()
  expect(none).toEqual([])
  expect(link).toMatchObject({ to: 'ann@mail.example', text: expect.stringContaining('gilt einen Tag') })

  const code = codeIn(link?.text ?? '', 'confirm')
  expect(await follow('stop', code)).toMatchObject({ status: 400, body: { errors: [{ path: '/code' }] } })
  clock.now += 1
  expect(await follow('confirm', code)).toMatchObject({ status: 204 })
  clock.now += 2 * DAY_MS
  expect(await follow('confirm', code)).toMatchObject({ status: 204 })
  expect(await mine(user, 'GET')).toMatchObject({ body: { status: 'confirmed', confirmed_at: expect.any(String) } })

  const other = someone()
  await allow({ user_id: user, limit: 10, name: 'Paket' })
  await allow({ user_id: other, limit: 10 })
  await dispatch()
  const [one, ...more] = mails()
  expect(more).toEqual([])
  expect(one?.text).toContain('Sie haben ein neues Kontingent: „Paket“')
  expect(one?.text).toContain('https://sms.example/console/mine')
  expect(one?.text).not.toMatch(/Früher|console\/quotas|Webhook|Benutzer/)
  expect(await deliveriesOf(other)).toEqual([])

  for (const name of ['A', 'B', 'C']) await allow({ user_id: user, limit: 10, name })
  await dispatch()
  expect(mails()).toEqual([])
  clock.now += MINUTE_MS
  await dispatch()
  const [many, ...others] = mails()
  expect(others).toEqual([])
  expect(many?.text).toContain('3 Ereignisse zu Ihren Kontingenten')
  // Also a redelivery leaves out what was before the confirmation.
  const since = new Date(clock.now - 3 * DAY_MS).toISOString()
  expect(await call('POST', `${WEBHOOK}/redeliver`, { body: { since } })).toMatchObject({ status: 200 })
  expect((await deliveriesOf(user)).map(({ status }) => status)).toEqual(Array(4).fill('pending'))
  clock.now += MINUTE_MS
  await dispatch()
  expect(mails().filter(({ to }) => to === 'ann@mail.example')).toHaveLength(1)

  const { body: exported } = await call('GET', `/api/sms/admin/users/${user}/data`)
  expect(exported).toMatch(/"record":"user_address","user_id":\d+,"status":"confirmed","email":"ann@mail.example"/)
  expect(exported.match(/"record":"user_address_change"/g)).toHaveLength(2)

  const [, click = ''] = /List-Unsubscribe: <https:\/\/sms\.example(\/[^>]+)>/.exec(many?.head ?? '') ?? []
  expect(many?.head).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click')
  const stop = codeIn(many?.text ?? '', 'stop')
  expect(click).toBe(`${MINE}/stop/${stop}`)
  expect((await app.inject({ method: 'GET', url: click })).headers.location).toBe(
    `https://sms.example/console/notifications/stop#${stop}`,
  )
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  for (const _ of ['once', 'doubled']) {
    const clicked = await app.inject({
      method: 'POST',
      url: click,
      headers: form,
      payload: 'List-Unsubscribe=One-Click',
    })
    expect(clicked.statusCode).toBe(204)
  }
  expect(await follow('stop', stop)).toMatchObject({ status: 204 })
  expect(await follow('confirm', code)).toMatchObject({ status: 410, body: { code: 'link_outdated' } })
  expect(await mine(user, 'GET')).toMatchObject({ body: { status: 'none', email: null } })
  await allow({ user_id: user, limit: 10, name: 'D' })
  await dispatch()
  expect(mails()).toEqual([])

  const audit = await call('GET', `/api/sms/admin/audit?resource=address&user_id=${user}`)
  expect(audit.body.items.map(({ action, actor }: { action: string; actor: string }) => [action, actor])).toEqual([
    ['withdrawn', 'sms-quota'],
    ['confirmed', 'sms-quota'],
    ['created', String(user)],
  ])
  expect(JSON.stringify(audit.body)).not.toContain('mail.example')

  const log = lines.join()
  expect(log).toContain('/notifications/stop/:code')
  for (const hidden of [code, stop, 'mail.example']) expect(log).not.toContain(hidden)
})

test('another address replaces the one before at once, and its links', async () => {
  const someUser = someone()
  await confirmed(someUser, 'old@mail.example')
  clock.now += MINUTE_MS
  await allow({ user_id: someUser, limit: 10 })
  await dispatch()
  const stop = codeIn(mails()[0]?.text ?? '', 'stop')
  expect(await mine(someUser, 'PUT', { email: 'old@mail.example', language: 'de' })).toMatchObject({
    body: { status: 'confirmed', language: 'de' },
  })
  expect(mails()).toEqual([])
  // Of the second, which waits for its minute, the address that comes next learns nothing either.
  await allow({ user_id: someUser, limit: 10 })
  await dispatch()
  expect(await mine(someUser, 'PUT', { email: 'new@mail.example' })).toMatchObject({ body: { status: 'pending' } })
  const code = codeIn(mails()[0]?.text ?? '', 'confirm')
  expect(await follow('stop', stop)).toMatchObject({ status: 410, body: { code: 'link_outdated' } })
  await allow({ user_id: someUser, limit: 10 })
  await dispatch()
  expect(mails()).toEqual([])

  clock.now += DAY_MS + 1
  expect(await follow('confirm', code)).toMatchObject({ status: 410 })
  expect(await mine(someUser, 'PUT', { email: 'new@mail.example' })).toMatchObject({ body: { status: 'pending' } })
  expect(codeIn(mails()[0]?.text ?? '', 'confirm')).toBe(code)
  expect(await follow('confirm', code)).toMatchObject({ status: 204 })
  await dispatch()
  expect(mails()).toEqual([])
  expect(await deliveriesOf(someUser)).toEqual([
    { status: 'delivered', error: null },
    { status: 'delivered', error: 'the user has no confirmed address' },
  ])
  expect(await mine(someUser, 'DELETE')).toMatchObject({ status: 204 })
  expect(await mine(someUser, 'DELETE')).toMatchObject({ status: 204 })
})

test('a server that refuses everything for a while costs no user the address', async () => {
  const users = Array.from({ length: 3 }, someone)
  for (const user of users) await confirmed(user)
  const replies = ['554 Relay access denied', '550 5.7.1 Relay access denied', '550 5.4.5 Daily sending quota exceeded']
  for (const [index, user] of users.entries()) {
    server.refused.set(`user-${user}@mail.example`, replies[index] ?? '')
    await allow({ user_id: user, limit: 10 })
  }
  await dispatch()
  expect(mails()).toEqual([])
  server.refused.clear()
  clock.now += 2 * MINUTE_MS
  await dispatch()
  expect(mails()).toHaveLength(users.length)
  for (const user of users) {
    expect((await mine(user, 'GET')).body.status).toBe('confirmed')
    expect(await deliveriesOf(user)).toEqual([{ status: 'delivered', error: null }])
  }
})

test('administrators do not read an address in an error, however the library writes it', async () => {
  const user = someone()
  await confirmed(user, 'Ann.Smith@Mail.Example')
  server.refused.set('Ann.Smith@mail.example', 550)
  await allow({ user_id: user, limit: 10 })
  await dispatch()
  server.refused.clear()
  expect(await deliveriesOf(user)).toEqual([{ status: 'failed', error: 'not taken for the user (550)' }])
})

test('a message that is refused for its content does not stop those of others', async () => {
  const [user, other] = [someone(), someone()]
  await confirmed(user)
  await confirmed(other)
  await allow({ user_id: user, limit: 10 })
  server.dataCode = 554
  for (let n = 0; n < 40; n++) {
    await dispatch()
    clock.now += 2 * HOUR_MS
  }
  server.dataCode = undefined
  expect(await findWebhook(db, made.body.id)).toMatchObject({ enabled: true, failing_since: null })
})

test('links that did not go out are not counted, but for those of a user who asks without end', async () => {
  const user = someone()
  server.refused.set('later@mail.example', 451)
  for (let n = 0; n < 4; n++) expect((await mine(user, 'PUT', { email: 'later@mail.example' })).status).toBe(503)
  server.refused.clear()
  expect(await mine(user, 'PUT', { email: 'later@mail.example' })).toMatchObject({ status: 200 })
  mails()

  const other = someone()
  server.refused.set('never@mail.example', 451)
  const statuses = []
  for (let n = 0; n < 20; n++) statuses.push((await mine(other, 'PUT', { email: 'never@mail.example' })).status)
  server.refused.clear()
  expect(statuses.at(-1)).toBe(429)
})

test('a digest of users is one message a day for each', async () => {
  const user = someone()
  const email = await confirmed(user)
  expect((await call('PUT', WEBHOOK, { body: { digest: { hour: 9, time_zone: 'UTC' } } })).status).toBe(200)
  for (const limit of [10, 20]) await allow({ user_id: user, limit })
  await dispatch()
  expect(mails()).toEqual([])
  clock.now += DAY_MS
  await dispatch()
  expect(mails()).toMatchObject([{ to: email, text: expect.stringContaining('2') }])
  expect((await call('PUT', WEBHOOK, { body: { digest: null } })).status).toBe(200)
})

test('a clock that was ahead when an address was confirmed keeps no message back', async () => {
  const user = someone()
  clock.now += 30 * DAY_MS
  const email = await confirmed(user)
  clock.now -= 30 * DAY_MS
  await allow({ user_id: user, limit: 10 })
  await dispatch()
  expect(mails().map(({ to }) => to)).toEqual([email])
})

test('three links an hour go out for a user, and to an address', async () => {
  const [one, two] = [someone(), someone()]
  for (const email of ['a@mail.example', 'b@mail.example', 'stranger@mail.example'])
    expect(await mine(one, 'PUT', { email })).toMatchObject({ status: 200 })
  expect(await mine(one, 'PUT', { email: 'd@mail.example' })).toMatchObject({ status: 429 })
  expect(await mine(one, 'GET')).toMatchObject({ body: { email: 'stranger@mail.example' } })
  // Each of these leads to the same mailbox.
  for (const [email, status] of [
    ['Stranger@mail.example', 200],
    ['stranger+1@mail.example', 200],
    ['Stranger+2@Mail.example', 429],
  ] as const)
    expect(await mine(two, 'PUT', { email })).toMatchObject({ status })
  expect(mails()).toHaveLength(5)
  clock.now += HOUR_MS
  expect(await mine(two, 'PUT', { email: 'Stranger@mail.example' })).toMatchObject({ status: 200 })
  expect(mails()).toHaveLength(1)
})

test('links that a clock which was ahead has counted keep none back', async () => {
  const user = someone()
  clock.now += 30 * DAY_MS
  for (const n of [1, 2, 3]) expect((await mine(user, 'PUT', { email: `ahead-${n}@mail.example` })).status).toBe(200)
  clock.now -= 30 * DAY_MS
  expect((await mine(user, 'PUT', { email: 'ahead-4@mail.example' })).status).toBe(200)
  mails()
})

test('an address that is refused for good gets nothing more, and the webhook goes on', async () => {
  const [bad, good] = [someone(), someone()]
  server.refused.set('gone@mail.example', 550)
  expect(await mine(bad, 'PUT', { email: 'gone@mail.example' })).toMatchObject({ body: { status: 'refused' } })
  const email = await confirmed(bad)
  await confirmed(good)
  server.refused.set(email, 550)
  clock.now += MINUTE_MS
  await allow({ user_id: bad, limit: 10 })
  await dispatch()
  expect(await mine(bad, 'GET')).toMatchObject({ body: { status: 'refused', refused_at: expect.any(String) } })
  expect(await deliveriesOf(bad)).toEqual([{ status: 'failed', error: 'not taken for the user (550)' }])
  await allow({ user_id: bad, limit: 10 })
  await allow({ user_id: good, limit: 10 })
  await dispatch()
  expect(mails()).toMatchObject([{ to: `user-${good}@mail.example` }])
  const { body } = await call('GET', WEBHOOKS)
  expect(await findWebhook(db, body.items[0].id)).toMatchObject({ enabled: true, failing_since: null })
})

test('messages to many users are bounded for each, and wait for an SMTP server that takes nothing', async () => {
  const users = Array.from({ length: 12 }, someone)
  for (const one of users) await confirmed(one)
  clock.now += MINUTE_MS
  server.dataCode = 451
  for (const one of users) await allow({ user_id: one, limit: 10 })
  await dispatch()
  expect(await mine(someone(), 'PUT', { email: 'late@mail.example' })).toMatchObject({ status: 503 })
  server.dataCode = undefined
  expect(mails()).toEqual([])
  clock.now += HOUR_MS
  // Attempts of a webhook that fails are few, until one succeeds.
  await dispatch()
  expect(
    mails()
      .map(({ to }) => to)
      .toSorted(),
  ).toEqual(users.map(one => `user-${one}@mail.example`).toSorted())
  for (const one of users) expect((await deliveriesOf(one)).map(({ status }) => status)).toEqual(['delivered'])
})

test('of several processes, one takes the turn of a user', async () => {
  const [user, other] = [someone(), someone()]
  await confirmed(user)
  const turns = await Promise.all([1, 2, 3].map(() => db.transaction(tx => takeTurns(tx, [other, user], clock.now))))
  const nextAt = turns.map(found => found.get(user)?.next_at)
  expect(nextAt.filter(next => next === null)).toHaveLength(1)
  expect(nextAt.filter(next => next === clock.now + MINUTE_MS)).toHaveLength(2)
})
