/** The totals and lists of all users are made from the usage that a database has when it is upgraded. */
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { migrate } from '../../src/db/schema/migrate.ts'
import { sumByKey, sumTotals } from '../../src/db/usage/of-all.ts'
import { rollUpUsage } from '../../src/db/usage/rollup.ts'
import { topUsers } from '../../src/db/usage/top-users.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { emptyDatabase } from '../support/database.ts'
import { neighbours } from '../support/engine.ts'

const OWN = new URL('../../migrations/', import.meta.url)
const directory = await mkdtemp(join(tmpdir(), 'sms-quota-usage-'))
afterAll(() => rm(directory, { recursive: true }))
const { db, url } = await emptyDatabase()

test('an upgrade keeps all usage in all reports', async () => {
  const before = (await readdir(OWN)).filter(name => name.endsWith('.sql') && name < '0007')
  for (const name of before) await copyFile(new URL(name, OWN), join(directory, name))
  await migrate({ url, directory })
  const from = Date.parse('2026-03-10T00:00:00Z')
  const users = neighbours(150)
  const shard = shardOf(users[0] ?? 0)
  await db.query({
    text: sql`insert into usage select $1::smallint, u, '2026-03-10'::timestamptz + q * interval '6 hours', nullif(u % 3, 0),
        (array['DE', 'FR', null])[1 + u % 3], 'otp', u % 100, 1, 1, 0, 5, 1
      from unnest($2::bigint[]) u, generate_series(0, 7) q`,
    values: [shard, users],
  })
  await db.query({
    text: sql`insert into usage_pending values ($1, 1, '2026-03-10', array[$2::bigint, $2], '{64,null}', '{DE,DE}', '{null,null}',
      '{0,2}', '{1000,3}', '{1,1}')`,
    values: [shard, users[7] ?? 0],
  })
  await migrate({ url })

  const period = { starts: [from, from + DAY_MS], to: from + 2 * DAY_MS }
  for (const isRolledUp of [false, true]) {
    if (isRolledUp) await rollUpUsage(db, shard, [])
    const byUser = (await sumByKey(db, period, 'user', 1_000, 100_000)) ?? []
    const sum = (name: 'committed' | 'denied' | 'unfunded') => byUser.reduce((total, row) => total + row[name], 0)
    for (const group of [undefined, 'country', 'message_type'] as const) {
      const totals = await sumTotals(db, period, group, 100)
      for (const name of ['committed', 'denied', 'unfunded'] as const) {
        expect(totals.reduce((total, row) => total + row[name], 0)).toBe(sum(name))
      }
    }
    const { users: top, unlistedUpTo } = await topUsers(db, from, from + 2 * DAY_MS, 5)
    const perUser = Map.groupBy(byUser, row => row.key)
    const most = [...perUser.values()].map(rows => rows.reduce((total, row) => total + row.committed, 0))
    expect(top.map(({ committed }) => committed)).toEqual(most.toSorted((a, b) => b - a).slice(0, 5))
    expect(unlistedUpTo).toBeLessThanOrEqual(top[4]?.committed ?? 0)
  }
})
