/** Pages of the outbox, compared with all its events in one list, and what they read. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nodesOf, planOf, type Statement } from '../../bench/explain.ts'
import type { Database, Queryable, Transaction } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { BY_KEYS_IN_ORDER } from '../../src/db/connection/transaction-settings.ts'
import type { EventFilter, Positions } from '../../src/db/outbox/outbox.ts'
import { firstTimeAfter, readHeads, readOutboxPage } from '../../src/db/outbox/pages.ts'
import { SHARDS, shardOf } from '../../src/domain/basics/shard.ts'
import { databaseOfOnePostgres, freshDatabase } from '../support/database.ts'
import { runs } from '../support/runs.ts'

const START = Date.parse('2026-03-15T12:00:00.000Z')
const BEGINNING = SHARDS.map(() => 0)

interface Row {
  shard: number
  number: number
  user_id: number | null
  type: string
  at: number
}

/** Empties the outbox and writes these events, in the order given; each shard's number `n` begins behind `pruned`. */
async function write(db: Database, rows: readonly Omit<Row, 'number'>[], pruned = 0): Promise<Row[]> {
  const ends = SHARDS.map(() => pruned)
  const numbered = rows.map(row => {
    const number = (ends[row.shard] ?? 0) + 1
    ends[row.shard] = number
    return { ...row, number }
  })
  await db.query({ text: sql`truncate event` })
  await db.query({
    text: sql`update shard_head h set last_event = e.last, pruned = $2
           from unnest($1::bigint[]) with ordinality e (last, place) where h.shard = e.place - 1`,
    values: [ends, pruned],
  })
  await db.query({
    text: sql`insert into event (shard, number, user_id, sequence, type, at, data)
           select shard, number, user_id, number, type, to_timestamp(at / 1000.0), '{}'
           from unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[])
             u (shard, number, user_id, type, at)`,
    values: [
      numbered.map(row => row.shard),
      numbered.map(row => row.number),
      numbered.map(row => row.user_id),
      numbered.map(row => row.type),
      numbered.map(row => row.at),
    ],
  })
  return numbered
}

const read = (db: Database, after: Positions, filter: EventFilter, limit: number) =>
  db.transaction(tx => readOutboxPage(tx, after, filter, limit), 'keyed snapshot')

/** Reads to the end, and checks on the way that each position names the time of its event. */
async function walk(db: Database, filter: EventFilter, limit: number) {
  const pages: { shard: number; number: number; at: number }[][] = []
  for (let after: Positions = BEGINNING; ; ) {
    const { events, reached, reachedAt, heads } = await read(db, after, filter, limit)
    expect(events.length).toBeLessThanOrEqual(limit)
    const seen = await db.transaction(tx => readHeads(tx, reached), 'keyed snapshot')
    expect(reachedAt).toEqual(seen.map(({ passed_at }) => passed_at))
    pages.push(events)
    if (heads.every(({ shard, end }) => reached[shard] === end)) return pages
    expect(reached).not.toEqual(after)
    after = reached
  }
}

const key = ({ shard, number }: { shard: number; number: number }) => `${shard}/${number}`

describe('pages list every event once, oldest first', async () => {
  const { db } = await freshDatabase()
  const event = fc.record({
    shard: fc.oneof(fc.constant(5), fc.constantFrom(5, 9, 11, 63)),
    user_id: fc.constantFrom(null, 4, 7),
    type: fc.constantFrom('quota.created', 'quota.updated'),
    step: fc.integer({ min: 0, max: 2 }),
  })

  test('of all users, in any order of shards', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { maxLength: 120 }),
        fc.constantFrom(1, 2, 7, 50, 200),
        fc.constantFrom(0, 3),
        async (made, limit, pruned) => {
          let at = START
          const rows = await write(
            db,
            made.map(({ step, ...row }) => {
              at += step
              return { ...row, at }
            }),
            pruned,
          )
          const found = (await walk(db, {}, limit)).flat()
          expect(found.map(({ at }) => at)).toEqual(rows.map(({ at }) => at))
          expect(found.map(key).toSorted()).toEqual(rows.map(key).toSorted())
          const some = (await walk(db, { types: ['quota.updated'] }, limit)).flat()
          const updated = rows.filter(({ type }) => type === 'quota.updated')
          expect(some.map(key).toSorted()).toEqual(updated.map(key).toSorted())
        },
      ),
      { numRuns: runs(30) },
    )
  })

  test('of one user', async () => {
    const rows = await write(
      db,
      Array.from({ length: 300 }, (_, n) => ({
        shard: n % 64 === 3 ? 3 : shardOf(7),
        user_id: n % 3 === 0 ? 7 : 8,
        type: 'quota.created',
        at: START + n,
      })),
    )
    const own = rows.filter(({ shard, user_id }) => user_id === 7 && shard === shardOf(7))
    expect((await walk(db, { userId: 7 }, 20)).flat().map(key)).toEqual(own.map(key))
  })

  test('where clocks of processes differ, the order of numbers counts within a shard', async () => {
    const at = (shard: number, at: number) => ({ shard, user_id: null, type: 'quota.created', at })
    const rows = await write(db, [at(5, START + 300), at(5, START), at(9, START + 200), at(9, START + 400)])
    const [first, second, third, fourth] = rows.map(key)
    expect((await walk(db, {}, 1)).flat().map(key)).toEqual([third, first, second, fourth])
  })
})

