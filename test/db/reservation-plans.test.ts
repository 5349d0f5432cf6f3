/** A page of reservations costs the same however many there are, for any user and any age. */
import { expect, test } from 'vitest'
import { blocksOf, nodesOf, planOf, type Statement } from '../../bench/explain.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { IN_INDEX_ORDER } from '../../src/db/connection/transaction-settings.ts'
import { listReservations, type ReservationFilter, type ReservationKey } from '../../src/db/reservations/lists.ts'
import { shardOf } from '../../src/domain/shard.ts'
import { DAY_MS } from '../../src/domain/time.ts'
import { databaseOfOnePostgres } from '../support/database.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
/** This user has most reservations of a week, and they are old. */
const BUSY = 1
const SMALL = 2
/** This user's are spread over so long that the busy user's look few in any stretch of time. */
const STEADY = 30

const { db } = await databaseOfOnePostgres()
for (const [user, count, newest, everySeconds] of [
  [BUSY, 20_000, NOW - 100 * DAY_MS, 30],
  [SMALL, 50, NOW - 200 * DAY_MS, 10],
  [STEADY, 25_000, NOW, 691],
  ...Array.from({ length: 20 }, (_, index) => [3 + index, 300, NOW, 30]),
] as [number, number, number, number][]) {
  await db.query({
    text: sql`insert into reservation
           select $1, $2, 'm' || n, 0, 'consume', 1, null, null, false, false, 1, 1, 0, 0, 'release', false,
             array[64, 0, 0, 1, 0, 1], at, at, at
           from generate_series(1, $3::int) n, lateral (select $4::timestamptz - n * $5::int * interval '1 s' as at) t`,
    values: [shardOf(user), user, count, new Date(newest).toISOString(), everySeconds],
  })
}

/** Every statement that a page sends. */
async function statementsOf(filter: ReservationFilter, after?: ReservationKey): Promise<Statement[]> {
  const sent: Statement[] = []
  const recording: typeof db = {
    ...db,
    transaction: (work, mode) =>
      db.transaction(
        tx =>
          work({
            isCluster: false,
            query(statement) {
              if (statement.text !== IN_INDEX_ORDER) sent.push(statement)
              return tx.query(statement)
            },
          }),
        mode,
      ),
  }
  await listReservations(recording, filter, after, 20)
  return sent
}

const old = (days: number, user_id: number) => ({ at: NOW - days * DAY_MS, user_id, id: 'm1' })
/** The last number: blocks that it may read. */
const CASES: [string, ReservationFilter, ReservationKey | undefined, string, number?][] = [
  ['the newest of a user with most of them', { user_id: BUSY }, undefined, 'reservation_of_user'],
  ['deep in them', { user_id: BUSY }, old(106, BUSY), 'reservation_of_user'],
  [
    'a few days of them',
    { user_id: BUSY, from: NOW - 105 * DAY_MS, to: NOW - 104 * DAY_MS },
    undefined,
    'reservation_of_user',
  ],
  [
    'those of a quota and a state in a few days',
    { user_id: BUSY, quota_id: 64, state: 'committed', from: NOW - 105 * DAY_MS, to: NOW - 101 * DAY_MS },
    undefined,
    'reservation_of_user',
  ],
  ['those of a user with few', { user_id: SMALL }, undefined, 'reservation_of_user'],
  ['the newest of all', {}, undefined, 'reservation_by_time'],
  ['deep in all', {}, old(105, BUSY), 'reservation_by_time'],
  [
    'those of a rare country, type and sender in two hours',
    { country: 'NG', message_type: 'otp', sender: 'none', from: NOW - 105 * DAY_MS, to: NOW - 104.9 * DAY_MS },
    undefined,
    'reservation_by_time',
  ],
  ['those of a rare country, of which none is found', { country: 'NG' }, undefined, 'reservation_by_time', 10_000],
  ['a country of a user', { user_id: BUSY, country: 'NG' }, old(106, BUSY), 'reservation_of_user'],
  ['a day of all', { from: NOW - 105 * DAY_MS, to: NOW - 104 * DAY_MS }, undefined, 'reservation_by_time'],
]

// As the planner sees them before statistics were gathered, and after.
test.each(['before', 'after'])('each page uses the index that is made for it, %s the first analyze', async when => {
  if (when === 'after') await db.query({ text: sql`analyze reservation` })
  for (const [name, filter, after, index, maxBlocks = 200] of CASES) {
    for (const statement of await statementsOf(filter, after)) {
      const plan = await db.transaction(async tx => {
        await tx.query({ text: IN_INDEX_ORDER })
        return planOf(tx, statement)
      })
      const used = nodesOf(plan)
        .flatMap(node => node['Index Name'] ?? [])
        // Senders are looked up by key.
        .filter(name => !name.startsWith('principal_'))
      expect(used, `${name}: ${JSON.stringify(plan)}`).toEqual([index])
      expect(blocksOf(plan), name).toBeLessThan(maxBlocks)
    }
  }
})
