/** Messages that wait for an hour of the day: on a real database, with real receivers, and a clock of the test. */
import { expect, test } from 'vitest'
import { type NewWebhook, updateWebhook } from '../../src/admin/webhooks/webhooks.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { timestampParam } from '../../src/db/connection/values.ts'
import { redeliver } from '../../src/db/webhooks/delivery-lists.ts'
import { shardFrom } from '../../src/domain/basics/shard.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/time/time.ts'
import { createDispatcher, type PendingReport } from '../../src/jobs/webhook-dispatcher.ts'
import { SAMPLES, USER } from '../messages/samples.ts'
import { whenDone } from '../support/cleanup.ts'
import { freshDatabase } from '../support/database.ts'
import { createMailServer } from '../support/mail-server.ts'
import { createReceiver } from '../support/receiver.ts'
import { addWebhook, PLAIN } from '../support/secrets.ts'

const { db } = await freshDatabase()
// On the eve of a day of 23 hours.
const clock = { now: Date.parse('2026-03-28T12:00:00.000Z') }
const DIGEST = { hour: 9, time_zone: 'Europe/Berlin' }
const AT_NINE = Date.parse('2026-03-29T07:00:00.000Z')
const log = { info() {}, warn() {}, error() {} }
const server = await createMailServer()
const receiver = Object.assign(await createReceiver(), { answer: 200, body: 'ok' })
const mail = { url: `smtp://127.0.0.1:${server.port}`, from: 'quotas@sms.example' }
const pending: PendingReport[] = []

function aDispatcher() {
  const options = { db, keys: PLAIN, now: () => clock.now, log, allowPrivate: true, mail }
  const made = createDispatcher({ ...options, onPending: report => pending.push(report) })
  whenDone(() => made.finish())
  return made
}
/** As of two processes. */
const [dispatcher, other] = [aDispatcher(), aDispatcher()]

/** Webhooks of earlier tests get nothing more. */
async function aWebhook(draft: NewWebhook): Promise<number> {
  await db.query({ text: sql`update webhook set sends = false` })
  return addWebhook(db, draft, clock.now, { secret: Buffer.from(receiver.url), keys: PLAIN })
}

const change = (id: number, patch: Parameters<typeof updateWebhook>[2]) =>
  updateWebhook(db, id, patch, { now: clock.now, actor: 'ada', requestId: 'test' })

/** Adds events of one user, the last in the order of time in shard 9. */
async function addEvents(count: number): Promise<void> {
  for (const shard of [9, 40]) {
    await db.query({
      text: sql`with head as (update shard_head set last_event = last_event + $2 where shard = $1 returning last_event)
        insert into event (shard, number, type, at, user_id, sequence, data)
        select $1, last_event - $2 + n, 'quota.expired', $3, $5, last_event - $2 + n, $4 from head, generate_series(1, $2::int) n`,
      values: [
        shard,
        count / 2,
        timestampParam(clock.now - shard),
        JSON.stringify(SAMPLES['quota.expired'][0]),
        USER + shard,
      ],
    })
  }
}

interface Row {
  shard: number
  number: number
  status: string
  due: number | null
}

const deliveriesOf = (id: number) =>
  db.query<Row>({
    text: sql`select event_shard as shard, number, status, next_attempt_at as due from webhook_delivery where webhook_id = $1
      order by event_shard, number`,
    values: [id],
  })

/** The different states of the deliveries of a webhook. */
const statesOf = async (id: number) => [
  ...new Set((await deliveriesOf(id)).map(({ status, due }) => `${status} ${due === null ? '' : due - clock.now}`)),
]

/** Steps until no event is left to fan out, and no attempt is under way. */
async function dispatch(by = dispatcher): Promise<void> {
  for (let isBehind = true; isBehind; ) {
    ;({ isBehind } = await by.dispatchOnce(clock.now))
    // What claims deliveries holds up the next page.
    await by.idle()
  }
}

const subjects = () => server.mails.splice(0).map(({ head }) => /Subject: (.*)/.exec(head)?.[1])
const titles = () => receiver.deliveries.splice(0).map(({ body }) => String(JSON.parse(body).text))

