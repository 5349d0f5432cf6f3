import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { emptyDatabase } from '../support/database.ts'
import { rawSql } from '../support/sql.ts'

const FOLDER = new URL('../../migrations/', import.meta.url)
const { db } = await emptyDatabase()

test('rows from before are not known to be forced, and later ones are not, unless they are marked', async () => {
  const names = (await readdir(FOLDER)).filter(name => name.endsWith('.sql')).sort()
  const run = async (name: string) => db.query({ text: rawSql`${await readFile(new URL(name, FOLDER), 'utf8')}` })
  const insert = (id: string) =>
    db.query({
      text: sql`insert into reservation (shard, user_id, id, op, asked, allow_partial, force, units, committed, released,
          refunded, on_expiry, expired, draws, created_at, expires_at, changed_at)
        values (4, 7, $1, 'consume', 3, false, false, 3, 3, 0, 0, 'release', false, '{1732,0,0,0,0,3}', now(), now(), now())`,
      values: [id],
    })

  for (const name of names.filter(name => name < '0011')) await run(name)
  await db.query({
    text: sql`
      insert into account (shard, user_id, live) values (4, 7, 1);
      insert into quota (shard, id, user_id, kind, "limit", time_zone, rollover_limit, overage_limit, priority, starts_at,
        alert_at, enabled, metadata, window_start, created_at, created_by, updated_at, updated_by, used)
      values (4, 1732, 7, 'grant', 5, 'UTC', 0, 0, 1, now(), '{}', true, '{}', now(), now(), '', now(), '', 6);
      insert into archive (shard, quota_id, window_no, used) values (4, 1732, 0, 0)`,
  })
  await insert('before')
  for (const name of names.filter(name => name > '0011')) await run(name)
  await insert('after')

  expect(await db.query({ text: sql`select id, retaken from reservation order by id` })).toEqual([
    { id: 'after', retaken: false },
    { id: 'before', retaken: null },
  ])
  expect(await db.query({ text: sql`select forced from archive` })).toEqual([{ forced: null }])
  const { proofs, differences } = await verify(db, { userId: 7 })
  expect(differences.filter(({ proof }) => proof !== 'usage')).toEqual([])
  expect(proofs.get('limits')).toEqual({ checked: 1, notProvable: 1 })
  expect(proofs.get('live')).toEqual({ checked: 1, notProvable: 1 })
})
