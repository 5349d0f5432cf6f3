/**
 * Lists of reservations and denials, the sweeper and retention cost the same however many there are, for any user and any age,
 * and however much has been settled before.
 */
import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { blocksOf, isSetting, type PlanNode, type Statement, transactionOf } from '../../bench/explain.ts'
import { findShardsWith } from '../../src/db/cluster/first-rows.ts'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { findEndedCounters } from '../../src/db/quotas/value-counters.ts'
import { findOldDenials, removeDenials } from '../../src/db/reservations/denial-retention.ts'
import { type DenialFilter, findDenial, listDenials } from '../../src/db/reservations/denials.ts'
import { DUE_PAGE, expiriesAfter, findDue } from '../../src/db/reservations/due.ts'
import { listReservations, type ReservationFilter, type ReservationKey } from '../../src/db/reservations/lists.ts'
import { listOfSender, type SenderFilter, type SenderKey } from '../../src/db/reservations/lists-of-senders.ts'
import { removeSettled } from '../../src/db/reservations/retention.ts'
import { SHARDS, shardFrom, shardOf } from '../../src/domain/basics/shard.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import type { DenialKey } from '../../src/domain/units/denial.ts'
import { databaseOfOnePostgres } from '../support/database.ts'
import { accessesOf, literalOf, type PlanCase, testPlans } from '../support/explain.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
/** This user has most of a week and most denials, and they are old. */
const BUSY = 1
const SMALL = 2
/** This user's are spread over so long that the busy user's look few in any stretch of time. */
const STEADY = 30
const SENDER = 'gateway'
/** This user has most of the sender's. */
const BUSY_OF_SENDER = 101

const { db, url } = await databaseOfOnePostgres()
const days = (count: number) => NOW - count * DAY_MS
const oldDenial = (age: number): DenialKey => ({ at: days(age), user_id: BUSY, number: 1 })

/** The statements that connections prepare, which may keep the generic plan that was made when the table was empty. */
const PREPARED = await transactionOf(db, async on => {
  await findDenial(on, oldDenial(1))
  await findOldDenials(on, days(102), NOW, 100)
  await removeDenials(
    on,
    [102, 103, 104].map(age => ({ ...oldDenial(age), shard: shardOf(BUSY) })),
  )
})
const early = new pg.Client({ connectionString: url })
afterAll(() => early.end())
await early.connect()
await early.query('set plan_cache_mode = force_generic_plan')

async function earlyPlanOf({ name, values = [] }: Statement): Promise<PlanNode> {
  const execution = `execute "${name}" (${values.map(literalOf).join(', ')})`
  const { rows } = await early.query(`explain (analyze, buffers, timing off, format json) ${execution}`)
  return rows[0]['QUERY PLAN'][0].Plan
}

for (const statement of PREPARED) {
  if (isSetting(statement)) {
    await early.query(statement.text.replaceAll('set local', 'set'))
  } else {
    await early.query(`prepare "${statement.name}" as ${statement.text}`)
    await earlyPlanOf(statement)
  }
}

const time = (at: number) => new Date(at).toISOString()
/** Numbers of the users, how many each has, when the newest was made, and the seconds between two. */
type Stretch = [users: number[], count: number, newest: number, everySeconds: number]
const range = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index)

for (const [users, ...stretch] of [
  [[BUSY], 60_000, days(100), 60],
  [[SMALL], 50, days(100), 10],
  [range(3, 40), 1_000, NOW, 600],
] satisfies Stretch[]) {
  const [count, newest, everySeconds] = stretch
  await db.query({
    text: sql`insert into denial (shard, user_id, at, number, id, op, units, allow_partial, reason, remaining, skipped, explanation)
           select shard, user_id, $3::timestamptz - n * $5::int * interval '1 s', nextval('denial_number'), 'm' || n, 'reserve', 1,
             false, 'quota_exhausted', 0, 0, '[{"quota_id": 64, "kind": "grant", "verdict": "exhausted", "units": 0}]'
           from unnest($1::smallint[], $2::bigint[]) u (shard, user_id), generate_series(1, $4::int) n`,
    values: [users.map(shardOf), users, time(newest), count, everySeconds],
  })
}