test('10,000 events of a day become three messages at its hour, in two processes, and a day without events has none', async () => {
  const id = await aWebhook({ kind: 'slack', url: 'https://hooks.slack.example/…abcd', digest: DIGEST })
  await addEvents(10_000)
  await dispatch()
  expect(await statesOf(id)).toEqual([`pending ${AT_NINE - clock.now}`])
  clock.now = AT_NINE - 1
  await Promise.all([dispatch(), dispatch(other)])
  expect(titles()).toEqual([])
  // What waits for its hour is not late.
  expect(pending.at(-1)).toMatchObject({ count: 10_000, oldestMs: 0 })
  clock.now = AT_NINE
  for (let step = 0; step < 4; step++) await Promise.all([dispatch(), dispatch(other)])
  expect(await statesOf(id)).toEqual(['delivered '])
  expect(titles().toSorted()).toEqual(['Daily summary: 2,000 events', ...Array(2).fill('Daily summary: 4,000 events')])
  clock.now += DAY_MS
  await dispatch()
  expect(titles()).toEqual([])
})

test('where the SMTP server is down at the hour, the message comes later, once, with the oldest events', async () => {
  const id = await aWebhook({ kind: 'email', addresses: ['ops@sms.example'], digest: DIGEST, language: 'de' })
  await addEvents(12)
  await dispatch()
  clock.now += DAY_MS
  server.isDown = true
  for (const end = clock.now + HOUR_MS; clock.now < end; clock.now += 5 * MINUTE_MS) await dispatch()
  // A retry is of all of them, at one time.
  expect(await statesOf(id)).toEqual([expect.stringMatching(/^pending \d+$/)])
  server.isDown = false
  for (const end = clock.now + 4 * HOUR_MS; clock.now < end; clock.now += 10 * MINUTE_MS) await dispatch()
  expect(await statesOf(id)).toEqual(['delivered '])
  const [sent, ...others] = server.mails.splice(0)
  expect(others).toEqual([])
  expect(sent?.head).toContain('Subject: Tageszusammenfassung: 12 Ereignisse')
  const [first] = (await deliveriesOf(id)).filter(({ shard }) => shard === 40)
  expect(sent?.head).toContain(`Message-ID: <evt_40_${first?.number}-12.${id}@sms.example>`)
  expect(sent?.body).not.toContain('zu viele')
})

test('a test and an event that is sent again by hand go out at once', async () => {
  const id = await aWebhook({ kind: 'email', addresses: ['ops@sms.example'], digest: DIGEST })
  await addEvents(2)
  await dispatch()
  expect(await dispatcher.test(id)).toMatchObject({ delivered: true })
  const [event] = await deliveriesOf(id)
  await redeliver(db, id, { shard: shardFrom(event?.shard ?? 0), number: event?.number ?? 0 }, clock.now)
  await dispatch()
  expect(subjects()).toEqual([`Test of webhook ${id}`, expect.stringMatching(/^=\?UTF-8\?Q\?Quota_/)])
  expect((await deliveriesOf(id)).map(({ status }) => status)).toEqual(['delivered', 'pending'])
})

test('another hour moves what waits, but no retry, and without a digest it is sent', async () => {
  const id = await aWebhook({ kind: 'slack', url: 'https://hooks.slack.example/…abcd', digest: DIGEST })
  await addEvents(2)
  await dispatch()
  const [event] = await deliveriesOf(id)
  receiver.answer = 500
  await redeliver(db, id, { shard: shardFrom(event?.shard ?? 0), number: event?.number ?? 0 }, clock.now)
  await dispatch()
  receiver.answer = 200
  titles()
  const [retry] = await deliveriesOf(id)
  const noon = { hour: 12, time_zone: 'Asia/Kathmandu' }
  await change(id, { digest: noon })
  await dispatch()
  const moved = await deliveriesOf(id)
  expect(moved[0]).toEqual(retry)
  expect(moved[1]?.due).toBe(clock.now - (clock.now % DAY_MS) + DAY_MS + 6.25 * HOUR_MS)
  // More than a page of them, forth and back.
  await addEvents(2_400)
  await dispatch()
  for (const digest of [DIGEST, noon, { hour: 23, time_zone: 'UTC' }]) {
    await change(id, { digest })
    await dispatch()
    expect(new Set((await deliveriesOf(id)).map(({ due }) => due)).size).toBe(2)
  }
  expect(titles()).toEqual([])
  await change(id, { digest: null })
  for (let minute = 0; minute < 4; minute++) {
    clock.now += MINUTE_MS
    await dispatch()
  }
  expect(await statesOf(id)).toEqual(['delivered '])
  expect(titles().filter(title => title.startsWith('Daily'))).toEqual([])
  await addEvents(2)
  clock.now += MINUTE_MS
  await dispatch()
  await dispatch()
  expect(titles()).toHaveLength(2)
})
