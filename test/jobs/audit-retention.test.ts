import { expect, test } from 'vitest'
import { requestErasure } from '../../src/admin/users/erase-user.ts'
import { createWebhook } from '../../src/admin/webhooks/webhooks.ts'
import { listChanges } from '../../src/db/changes/audit.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { changesOf } from '../../src/db/quotas/history.ts'
import { namesOf, writeNames } from '../../src/db/users/principal-names.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { createAuditRetention } from '../../src/jobs/audit-retention.ts'
import { createBench, openTransaction, someone } from '../support/engine.ts'
import { SOME_SECRET } from '../support/secrets.ts'

const bench = await createBench()
const { db, clock } = bench
const KEPT = 400 * DAY_MS

const retentionOf = (retentionMs: number | null) => createAuditRetention({ db, now: () => clock.now, retentionMs })
const actions = async () =>
  (await listChanges(db, {}, { size: 200, now: 0 })).items.map(({ resource, action }) => `${resource} ${action}`)

test('changes and names are removed when their retention time is over, and erasures stay', async () => {
  const old = await bench.quota({ user_id: someone() })
  const gone = someone()
  await bench.quota({ user_id: gone })
  await createWebhook(db, { url: 'https://example.com/' }, SOME_SECRET, bench.author())
  await requestErasure(db, gone, false, bench.author())
  await writeNames(db, [{ subject: 'old', name: 'Olaf', user_id: null }], clock.now)
  clock.now += 1
  await writeNames(db, [{ subject: 'newer', name: 'Nora', user_id: null }], clock.now)
  await bench.quota({ user_id: someone() })
  const names = async () => (await namesOf(db, ['old', 'newer'])).map(({ name }) => name)
  const all = ['quota created', 'quota created', 'quota created', 'webhook created', 'user erased']

  clock.now += KEPT - 2
  expect(await retentionOf(KEPT).removeOnce(clock.now)).toMatchObject({ isBehind: false })
  expect((await actions()).toSorted()).toEqual(all.toSorted())
  clock.now += 1
  expect(await retentionOf(null).removeOnce(clock.now)).toMatchObject({ isBehind: false })
  expect(await actions()).toHaveLength(5)
  expect(await names()).toEqual(['Nora', 'Olaf'])
  expect(await retentionOf(KEPT).removeOnce(clock.now)).toMatchObject({ isBehind: false })
  expect(await actions()).toEqual(['quota created', 'user erased'])
  expect(await names()).toEqual(['Nora'])
  // The quota itself stays, with an empty history.
  expect(await changesOf(db, old.id, { size: 10, now: 0 })).toEqual({ items: [], next: null })
  expect((await verify(db)).differences).toEqual([])
})

test('all of several pages are removed, also by two processes at once, but not what another transaction holds', async () => {
  const { id } = await bench.quota({ user_id: someone() })
  await db.query({
    text: sql`insert into quota_change (shard, quota_id, version, action, at, actor, request_id, before, after)
           select shard, quota_id, version + n, 'updated', at, actor, request_id, before, after
           from quota_change, generate_series(1, 2500) n where quota_id = $1`,
    values: [id],
  })
  const count = async () =>
    (await db.query({ text: sql`select from quota_change where quota_id = $1`, values: [id] })).length
  expect(await count()).toBe(2_501)
  const text = sql`select from quota_change where shard = ($1 % 64)::smallint and quota_id = $1 and version = 7 for update`
  const holder = await openTransaction(db, tx => tx.query({ text, values: [id] }))
  const removeAll = async () => {
    const retention = retentionOf(0)
    while ((await retention.removeOnce(clock.now)).isBehind);
  }
  await Promise.all([removeAll(), removeAll()])
  expect(await count()).toBe(1)
  await holder.commit()
  await removeAll()
  expect(await count()).toBe(0)
})
