import { expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { MAX_INTEGER } from '../../src/domain/bounds.ts'
import { shardOf } from '../../src/domain/shard.ts'
import { usageBucketOf } from '../../src/domain/usage.ts'
import { startSender } from './sender-fixture.ts'

const service = await startSender()
const { call, clock, db, someone, userToken } = service
const REPLAY = '/api/sms/admin/breaker/replay'
const QUARTER_MS = 900_000
/** Quarters of an hour before the current one. */
const quarterAt = (before: number) => usageBucketOf(clock.now) - before * QUARTER_MS
const timeOf = (before: number) => new Date(quarterAt(before)).toISOString()

interface Traffic {
  user_id: number
  country?: string | null
  type?: string
  /** The quarter of an hour: how many before the current one. */
  before: number
  sent: number
  refunded?: number
  verified?: number
}

async function send(...traffic: Traffic[]) {
  for (const { user_id, country = 'FR', type = 'otp', before, sent, refunded = 0, verified = null } of traffic)
    await db.query({
      text: sql`insert into usage (shard, user_id, bucket, quota_id, country, message_type, committed, committed_messages, refunded,
               refunded_messages, denied, denied_messages, verified_messages)
             values ($1, $2, $3, null, $4, $5, $6, $6, $7, $7, 0, 0, $8)`,
      values: [shardOf(user_id), user_id, timeOf(before), country, type, sent, refunded, verified],
    })
}

interface Replayed {
  user_id: number
  country: string
  from: string
}

/** All pauses, page by page. */
async function replayed(query: string, size = 20): Promise<Replayed[]> {
  const pauses: Replayed[] = []
  for (let next = `page_size=${size}${query}`; ; ) {
    const { status, body } = await call('GET', `${REPLAY}?${next}`)
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body.items.length).toBeLessThanOrEqual(size)
    pauses.push(...body.items)
    if (body.next_cursor === null) return pauses
    next = `page_size=${size}&cursor=${body.next_cursor}`
  }
}

test('a replay says what the breaker would have paused, and who would have got no code', async () => {
  const [pumped, silent, ended, other] = [someone(), someone(), someone(), someone()]
  await send(
    // 100 codes in a quarter of an hour, and what the pause of the hour after it stops.
    { user_id: pumped, before: 40, sent: 100, verified: 10 },
    { user_id: pumped, before: 39, sent: 60, verified: 5 },
    { user_id: pumped, before: 36, sent: 60, verified: 2 },
    // What was refunded was not sent, and another type or a message without a country is not judged.
    { user_id: pumped, country: 'DE', before: 40, sent: 100, refunded: 100 },
    { user_id: pumped, country: 'GB', before: 40, sent: 100, type: 'news' },
    { user_id: pumped, country: null, before: 40, sent: 100 },
    // Honest traffic.
    { user_id: pumped, country: 'ES', before: 40, sent: 100, verified: 95 },
    // Without feedback, or without any lately, each message would look pumped.
    { user_id: silent, before: 40, sent: 100 },
    { user_id: ended, before: 96 * 15, sent: 100, verified: 90 },
    { user_id: ended, before: 40, sent: 100 },
    // Before the day that is asked for.
    { user_id: other, before: 200, sent: 100, verified: 10 },
  )
  const { status, body } = await call('GET', `${REPLAY}?days=1`)
  expect(status, JSON.stringify(body)).toBe(200)
  const pause = { user_id: pumped, country: 'FR' }
  expect(body).toEqual({
    items: [
      {
        ...pause,
        from: timeOf(39),
        until: timeOf(35),
        evidence: {
          budget: 'flight',
          counted: 30,
          allowed: 25,
          young: 30,
          unverified_hour: 60,
          unverified_day: 60,
          verified_quarter: 10,
          verified_hour: 10,
          verified_day: 10,
          usual_day: 0,
          usual_quarter: 0,
        },
        stopped: 120,
        stopped_verified: 7,
      },
    ],
    page_size: 20,
    next_cursor: null,
  })
  const ofAll = await replayed('')
  expect(ofAll.map(({ user_id }) => user_id).toSorted((one, another) => one - another)).toEqual([pumped, other])
  expect(await replayed('&day=1000&hour=1000&flight=1000')).toEqual([])
  expect(await replayed('&message_type=news')).toEqual([])
})

test('pages have each pause once, of the same past', async () => {
  const senders = [someone(), someone(), someone()]
  for (const user_id of senders)
    for (const country of ['LV', 'LT'])
      await send(
        { user_id, country, before: 20, sent: 80, verified: 8 },
        { user_id, country, before: 10, sent: 80, verified: 8 },
      )
  const all = (await replayed('&days=1', 100)).filter(({ user_id }) => senders.includes(user_id))
  expect(all).toHaveLength(12)
  const first = (await call('GET', `${REPLAY}?days=1&page_size=1`)).body
  for (const size of [1, 3])
    expect((await replayed('&days=1', size)).filter(({ user_id }) => senders.includes(user_id))).toEqual(all)

  clock.now += 86_400_000
  expect(await replayed(`&cursor=${first.next_cursor}`, 1)).not.toEqual([])
  expect((await call('GET', `${REPLAY}?days=2&cursor=${first.next_cursor}`)).body.errors).toEqual([
    { path: 'days', message: 'is fixed by the cursor to 1' },
  ])
  expect(await replayed('&days=1')).toEqual([])
})

test('a replay is for administrators, and takes budgets that it can judge by', async () => {
  expect((await call('GET', REPLAY, { token: await userToken(someone()) })).status).toBe(403)
  for (const query of ['days=15', 'day=0', 'flight=-1', 'share=.5', 'share=5e-1', `hour=${MAX_INTEGER}`, 'cursor=e30'])
    expect((await call('GET', `${REPLAY}?${query}`)).status, query).toBe(400)
  expect((await call('GET', `${REPLAY}?share=1.5`)).body.errors).toEqual([
    { path: 'share', message: 'must be a number from 0 to 1, not 1.5' },
  ])
})
