/** Messages to people: sent by a real SMTP server and to receivers with the documented formats, repeated, and not too many. */
import { expect, test } from 'vitest'
import type { NewWebhook } from '../../src/admin/webhooks/webhooks.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { timestampParam } from '../../src/db/connection/values.ts'
import { findWebhook, shardOfWebhook } from '../../src/db/webhooks/webhooks.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/time/time.ts'
import { createMailer } from '../../src/events/mailer.ts'
import { createDispatcher } from '../../src/jobs/webhook-dispatcher.ts'
import { expectSlack, expectTeams } from '../messages/documented-formats.ts'
import { SAMPLES, USER } from '../messages/samples.ts'
import { whenDone } from '../support/cleanup.ts'
import { freshDatabase } from '../support/database.ts'
import { createMailServer } from '../support/mail-server.ts'
import { createReceiver } from '../support/receiver.ts'
import { addWebhook, PLAIN } from '../support/secrets.ts'

const { db } = await freshDatabase()
const clock = { now: Date.parse('2026-03-15T12:00:00.000Z') }
const log = { info() {}, warn() {}, error() {} }
const server = await createMailServer()
const receiver = await createReceiver()
const mail = { url: `smtp://127.0.0.1:${server.port}`, from: 'Quotas <quotas@sms.example>' }

function aDispatcher() {
  const publicUrl = 'https://sms.example.com'
  const made = createDispatcher({ db, keys: PLAIN, now: () => clock.now, log, allowPrivate: true, mail, publicUrl })
  whenDone(() => made.finish())
  return made
}
/** As of two processes. */
const [dispatcher, other] = [aDispatcher(), aDispatcher()]

await db.query({
  text: sql`insert into user_profile (shard, user_id, ref, name, version, updated_at, updated_by)
    values ($1, $2, 'acme', 'Acme GmbH', 1, $3, 'ada')`,
  values: [shardOf(USER), USER, timestampParam(clock.now)],
})

/** Webhooks of earlier tests stay, with nothing due. */
const aWebhook = (draft: NewWebhook, url = receiver.url) =>
  addWebhook(db, draft, clock.now, { secret: Buffer.from(url), keys: PLAIN })

let lastNumber = 0

/** Adds deliveries of new events that are due. */
async function addDeliveries(
  webhook: number,
  count: number,
  data: object = SAMPLES['quota.expired'][0] ?? {},
): Promise<void> {
  const first = lastNumber + 1
  lastNumber += count
  await db.query({
    text: sql`insert into event (shard, number, type, at, user_id, sequence, data)
      select 0, n, 'quota.expired', $3, $5, n, $4 from generate_series($1::int, $2::int) n`,
    values: [first, lastNumber, timestampParam(clock.now), JSON.stringify(data), USER],
  })
  await db.query({
    text: sql`insert into webhook_delivery (shard, webhook_id, event_shard, number, status, next_attempt_at, created_at)
      select $1, $2, 0, n, 'pending', $5, $5 from generate_series($3::int, $4::int) n`,
    values: [shardOfWebhook(webhook), webhook, first, lastNumber, timestampParam(clock.now)],
  })
}

interface Row {
  status: string
  next: number | null
  response_code: number | null
  error: string | null
}

/** What Slack and Teams document. */
const OK = { answer: 200, body: 'ok', headers: {} }
const ACCEPTED = { answer: 202, body: '', headers: {} }

const deliveriesOf = (webhook: number) =>
  db.query<Row>({
    text: sql`select status, next_attempt_at as next, response_code, error from webhook_delivery where webhook_id = $1 order by number`,
    values: [webhook],
  })

/** One step, until its attempts are settled. */
async function dispatch(by = dispatcher): Promise<void> {
  await by.dispatchOnce(clock.now)
  await by.idle()
}