await db.query({ text: sql`insert into principal (subject) values ('other'), ($1)`, values: [SENDER] })
/** Reservations: how many of the newest ones are open, and whether they are the sender's. Those of no sender end at once. */
for (const [[users, count, newest, everySeconds], open] of [
  [[[BUSY], 20_000, days(100), 30]],
  [[[SMALL], 50, days(200), 10]],
  [[[STEADY], 25_000, NOW, 691]],
  [[range(3, 20), 300, NOW, 30]],
  [[[BUSY_OF_SENDER], 30_000, NOW, 100], 3],
  // Users with nothing open, in each of many places of the index.
  [[range(102, 58), 300, NOW - DAY_MS, 200], 0],
  [[[160], 10, NOW, 1], 2],
] satisfies [Stretch, open?: number][]) {
  await db.query({
    text: sql`insert into reservation (shard, user_id, id, op, asked, allow_partial, force, units, committed, released, refunded,
             on_expiry, expired, draws, created_at, expires_at, changed_at, made_by)
           select shard, user_id, 'm' || n, case when $6::int is null then 'consume' else 'reserve' end, 1, false, false, 1,
             case when n <= $6 then 0 else 1 end, 0, 0, 'release', false, array[64, 0, 0, 1, 0, 1],
             at, case when $6 is null then at else at + interval '10 minutes' end, at,
             (select id from principal where subject = $7 and $6 is not null)
           from unnest($1::smallint[], $2::bigint[]) u (shard, user_id), generate_series(1, $4::int) n,
             lateral (select $3::timestamptz - n * $5::int * interval '1 s' as at) t`,
    values: [users.map(shardOf), users, time(newest), count, everySeconds, open ?? null, SENDER],
  })
}
// A thousand in each shard, over 35 days: far more than a page of the sweeper.
await db.query({
  text: sql`insert into reservation
    select n % 64, 10000 + n % 5000, 'm' || n, 0, 'consume', 1, null, 'otp', false, false, 1, 1, 0, 0, 'release', false,
      array[64, 0, 0, 1, 0, 1], at, at, at
    from generate_series(1, 64000) n, lateral (select $1::timestamptz - n * interval '47 s' as at) t`,
  values: [time(NOW)],
})
await db.query({ text: sql`update sweeper_watermark set closed_until = $1`, values: [time(NOW - 120_000)] })

const denials = (what: string, index: string, filter: DenialFilter, after?: DenialKey): PlanCase => [
  `denials: ${what}`,
  on => listDenials(on, filter, { after, size: 20, now: NOW }),
  { blocks: 250, indexes: { denial: [index] } },
]
const oldDenials = (what: string, index: string, work: (on: Database) => Promise<unknown>): PlanCase => [
  what,
  work,
  { blocks: 250, indexes: { denial: [index] } },
]

testPlans(
  db,
  ['denial'],
  [
    denials('the newest of a user with most of them', 'denial_pkey', { user_id: BUSY }),
    denials('deep in them', 'denial_pkey', { user_id: BUSY }, oldDenial(110)),
    denials('a day of them', 'denial_pkey', { user_id: BUSY, from: days(105), to: days(104) }),
    denials('those of a reason and a country in some days', 'denial_pkey', {
      ...{ user_id: BUSY, reason: 'no_quota', country: 'DE' },
      ...{ from: days(102), to: days(101) },
    }),
    denials('those of a user with few', 'denial_pkey', { user_id: SMALL }),
    denials('those of a user and an id', 'denial_by_id', { user_id: BUSY, id: 'm17' }),
    denials('those of an id', 'denial_by_id', { id: 'm17' }),
    denials('the newest of all', 'denial_by_time', {}),
    denials('deep in all', 'denial_by_time', {}, oldDenial(105)),
    denials('those of a sender', 'denial_by_time', { sender: SENDER, from: days(105), to: days(104) }),
    denials('a day of all', 'denial_by_time', { from: days(105), to: days(104) }),
    oldDenials('a denial', 'denial_pkey', on => findDenial(on, oldDenial(1))),
    oldDenials('old denials', 'denial_by_time', on => findOldDenials(on, Number.NEGATIVE_INFINITY, NOW, 100)),
    oldDenials('old denials, on from a time', 'denial_by_time', on => findOldDenials(on, days(105), NOW, 100)),
    oldDenials('denials to remove', 'denial_pkey', on =>
      removeDenials(on, [{ ...oldDenial(1), shard: shardOf(BUSY) }]),
    ),
  ],
)

test('plans that were made when the table was empty find denials by the same indexes', async () => {
  const indexes = new Map([
    ['find-denial', 'denial_pkey'],
    ['find-old-denials', 'denial_by_time'],
    ['remove-denials', 'denial_pkey'],
  ])
  const statements = PREPARED.filter(statement => !isSetting(statement))
  expect(statements.map(({ name }) => name)).toEqual([...indexes.keys()])
  for (const statement of statements) {
    const plan = await earlyPlanOf(statement)
    expect(accessesOf(plan, ['denial'])).toEqual([indexes.get(statement.name ?? '')])
    expect(blocksOf(plan), JSON.stringify(plan)).toBeLessThan(250)
  }
})

