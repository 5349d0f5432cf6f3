/** A page of a sender's open reservations costs the same however many users there are, and however many are settled. */
import { expect, test } from 'vitest'
import { blocksOf, nodesOf, plansOf, transactionOf } from '../../bench/explain.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { listOfSender, type SenderFilter, type SenderKey } from '../../src/db/reservations/lists-of-senders.ts'
import { shardOf } from '../../src/domain/shard.ts'
import { DAY_MS } from '../../src/domain/time.ts'
import { databaseOfOnePostgres } from '../support/database.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const BUSY = 1
const SENDER = 'gateway'

const { db } = await databaseOfOnePostgres()
await db.query({ text: sql`insert into principal (subject) values ('other'), ($1)`, values: [SENDER] })

/** Reservations of a user, made at equal distances up to a time, of which the newest ones are open. */
async function load(user: number, count: number, newest: number, everySeconds: number, open: number): Promise<void> {
  await db.query({
    text: sql`insert into reservation (shard, user_id, id, op, asked, allow_partial, force, units, committed, released, refunded,
             on_expiry, expired, draws, created_at, expires_at, changed_at, made_by)
           select $1, $2, 'm' || n, 'reserve', 1, false, false, 1, case when n <= $6::int then 0 else 1 end, 0, 0, 'release', false, '{}',
             at, at + interval '10 minutes', at, (select id from principal where subject = $7)
           from generate_series(1, $3::int) n, lateral (select $4::timestamptz - n * $5::int * interval '1 s' as at) t`,
    values: [shardOf(user), user, count, new Date(newest).toISOString(), everySeconds, open, SENDER],
  })
}
await load(BUSY, 30_000, NOW, 100, 3)
// Users with nothing open, in each of many places of the index.
for (let user = 2; user < 60; user += 1) await load(user, 300, NOW - DAY_MS, 200, 0)
await load(60, 10, NOW, 1, 2)
await db.query({
  text: sql`update sweeper_watermark set closed_until = $1`,
  values: [new Date(NOW - 120_000).toISOString()],
})

const of = (more: Partial<SenderFilter> = {}): SenderFilter => ({
  sender: SENDER,
  state: 'reserved',
  users: 'all',
  ...more,
})
const key: SenderKey = { shard: shardOf(BUSY), expires_at: NOW + 500_000, last: { user_id: BUSY, id: 'm3' } }
const CASES: [string, SenderFilter, SenderKey | undefined][] = [
  ['all', of(), undefined],
  ['behind a reservation', of(), key],
  ['behind a time', of(), { ...key, last: null }],
  ['of one user', of({ users: new Set([BUSY]) }), undefined],
  ['old ones', of({ before: NOW - 60_000 }), undefined],
]

// As the planner sees them before statistics were gathered, and after.
test.each(['before', 'after'])(
  'each page reads what has not expired, by its index, %s the first analyze',
  async when => {
    if (when === 'after') await db.query({ text: sql`analyze` })
    for (const [name, filter, after] of CASES) {
      const statements = await transactionOf(db, async on => {
        await listOfSender(on, filter, after, { size: 20, now: NOW })
      })
      for (const plan of await plansOf(db, statements)) {
        const nodes = nodesOf(plan)
        const used = nodes.filter(node => node['Relation Name'] === 'reservation').map(node => node['Index Name'])
        expect(
          used.filter(index => index !== 'reservation_expiry'),
          `${name}: ${JSON.stringify(plan)}`,
        ).toEqual([])
        // Each shard's first entry, in the statement for all of them.
        expect(blocksOf(plan), name).toBeLessThan(400)
      }
    }
  },
)

test('a page of settled ones reads a bounded number', async () => {
  const filter = of({ state: 'refunded' })
  const statements = await transactionOf(db, async on => {
    const page = await listOfSender(on, filter, undefined, { size: 20, now: NOW, maxScanned: 1_000 })
    expect(page).toMatchObject({ reservations: [], next: { last: null } })
  })
  for (const plan of await plansOf(db, statements)) {
    const read = nodesOf(plan).filter(node => node['Relation Name'] === 'reservation')
    expect(Math.max(0, ...read.map(node => node['Actual Rows']))).toBeLessThan(1_100)
  }
})