test('an e-mail waits for an SMTP server that is down for an hour, and is sent once', async () => {
  const webhook = await aWebhook({ kind: 'email', addresses: ['ops@sms.example', 'dev@sms.example'], language: 'de' })
  await addDeliveries(webhook, 1)
  server.isDown = true
  for (const end = clock.now + HOUR_MS; clock.now < end; clock.now += 5 * MINUTE_MS) await dispatch()
  expect(server.mails).toEqual([])
  expect(await deliveriesOf(webhook)).toMatchObject([
    { status: 'pending', error: expect.stringMatching(/^the (?:server|message)/) },
  ])
  server.isDown = false
  clock.now += 4 * HOUR_MS
  await dispatch()
  clock.now += DAY_MS
  await dispatch()
  expect(await deliveriesOf(webhook)).toMatchObject([{ status: 'delivered', response_code: 250, error: null }])
  const [sent, ...others] = server.mails.splice(0)
  expect(others).toEqual([])
  expect(sent?.recipients).toEqual(['ops@sms.example', 'dev@sms.example'])
  expect(sent?.head).toContain('From: Quotas <quotas@sms.example>')
  expect(sent?.head).toContain('To: ops@sms.example, dev@sms.example')
  expect(sent?.head).toContain(`Message-ID: <evt_0_${lastNumber}.${webhook}@sms.example>`)
  expect(sent?.head).toMatch(/Subject: =\?UTF-8\?Q\?Abgelaufen/)
  expect(sent?.body).toContain('https://sms.example.com/console/quotas/128')
  expect((await findWebhook(db, webhook))?.failing_since).toBeNull()
})

test('an address that is refused for a time gets the message later, and the others do not get it again', async () => {
  const webhook = await aWebhook({ kind: 'email', addresses: ['a@sms.example', 'Ops@SMS.Example', 'c@sms.example'] })
  await addDeliveries(webhook, 1)
  // So the library writes it.
  server.refused.set('Ops@sms.example', 450)
  server.refused.set('c@sms.example', 550)
  await dispatch()
  expect(await deliveriesOf(webhook)).toMatchObject([
    { status: 'pending', error: 'not taken for Ops@SMS.Example (450), c@sms.example (550)' },
  ])
  // The server works, so the webhook does not fail.
  expect((await findWebhook(db, webhook))?.failing_since).toBeNull()
  server.refused.clear()
  clock.now += HOUR_MS
  await dispatch()
  expect(await deliveriesOf(webhook)).toMatchObject([{ status: 'delivered', error: null }])
  const [first, second, ...others] = server.mails.splice(0)
  expect([first?.recipients, second?.recipients, others]).toEqual([['a@sms.example'], ['Ops@sms.example'], []])
  expect(second?.head.match(/Message-ID: .*/)?.[0]).toBe(first?.head.match(/Message-ID: .*/)?.[0])
})

test('a message whose addresses are all refused for good fails at once, and disables the webhook after three days of it', async () => {
  const webhook = await aWebhook({ kind: 'email', addresses: ['gone@sms.example'] })
  server.refused.set('gone@sms.example', 550)
  for (let n = 0; n < 3; n++) {
    await addDeliveries(webhook, 1)
    await dispatch()
    clock.now += MINUTE_MS
  }
  const failed = { status: 'failed', next: null, response_code: 550, error: 'not taken for gone@sms.example (550)' }
  expect(await deliveriesOf(webhook)).toEqual([failed, failed, failed])
  expect(await findWebhook(db, webhook)).toMatchObject({ enabled: true })
  clock.now += 3 * DAY_MS
  await addDeliveries(webhook, 1)
  await dispatch()
  expect(await findWebhook(db, webhook)).toMatchObject({ enabled: false, disabled_reason: 'failing' })
  const [event] = await db.query<{ data: object }>({
    text: sql`select data from event where type = 'webhook.disabled'`,
  })
  expect(event?.data).toMatchObject({ webhook: { id: webhook, disabled_reason: 'failing' } })
  server.refused.clear()
  // The webhooks of the tests before get that event.
  await dispatch()
  expect(
    server.mails
      .splice(0)
      .map(({ head }) => /Subject: .*/.exec(head)?.[0])
      .toSorted(),
  ).toEqual([`Subject: Webhook ${webhook} was disabled`, `Subject: Webhook abgeschaltet: ${webhook}`])
})