const key = (age: number): ReservationKey => ({ at: days(age), user_id: BUSY, id: 'm1' })
const page = (
  ...[what, index, filter, after, blocks = 200]: [string, string, ReservationFilter, ReservationKey?, number?]
): PlanCase => [
  `reservations: ${what}`,
  on => listReservations(on, filter, { after, size: 20, now: NOW }),
  { blocks, indexes: { reservation: [index] } },
]
const USER_INDEX = 'reservation_of_user'
const TIME_INDEX = 'reservation_by_time'

const senderKey: SenderKey = {
  shard: shardOf(BUSY_OF_SENDER),
  expires_at: NOW + 500_000,
  last: { user_id: BUSY_OF_SENDER, id: 'm3' },
}
/** A page of open ones reads each shard's first entry, in the statement for all of them. */
const ofSender = (what: string, more: Partial<SenderFilter> = {}, after?: SenderKey): PlanCase => [
  `open reservations of a sender: ${what}`,
  on => listOfSender(on, { sender: SENDER, state: 'reserved', users: 'all', ...more }, { after, size: 20, now: NOW }),
  { blocks: 400, indexes: { reservation: ['reservation_expiry'] } },
]
const due = (what: string, after: number): PlanCase => [
  `the sweeper's scan ${what}`,
  on => findDue(on, new Map(SHARDS.map(shard => [shard, after])), NOW),
  // A page of each shard, and one row more to know that it ends there.
  { rows: SHARDS.length * (DUE_PAGE + 1), indexes: { reservation: ['reservation_expiry'] } },
]

testPlans(
  db,
  ['reservation', 'reservation_action', 'value_counter'],
  [
    page('the newest of a user with most of them', USER_INDEX, { user_id: BUSY }),
    page('deep in them', USER_INDEX, { user_id: BUSY }, key(106)),
    page('a few days of them', USER_INDEX, { user_id: BUSY, from: days(105), to: days(104) }),
    page('those of a quota and a state in a few days', USER_INDEX, {
      ...{ user_id: BUSY, quota_id: 64, state: 'committed' },
      ...{ from: days(105), to: days(101) },
    }),
    page('those of a user with few', USER_INDEX, { user_id: SMALL }),
    page('the newest of all', TIME_INDEX, {}),
    page('deep in all', TIME_INDEX, {}, key(105)),
    page('those of a rare country, type and sender in two hours', TIME_INDEX, {
      ...{ country: 'NG', message_type: 'otp', sender: 'none' },
      ...{ from: days(105), to: days(104.9) },
    }),
    page(
      'those of a rare country, of which none is found',
      TIME_INDEX,
      { country: 'NG', to: days(40) },
      undefined,
      10_000,
    ),
    page('a country of a user', USER_INDEX, { user_id: BUSY, country: 'NG' }, key(106), 400),
    page('a day of all', TIME_INDEX, { from: days(105), to: days(104) }),
    ofSender('all'),
    ofSender('behind a reservation', {}, senderKey),
    ofSender('behind a time', {}, { ...senderKey, last: null }),
    ofSender('of one user', { users: new Set([BUSY_OF_SENDER]) }),
    ofSender('old ones', { before: NOW - 60_000 }),
    [
      'settled reservations of a sender',
      async on => {
        const filter: SenderFilter = { sender: SENDER, state: 'refunded', users: 'all' }
        const found = await listOfSender(on, filter, { size: 20, now: NOW, maxScanned: 1_000 })
        expect(found).toMatchObject({ items: [], next: { last: null } })
      },
      { rows: 1_100 },
    ],
    due('for what has come due in a second', NOW - 1_000),
    due('back two minutes', NOW - 120_000),
    due('from the beginning', Number.NEGATIVE_INFINITY),
    ...[Number.NEGATIVE_INFINITY, NOW - DAY_MS].map(
      (after): PlanCase => [
        `the shards whose reservations the retention reads after ${after}`,
        on =>
          findShardsWith(
            on,
            expiriesAfter(() => after, NOW),
          ),
        { rows: SHARDS.length, indexes: { reservation: ['reservation_expiry'] } },
      ],
    ),
    [
      'the shards with counters of ended windows',
      on => findEndedCounters(on, NOW),
      { rows: SHARDS.length, indexes: { value_counter: ['value_counter_by_end'] } },
    ],
    [
      'a page of the retention of reservations',
      on => removeSettled(on, shardFrom(5), Number.NEGATIVE_INFINITY, NOW),
      {
        indexes: {
          reservation: ['reservation_expiry', 'reservation_pkey', 'reservation_pkey'],
          reservation_action: ['reservation_action_pkey'],
          value_counter: ['value_counter_pkey'],
        },
      },
    ],
  ],
)
