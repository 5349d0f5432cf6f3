/** A database with quotas gets the marks that a service writes from then on. */
import { copyFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { loadQuotas } from '../../bench/load.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { listAlerts } from '../../src/db/quotas/alerts.ts'
import { migrate } from '../../src/db/schema/migrate.ts'
import { roll, statusOf } from '../../src/domain/quotas/quota.ts'
import { emptyDatabase } from '../support/database.ts'
import { scratchFolder } from '../support/database-server.ts'
import { listed } from '../support/quota-lists.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const MIGRATIONS = fileURLToPath(new URL('../../migrations/', import.meta.url))
const { db, url } = await emptyDatabase()

test('marks of open windows are made from the quotas and their events', async () => {
  const { folder, remove } = await scratchFolder()
  const earlier = (await readdir(MIGRATIONS)).filter(name => name.endsWith('.sql') && name < '0009')
  for (const name of earlier) await copyFile(join(MIGRATIONS, name), join(folder, name))
  await migrate({ url, directory: folder })
  await remove()

  await db.query({
    text: sql`create table quota_alert (shard smallint, quota_id bigint, percent smallint, at timestamptz, ends_at timestamptz)`,
  })
  await loadQuotas(db, { quotas: 2_000, users: 200, now: NOW })
  await db.query({ text: sql`drop table quota_alert` })
  // The service did not note exhaustion then. Some quotas have no units.
  await db.query({ text: sql`update quota set alerted = array_remove(alerted, 101::smallint)` })
  await db.query({
    text: sql`update quota set "limit" = 0, used = 0, reserved = 0, overage_limit = 0, rollover_limit = 0, alerted = '{}' where id / 64 % 50 = 0`,
  })
  const at = '2026-03-14T00:00:00.000Z'
  await db.query({
    text: sql`insert into event (shard, number, type, at, data)
      select shard, id * 200 + percent, 'quota.threshold_reached', $1, jsonb_build_object('percent', percent, 'quota', jsonb_build_object('id', id))
      from quota, unnest(alerted) percent where id / 64 % 2 = 0`,
    values: [at],
  })
  const applied = await migrate({ url })
  expect(applied).toContain('0009_lists.sql')

  const all = (await listed(db, { size: 2_000 }, NOW)).items
  const exhausted = all.filter(quota => statusOf(roll(quota, NOW).quota, NOW) === 'exhausted')
  expect(exhausted.length).toBeGreaterThan(30)
  const found = await listed(db, { filter: { status: 'exhausted' }, size: 2_000 }, NOW)
  expect(found.items.map(({ id }) => id)).toEqual(exhausted.map(({ id }) => id))

  const { items: alerts } = await listAlerts(db, { size: 2_000, now: NOW })
  const standing = all.filter(stored => {
    const { quota } = roll(stored, NOW)
    return quota.alerted.length > 0 && ['active', 'exhausted'].includes(statusOf(quota, NOW))
  })
  expect(standing.length).toBeGreaterThan(10)
  expect(alerts.map(({ quota }) => quota.id).sort()).toEqual(standing.map(({ id }) => id).sort())
  for (const { quota, at: reachedAt } of alerts) {
    const isInOutbox = Math.floor(quota.id / 64) % 2 === 0 && quota.window_start <= Date.parse(at)
    expect(reachedAt).toBe(isInOutbox ? Date.parse(at) : quota.window_start)
  }
})