test('a message that the server does not take now is repeated', async () => {
  const webhook = await aWebhook({ kind: 'email', addresses: ['ops@sms.example'] })
  await addDeliveries(webhook, 1)
  server.dataCode = 451
  await dispatch()
  expect(await deliveriesOf(webhook)).toMatchObject([{ status: 'pending', response_code: 451 }])
  server.dataCode = undefined
  clock.now += MINUTE_MS
  await dispatch()
  expect(await deliveriesOf(webhook)).toMatchObject([{ status: 'delivered' }])
  expect(server.mails.splice(0)).toHaveLength(1)
})

test('a name of several lines and markup adds no header and no recipient', async () => {
  const webhook = await aWebhook({ kind: 'email', addresses: ['ops@sms.example'] })
  const [{ quota }] = SAMPLES['quota.expired'] as [{ quota: object }]
  await addDeliveries(webhook, 1, { quota: { ...quota, name: 'x\r\nBcc: eve@evil.example\r\n\r\n<script>\u202e' } })
  await dispatch()
  const [sent] = server.mails.splice(0)
  expect(sent?.recipients).toEqual(['ops@sms.example'])
  expect(sent?.head).not.toMatch(/^Bcc/im)
  expect(sent?.body.split('text/html')[1]).not.toContain('<script>')
})

test('beyond this machine nothing is sent without encryption', async () => {
  // An address that leads to this machine, and is not known to.
  const mailer = createMailer({ ...mail, url: `smtp://0.0.0.0:${server.port}` })
  whenDone(() => mailer.close())
  const attempt = await mailer.send({
    id: '1',
    to: ['a@b.example'],
    recipients: ['a@b.example'],
    subject: 's',
    text: 't',
    html: 'h',
  })
  expect(attempt).toMatchObject({ delivered: false, error: expect.stringMatching(/ETLS.*\?tls=off/) })
  expect(server.mails).toEqual([])
})

test('a relay without TLS is used if the URL says so, and domains of other scripts are sent as ASCII', async () => {
  // An address that leads to this machine, and is not known to.
  const url = `smtp://0.0.0.0:${server.port}?tls=off`
  const mailer = createMailer({ url, from: 'Kontingente <quotas@münchen.example>' })
  whenDone(() => mailer.close())
  const to = ['ops@bücher.example']
  const content = { subject: 's', text: 't', html: 'h' }
  expect(await mailer.send({ id: '1', to, recipients: to, ...content })).toMatchObject({ delivered: true })
  const [sent] = server.mails.splice(0)
  expect(sent?.head).toContain('To: ops@xn--bcher-kva.example')
  expect(sent?.head).toContain('Message-ID: <1@xn--mnchen-3ya.example>')
  expect(sent?.head).toContain('quotas@xn--mnchen-3ya.example')
  expect(sent?.head).toMatch(/^\p{ASCII}*$/u)
  // So the test's server reads it.
  server.refused.set('ops@bücher.example', 450)
  expect(await mailer.send({ id: '1', to, recipients: to, ...content })).toMatchObject({ left: to })
  server.refused.clear()
})

test('Slack and Teams get the formats that they document, at their secret URL, and Slack says when to go on', async () => {
  const slack = await aWebhook({ kind: 'slack', url: 'https://hooks.slack.example/…abcd' })
  await addDeliveries(slack, 1)
  Object.assign(receiver, { answer: 429, headers: { 'retry-after': '30' } })
  await dispatch()
  const [delivery] = await deliveriesOf(slack)
  expect(delivery).toMatchObject({ status: 'pending', response_code: 429 })
  expect(delivery?.next).toBeGreaterThanOrEqual(clock.now + 30_000)
  Object.assign(receiver, OK)
  clock.now += MINUTE_MS
  await dispatch()
  expect(await deliveriesOf(slack)).toMatchObject([{ status: 'delivered' }])
  const posted = receiver.deliveries.splice(0)
  expect(posted).toHaveLength(2)
  for (const { body, headers } of posted) {
    expectSlack(JSON.parse(body))
    expect(headers).not.toHaveProperty('webhook-signature')
  }
  const teams = await aWebhook({ kind: 'teams', url: 'https://teams.example/…abcd' })
  await addDeliveries(teams, 1)
  Object.assign(receiver, ACCEPTED)
  await dispatch()
  const [card] = receiver.deliveries.splice(0)
  expectTeams(JSON.parse(card?.body ?? ''))
  expect(card?.body).toContain('Acme GmbH')
})

