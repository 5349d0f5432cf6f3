/** Lists of the top users: what the rollup keeps of them, and what a report makes of that. */
import { beforeEach, describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { rollUpUsage, TOP_LIST } from '../../src/db/usage/rollup.ts'
import type { UsageFilter } from '../../src/db/usage/sums.ts'
import { topUsers } from '../../src/db/usage/top-users.ts'
import { type Shard, shardOf } from '../../src/domain/basics/shard.ts'
import { DAY_MS, type EpochMs } from '../../src/domain/time/time.ts'
import { freshDatabase } from '../support/database.ts'
import { neighbours, someone } from '../support/engine.ts'
import { seededRandom } from '../support/ledger.ts'

const { db } = await freshDatabase()
const DAY = Date.parse('2026-03-10T00:00:00Z')
beforeEach(() => db.query({ text: sql`truncate usage, usage_pending, usage_top, usage_total` }))

/** Writes a batch, as the engine does, and rolls it up unless it is to stay pending. */
async function commit(
  at: EpochMs,
  units: ReadonlyMap<number, number>,
  isRolledUp = true,
  { country = null, message_type = null }: { country?: string | null; message_type?: string | null } = {},
): Promise<void> {
  for (const [shard, entries] of Map.groupBy(units, ([user]) => shardOf(user))) {
    await db.query({
      text: sql`insert into usage_pending select $1::smallint, nextval('usage_number'), $2::timestamptz, array_agg(u), array_agg(1::bigint),
          array_agg($5::text), array_agg($6::text), array_agg(0::smallint), array_agg(n), array_agg(1)
        from unnest($3::bigint[], $4::bigint[]) k (u, n)`,
      values: [
        ...[shard, new Date(at).toISOString(), entries.map(([user]) => user), entries.map(([, n]) => n)],
        ...[country, message_type],
      ],
    })
    if (isRolledUp) await rollUpUsage(db, shard, [])
  }
}

/** What each user committed, added up from the batches. */
type Sums = Map<number, number>
const add = (sums: Sums, more: Sums) => {
  for (const [user, units] of more) sums.set(user, (sums.get(user) ?? 0) + units)
}
const ranked = (sums: Sums) => [...sums].filter(([, units]) => units > 0).sort(([a, x], [b, y]) => y - x || a - b)
const shown = (users: readonly { user_id: number; committed: number }[]) =>
  users.map(({ user_id, committed }) => [user_id, committed])

describe('a list of a shard and day', () => {
  test('bounds what every user can have committed, however many there are', async () => {
    const users = neighbours(400)
    const shard: Shard = shardOf(users[0] ?? 0)
    const random = seededRandom(7)
    const sums: Sums = new Map()
    for (let batch = 0; batch < 40; batch++) {
      const units: Sums = new Map()
      // Few users commit much, and many little.
      for (let n = 0; n < 60; n++)
        add(units, new Map([[users[Math.floor(400 * random() ** 3)] ?? 0, 1 + Math.floor(random() * 9)]]))
      add(sums, units)
      await commit(DAY + batch * 900_000, units)
    }
    const [list] = await db.query<{ users: number[]; units: number[]; missed: number }>({
      text: sql`select users, units, missed from usage_top where shard = $1`,
      values: [shard],
    })
    if (list === undefined) throw new Error('there is no list')
    expect(list.users).toHaveLength(TOP_LIST)
    const total = [...sums.values()].reduce((sum, units) => sum + units, 0)
    // A Space-Saving summary of that many users misses at most this share.
    expect(list.missed).toBeLessThanOrEqual(total / TOP_LIST)
    for (const [user, units] of sums) {
      const place = list.users.indexOf(user)
      const most = place === -1 ? list.missed : (list.units[place] ?? 0)
      expect(most).toBeGreaterThanOrEqual(units)
      if (place !== -1) expect(most).toBeLessThanOrEqual(units + list.missed)
    }
    const { users: top, unlistedUpTo } = await topUsers(db, DAY, DAY + DAY_MS, 10)
    expect(shown(top)).toEqual(ranked(sums).slice(0, 10))
    expect(unlistedUpTo).toBeLessThanOrEqual(top.at(-1)?.committed ?? 0)
  })

  test('is exact while no more users were active than it holds', async () => {
    const users = neighbours(TOP_LIST)
    for (let batch = 0; batch < 3; batch++)
      await commit(DAY, new Map(users.map((user, place) => [user, place + batch])))
    const lists = await db.query({ text: sql`select missed, units from usage_top` })
    expect(lists).toEqual([{ missed: 0, units: users.map((_, place) => 3 * place + 3).reverse() }])
  })
})

describe('the top users', () => {
  test('of any period are exact, or say by how much they may be wrong', async () => {
    const random = seededRandom(11)
    const users = [...neighbours(200), ...Array.from({ length: 50 }, (_, n) => someone(n % 3))]
    const batches: { at: EpochMs; units: Sums }[] = []
    for (let n = 0; n < 60; n++) {
      const at = DAY + Math.floor(random() * 4 * 96) * 900_000
      const units: Sums = new Map()
      for (let k = 0; k < 40; k++)
        add(units, new Map([[users[Math.floor(250 * random())] ?? 0, Math.floor(random() * 5)]]))
      batches.push({ at, units })
      await commit(at, units, random() < 0.8)
    }
    let complete = 0
    for (let n = 0; n < 30; n++) {
      const from = DAY + Math.floor(random() * 300) * 900_000
      const to = from + Math.ceil(random() * 96) * 900_000
      const limit = 1 + Math.floor(random() * 20)
      const sums: Sums = new Map()
      for (const { at, units } of batches) if (at >= from && at < to) add(sums, units)
      const { users: top, unlistedUpTo } = await topUsers(db, from, to, limit)
      for (const { user_id, committed } of top) expect(committed).toBe(sums.get(user_id))
      const listed = new Set(top.map(({ user_id }) => user_id))
      for (const [user, units] of sums) if (!listed.has(user)) expect(units).toBeLessThanOrEqual(unlistedUpTo)
      if (unlistedUpTo > (top.length < limit ? 0 : (top.at(-1)?.committed ?? 0))) continue
      complete += 1
      expect(top.map(({ committed }) => committed)).toEqual(
        ranked(sums)
          .slice(0, limit)
          .map(([, units]) => units),
      )
    }
    expect(complete).toBeGreaterThan(5)
  })

  test('of a destination are exact, too, or say by how much they may be wrong', async () => {
    const random = seededRandom(13)
    const users = neighbours(300)
    const batches: { at: EpochMs; units: Sums; to: UsageFilter }[] = []
    for (let n = 0; n < 60; n++) {
      const at = DAY + Math.floor(random() * 2 * 96) * 900_000
      const to: UsageFilter = { country: random() < 0.9 ? 'US' : 'NG', message_type: random() < 0.5 ? 'otp' : 'promo' }
      const units: Sums = new Map()
      for (let k = 0; k < 40; k++)
        add(units, new Map([[users[Math.floor(300 * random() ** 2)] ?? 0, Math.floor(random() * 5)]]))
      batches.push({ at, units, to })
      await commit(at, units, random() < 0.8, to)
    }
    const filters: UsageFilter[] = [
      { country: 'US' },
      { country: 'NG' },
      { message_type: 'otp' },
      { country: 'NG', message_type: 'promo' },
    ]
    const complete = { all: 0, bounded: 0 }
    for (let n = 0; n < 40; n++) {
      const from = DAY + Math.floor(random() * 96) * 900_000
      const to = from + Math.ceil(random() * 96) * 900_000
      const limit = 1 + Math.floor(random() * 20)
      const filter = filters[n % filters.length] ?? {}
      const sums: Sums = new Map()
      for (const batch of batches) {
        const { country = batch.to.country, message_type = batch.to.message_type } = filter
        const isSelected = country === batch.to.country && message_type === batch.to.message_type
        if (isSelected && batch.at >= from && batch.at < to) add(sums, batch.units)
      }
      for (const [bound, maxRead] of [
        ['all', 10_000],
        ['bounded', 0],
      ] as const) {
        const { users: top, unlistedUpTo } = await topUsers(db, from, to, limit, filter, maxRead)
        for (const { user_id, committed } of top) expect(committed).toBe(sums.get(user_id))
        const listed = new Set(top.map(({ user_id }) => user_id))
        for (const [user, units] of sums) if (!listed.has(user)) expect(units).toBeLessThanOrEqual(unlistedUpTo)
        if (unlistedUpTo > (top.length < limit ? 0 : (top.at(-1)?.committed ?? 0))) continue
        complete[bound] += 1
        const expected = ranked(sums).slice(0, limit)
        expect(top.map(({ committed }) => committed)).toEqual(expected.map(([, units]) => units))
      }
    }
    expect(complete.all).toBe(40)
    expect(complete.bounded).toBeGreaterThan(5)
  })

  test('lack users who only tried, and are none where nothing was sent', async () => {
    const user = someone()
    await commit(DAY, new Map([[user, 0]]))
    expect(await topUsers(db, DAY, DAY + DAY_MS, 10)).toEqual({ users: [], unlistedUpTo: 0 })
    expect(await topUsers(db, DAY + DAY_MS, DAY + 2 * DAY_MS, 10)).toEqual({ users: [], unlistedUpTo: 0 })
  })
})