describe('a page reads what it shows', async () => {
  const { db } = await databaseOfOnePostgres()
  const PER_SHARD = 2_000
  // The tables have the statistics of a new database, and the plans are made while they are empty.
  await db.query({ text: sql`analyze event, shard_head` })
  await read(db, BEGINNING, {}, 100)
  await write(
    db,
    Array.from({ length: 64 * PER_SHARD }, (_, n) => ({
      shard: n % 64,
      user_id: n % 64 === shardOf(1_000) ? n : null,
      type: 'quota.created',
      at: START + n,
    })),
  )

  /** How many events each statement of `work` read, by index. */
  async function accessesOf(work: (db: Database) => Promise<unknown>): Promise<string[][]> {
    const sent: Statement[] = []
    const recording = (tx: Queryable): Transaction => ({
      isCluster: false,
      query(statement) {
        sent.push(statement)
        return tx.query(statement)
      },
    })
    await work({ ...db, transaction: inside => db.transaction(tx => inside(recording(tx)), 'keyed snapshot') })
    return db.transaction(async tx => {
      await tx.query({ text: BY_KEYS_IN_ORDER })
      const accesses: string[][] = []
      for (const { text, values = [] } of sent) {
        const nodes = nodesOf(await planOf(tx, { text, values }))
        const events = nodes.filter(node => node['Relation Name'] === 'event')
        accesses.push(events.map(node => `${node['Index Name']} ${Math.round(node['Actual Rows'] * loopsOf(node))}`))
      }
      return accesses
    })
  }
  const loopsOf = (node: object) => Number('Actual Loops' in node ? node['Actual Loops'] : 1)

  const halfway = SHARDS.map(() => PER_SHARD / 2)

  test.each([false, true])('with statistics: %s', async analyzed => {
    if (analyzed) await db.query({ text: sql`analyze event, shard_head` })
    const [keys = [], payloads = [], ...more] = await accessesOf(on => read(on, halfway, {}, 100))
    expect(more).toEqual([])
    expect(payloads).toEqual(['event_pkey 100'])
    // A share of each shard, and the 64 events at the positions.
    expect(keys.map(access => access.split(' ')[0])).toEqual(['event_pkey', 'event_pkey'])
    expect(keys.reduce((sum, access) => sum + Number(access.split(' ')[1]), 0)).toBeLessThan(64 * 9)
  })

  test('that has nothing new reads the events at its positions only', async () => {
    const ends = SHARDS.map(() => PER_SHARD)
    expect(await accessesOf(on => read(on, ends, {}, 100))).toEqual([['event_pkey 64', 'event_pkey 0']])
  })

  test('whose filter selects nothing scans a bounded part of each shard', async () => {
    const page = await read(db, BEGINNING, { types: ['quota.deleted'] }, 100)
    expect(page.events).toEqual([])
    expect(page.reached).toEqual(SHARDS.map(() => 1_000))
  })
})

test('the first time behind positions', async () => {
  const { db } = await freshDatabase()
  await write(db, [
    { shard: 5, user_id: null, type: 'quota.created', at: START },
    { shard: 9, user_id: null, type: 'quota.created', at: START + 1 },
  ])
  const after = (positions: Positions) => db.transaction(tx => firstTimeAfter(tx, positions), 'keyed snapshot')
  expect(await after(BEGINNING)).toBe(START)
  expect(await after(BEGINNING.with(5, 1))).toBe(START + 1)
  expect(await after(BEGINNING.with(5, 1).with(9, 1))).toBeNull()
})
