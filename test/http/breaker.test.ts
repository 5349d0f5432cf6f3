import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ReplayPlace, replayBreaker } from '../../src/admin/pauses/replay-breaker.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { MAX_INTEGER } from '../../src/domain/basics/bounds.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { type Budgets, DEFAULT_BUDGETS } from '../../src/domain/pauses/breaker.ts'
import { replay } from '../../src/domain/pauses/breaker-replay.ts'
import { usageBucketOf } from '../../src/domain/units/usage.ts'
import { runs } from '../support/runs.ts'
import { pagesOf } from '../support/service.ts'
import { startSender } from './sender-fixture.ts'

const service = await startSender()
const { call, clock, db, someone } = service
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
  verified?: number | null
  returned?: number | null
}

async function send(...traffic: Traffic[]) {
  for (const one of traffic) {
    const { user_id, country = 'FR', type = 'otp', before, sent, refunded = 0, verified = null, returned = null } = one
    await db.query({
      text: sql`insert into usage (shard, user_id, bucket, quota_id, country, message_type, committed, committed_messages, refunded,
               refunded_messages, denied, denied_messages, verified_messages, returned_messages)
             values ($1, $2, $3, null, $4, $5, $6, $6, $7, $7, 0, 0, $8, $9)`,
      values: [shardOf(user_id), user_id, timeOf(before), country, type, sent, refunded, verified, returned],
    })
  }
}

interface Replayed {
  user_id: number
  country: string
  from: string
  stopped: number
  stopped_verified: number
  evidence: { budget: string }
}

/** All pauses, page by page. The progress never goes back, and reaches 1 on the last. */
async function replayed(query: string, size = 20): Promise<Replayed[]> {
  const pages = await pagesOf(service, `${REPLAY}?page_size=${size}${query}`)
  for (const [n, { items, progress, next_cursor }] of pages.entries()) {
    expect(items.length).toBeLessThanOrEqual(size)
    expect(progress).toBeGreaterThanOrEqual(pages[n - 1]?.progress ?? 0)
    expect(progress === 1).toBe(next_cursor === null)
  }
  return pages.flatMap(({ items }) => items)
}

test('a replay says what the breaker would have paused, and who would have got no code', async () => {
  const [pumped, silent, ended, other, repaid] = [someone(), someone(), someone(), someone(), someone()]
  await send(
    // 100 codes in a quarter of an hour, and what the pause of the hour after it stops.
    { user_id: pumped, before: 40, sent: 100, verified: 10 },
    { user_id: pumped, before: 39, sent: 60, verified: 5 },
    { user_id: pumped, before: 36, sent: 60, verified: 2 },
    // Another type or a message without a country is not judged.
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
    // An attack that is refunded a day later was one.
    { user_id: repaid, before: 200, sent: 100, verified: 10 },
    { user_id: repaid, before: 100, sent: 0, refunded: 100, returned: 100 },
    // An outage of the carrier: what was not delivered is refunded.
    { user_id: pumped, country: 'IT', before: 40, sent: 100, verified: 10, refunded: 80, returned: 80 },
    { user_id: pumped, country: 'IT', before: 39, sent: 0, refunded: 8, returned: 8 },
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
    progress: 1,
    next_cursor: null,
  })
  const ofAll = await replayed('')
  expect(ofAll.map(({ user_id }) => user_id).toSorted((one, another) => one - another)).toEqual([pumped, other, repaid])
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

  // A call ends after a user with much usage, and the next one goes on.
  const asked = { days: 1, to: quarterAt(0), message_type: 'otp', budgets: DEFAULT_BUDGETS }
  const ofEach: Pick<Replayed, 'user_id' | 'country' | 'stopped'>[] = []
  let calls = 0
  for (let place: ReplayPlace | null = { shard: 0, user: 0, skipped: 0 }; place !== null; calls++) {
    const { pauses, next } = await replayBreaker(db, asked, place, 100, 1)
    expect(new Set(pauses.map(({ user_id }) => user_id)).size).toBeLessThanOrEqual(1)
    ofEach.push(...pauses.map(({ user_id, country, stopped }) => ({ user_id, country, stopped })))
    place = next
  }
  expect(calls).toBeGreaterThanOrEqual(senders.length)
  expect(ofEach.filter(pause => senders.includes(pause.user_id))).toMatchObject(
    all.map(({ user_id, country, stopped }) => ({ user_id, country, stopped })),
  )

  clock.now += 86_400_000
  expect(await replayed(`&cursor=${first.next_cursor}`, 1)).not.toEqual([])
  expect((await call('GET', `${REPLAY}?days=2&cursor=${first.next_cursor}`)).body.errors).toEqual([
    { path: 'days', message: 'is fixed by the cursor to 1' },
  ])
  expect(await replayed('&days=1')).toEqual([])
})