const LIMITED =
  'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with ContextId tcid=1,server=X,MS-CV=y.0..'

test('what Teams did not post is sent again, though it answers 200, and its answer is kept until then', async () => {
  const teams = await aWebhook({ kind: 'teams', url: 'https://teams.example/…abcd' })
  await addDeliveries(teams, 1)
  const answerOf = async () => {
    const [row] = await db.query<{ answer: string | null }>({
      text: sql`select answer from webhook_delivery where webhook_id = $1`,
      values: [teams],
    })
    return row?.answer
  }
  Object.assign(receiver, { answer: 200, body: LIMITED, headers: {} })
  await dispatch()
  const error = 'the answer does not say that the message was taken: HTTP error 429'
  expect(await deliveriesOf(teams)).toMatchObject([{ status: 'pending', response_code: 200, error }])
  expect(await answerOf()).toBe(LIMITED)
  Object.assign(receiver, { body: '1' })
  clock.now += HOUR_MS
  await dispatch()
  expect(await deliveriesOf(teams)).toMatchObject([{ status: 'delivered', error: null }])
  expect(await answerOf()).toBeNull()
  expect(receiver.deliveries.splice(0)).toHaveLength(2)
  expect((await findWebhook(db, teams))?.failing_since).toBeNull()
})

test('a message that is wrong fails at once, and the answer to many is not kept with each', async () => {
  const slack = await aWebhook({ kind: 'slack', url: 'https://hooks.slack.example/…abcd' })
  await addDeliveries(slack, 12)
  Object.assign(receiver, { answer: 200, body: 'invalid_payload', headers: {} })
  await dispatch()
  expect(receiver.deliveries.splice(0)).toHaveLength(1)
  const error = 'the answer does not say that the message was taken: invalid_payload'
  expect(await deliveriesOf(slack)).toEqual(
    Array.from({ length: 12 }, () => ({ status: 'failed', next: null, response_code: 200, error })),
  )
  const kept = await db.query({
    text: sql`select 1 from webhook_delivery where webhook_id = $1 and answer is not null`,
    values: [slack],
  })
  expect(kept).toEqual([])
  expect(await findWebhook(db, slack)).toMatchObject({ enabled: true, failing_since: null })
  Object.assign(receiver, OK)
})

test('of 10,000 events in a minute few messages are made, and each event is counted', async () => {
  const webhook = await aWebhook({ kind: 'slack', url: 'https://hooks.slack.example/…abcd' })
  await addDeliveries(webhook, 3)
  await dispatch()
  expect(receiver.deliveries).toHaveLength(3)
  await addDeliveries(webhook, 9_997)
  // Within the minute, up to the bound.
  for (let n = 0; n < 3; n++) await dispatch()
  expect(receiver.deliveries).toHaveLength(10)
  for (let minute = 0; minute < 4; minute++) {
    clock.now += MINUTE_MS
    // Two processes count together.
    await Promise.all([dispatch(), dispatch(other)])
  }
  expect((await deliveriesOf(webhook)).every(({ status }) => status === 'delivered')).toBe(true)
  const titles = receiver.deliveries.splice(0).map(({ body }) => String(JSON.parse(body).text))
  expect(titles.slice(10)).toEqual(['4,000 events', '4,000 events', '1,990 events'])
  expect(titles.slice(0, 10).every(title => title.includes('has expired'))).toBe(true)
})
