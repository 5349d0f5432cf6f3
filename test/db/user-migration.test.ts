import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { migrate } from '../../src/db/schema/migrate.ts'
import { emptyDatabase } from '../support/database.ts'

const OWN = join(import.meta.dirname, '../../migrations')

test('a database that has data gets an account for everyone with usage or reservations', async () => {
  const { db, url } = await emptyDatabase()
  const before = await mkdtemp(join(tmpdir(), 'sms-quota-migrations-'))
  try {
    const earlier = (await readdir(OWN)).filter(name => name.endsWith('.sql') && name < '0010')
    for (const name of earlier) await cp(join(OWN, name), join(before, name))
    await migrate({ url, directory: before })
  } finally {
    await rm(before, { recursive: true })
  }
  await db.query({ text: sql`insert into account (shard, user_id, live) values (1, 10, 3)` })
  await db.query({
    text: sql`insert into usage select n % 3, n, to_timestamp(b * 900), null, null, null, 1, 1, 0, 0, 0, 0
           from generate_series(5, 10) n, generate_series(1, 4) b`,
  })
  await db.query({
    text: sql`insert into reservation
           select n % 3, n, 'm' || b, 0, 'consume', 1, null, null, false, false, 1, 1, 0, 0, 'release', false, '{}',
             to_timestamp(b), to_timestamp(b), to_timestamp(b), null
           from generate_series(8, 12) n, generate_series(1, 4) b`,
  })
  await migrate({ url })
  const accounts = await db.query({ text: sql`select shard, user_id, live from account order by user_id` })
  const expected = [5, 6, 7, 8, 9, 10, 11, 12].map(user_id => ({
    shard: user_id % 3,
    user_id,
    live: user_id === 10 ? 3 : 0,
  }))
  expect(accounts).toEqual(expected)
})