/** The pauses of each destination of a user, from all of its usage, without the statements that leave users out. */
function naive(traffic: readonly Traffic[], days: number, budgets: Budgets) {
  const codes = traffic.filter(({ type = 'otp', country, before }) => type === 'otp' && country && before > 0)
  if (!codes.some(({ before, verified }) => verified && before <= 14 * 96)) return []
  return [...Map.groupBy(codes, ({ country }) => country)].flatMap(([country, ofCountry]) =>
    replay(
      ofCountry
        .toSorted((one, another) => another.before - one.before)
        .map(({ before, sent, verified }) => {
          return { start: quarterAt(before), end: quarterAt(before - 1), sent, verified: verified ?? 0 }
        }),
      quarterAt(days * 96),
      budgets,
    )
      .filter(({ from }) => from <= quarterAt(0))
      .map(({ from, stopped, stopped_verified, evidence: { budget } }) => {
        return { country, from: new Date(from).toISOString(), budget, stopped, stopped_verified }
      }),
  )
}

test('a replay has each pause that each destination has by itself', async () => {
  const quarter = fc.record({
    country: fc.constantFrom('FR', 'DE', null),
    type: fc.constantFrom('otp', 'otp', 'news'),
    // Close together, and as far back as no replay reads.
    before: fc.oneof(fc.nat(3), fc.nat(100), fc.nat(32 * 96)),
    sent: fc.oneof(fc.nat(10), fc.nat(90)),
    refunded: fc.oneof(fc.constant(0), fc.nat(90)),
    verified: fc.oneof(fc.constant(null), fc.nat(40)),
  })
  const traffic = fc.uniqueArray(quarter, {
    ...{ minLength: 1, maxLength: 40, size: 'max' },
    selector: ({ country, type, before }) => `${country} ${type} ${before}`,
  })
  const budget = fc.integer({ min: 1, max: 40 })
  const budgets = fc.record({ day: budget, hour: budget, flight: budget, share: fc.constantFrom(0, 0.07, 0.3, 1) })
  const users = fc.array(traffic, { minLength: 1, maxLength: 6 })
  const inOrder = (pauses: readonly object[]) => pauses.map(pause => JSON.stringify(pause)).toSorted()
  await fc.assert(
    fc.asyncProperty(users, fc.integer({ min: 1, max: 14 }), budgets, async (ofUsers, days, asked) => {
      await db.query({ text: sql`delete from usage` })
      const expected: object[] = []
      for (const ofUser of ofUsers) {
        const user_id = someone()
        const sent = ofUser.map(each => ({ ...each, user_id }))
        await send(...sent)
        expected.push(...naive(sent, days, asked).map(pause => ({ user_id, ...pause })))
      }
      const query = Object.entries(asked).map(([name, value]) => `&${name}=${value}`)
      const found = await replayed(`&days=${days}${query.join('')}`, 100)
      const shown = found.map(({ user_id, country, from, stopped, stopped_verified, evidence: { budget } }) => {
        return { user_id, country, from, budget, stopped, stopped_verified }
      })
      expect(inOrder(shown)).toEqual(inOrder(expected))
    }),
    { numRuns: runs(25) },
  )
})

test('a replay takes budgets that it can judge by', async () => {
  for (const query of ['days=15', 'day=0', 'flight=-1', 'share=.5', 'share=5e-1', `hour=${MAX_INTEGER}`, 'cursor=e30'])
    expect((await call('GET', `${REPLAY}?${query}`)).status, query).toBe(400)
  const late = { filters: { days: 1, message_type: 'otp' }, after: { to: MAX_INTEGER, shard: 0, user: 0, skipped: 0 } }
  const cursor = Buffer.from(JSON.stringify(late)).toString('base64url')
  expect((await call('GET', `${REPLAY}?cursor=${cursor}`)).status).toBe(400)
  expect((await call('GET', `${REPLAY}?share=1.5`)).body.errors).toEqual([
    { path: 'share', message: 'must be a number from 0 to 1, not 1.5' },
  ])
})
