/** Administrators' changes of quotas, on a real database. */
import { describe, expect, test } from 'vitest'
import { importStep } from '../../src/admin/many/import-quotas.ts'
import { updateQuota } from '../../src/admin/quotas/change-quota.ts'
import { createQuotaOnce } from '../../src/admin/quotas/create-quota.ts'
import { deleteQuota } from '../../src/admin/quotas/delete-quota.ts'
import { createWebhookOnce } from '../../src/admin/webhooks/webhooks-once.ts'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { shardOfKey } from '../../src/db/quotas/idempotency.ts'
import { secretKeys } from '../../src/db/webhooks/secret-keys.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { whenDone } from '../support/cleanup.ts'
import { createBench, someone } from '../support/engine.ts'
import { leastRole } from '../support/role.ts'

const bench = await createBench()
const { db, clock } = bench
const always = () => true
const never = () => false

/** Everything that a change of a quota writes for a user. */
async function writtenFor(user: number) {
  const values = [shardOf(user), user]
  const [account] = await db.query<{ live: number }>({
    text: sql`select live from account where shard = $1 and user_id = $2`,
    values,
  })
  const quotas = await db.query<{ id: number; seq: number; version: number }>({
    text: sql`select id, seq, version from quota where shard = $1 and user_id = $2 order by id`,
    values,
  })
  const changes = await db.query<{ action: string; version: number; reason: string | null }>({
    text: sql`select action, c.version, reason from quota_change c join quota q on q.shard = c.shard and q.id = c.quota_id
      where q.shard = $1 and q.user_id = $2 order by at, quota_id, c.version`,
    values,
  })
  const events = await db.query<{ type: string; sequence: number }>({
    text: sql`select type, sequence from event where shard = $1 and user_id = $2 order by sequence`,
    values,
  })
  return { live: account?.live, quotas, changes, events }
}

/** The totals of a user's shard, by which lists know how many quotas there are. */
async function totalsOf(user: number) {
  const [totals] = await db.query<Record<'grants' | 'caps' | 'deleted_grants' | 'deleted_caps', number>>({
    text: sql`select grants, caps, deleted_grants, deleted_caps from shard_head where shard = $1`,
    values: [shardOf(user)],
  })
  return totals
}

describe('a change', () => {
  test('writes the quota, the fence of the others, the account, the audit entry and the event', async () => {
    const user = someone()
    const one = await bench.quota({ user_id: user })
    const other = await bench.quota({ user_id: user })
    const before = await writtenFor(user)
    expect(before.live).toBe(2)
    const updated = await updateQuota(db, one.id, { limit: 5 }, bench.author(), always)
    expect(updated).toMatchObject({ outcome: 'changed', quota: { limit: 5, version: 2 } })
    const after = await writtenFor(user)
    expect(after.quotas).toEqual(
      before.quotas.map(quota => ({ ...quota, seq: quota.seq + 1, version: expect.any(Number) })),
    )
    expect(after.quotas.map(({ id, version }) => [id, version])).toEqual([
      [one.id, 2],
      [other.id, 1],
    ])
    expect(after.changes).toContainEqual({ action: 'updated', version: 2, reason: null })
    expect(after.events.map(({ type }) => type)).toEqual(['quota.created', 'quota.created', 'quota.updated'])
  })

  test.each([
    ['nothing changes', { limit: 1_000 }, always, { outcome: 'unchanged' }],
    ['the version is another', { limit: 5 }, never, { outcome: 'version_mismatch', version: 1 }],
    ['a field is immutable', { kind: 'cap' as const }, always, { outcome: 'immutable_field' }],
    ['a rule forbids it', { expires_at: 0 }, always, { outcome: 'invalid' }],
    ['another quota has the external_ref', { external_ref: 'taken' }, always, { outcome: 'conflict' }],
  ])('writes nothing if %s', async (_, patch, mayChange, outcome) => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    await bench.quota({ user_id: user, external_ref: 'taken' })
    const [before, totals] = [await writtenFor(user), await totalsOf(user)]
    expect(await updateQuota(db, id, patch, bench.author(), mayChange)).toMatchObject(outcome)
    expect([await writtenFor(user), await totalsOf(user)]).toEqual([before, totals])
  })

  test('of a quota that does not exist or is deleted finds nothing', async () => {
    const { id } = await bench.quota({ user_id: someone() })
    expect(await deleteQuota(db, id, bench.author(), always)).toEqual({ outcome: 'deleted' })
    for (const gone of [id, id + 64_000_000]) {
      expect(await updateQuota(db, gone, { limit: 5 }, bench.author(), always)).toEqual({ outcome: 'not_found' })
      expect(await deleteQuota(db, gone, bench.author(), never)).toEqual({ outcome: 'not_found' })
    }
  })

  test('moves the totals of the shard', async () => {
    const user = someone()
    const before = await totalsOf(user)
    const grant = await bench.quota({ user_id: user })
    await bench.quota({ user_id: user, kind: 'cap', limit: 5 })
    const created = await totalsOf(user)
    expect(created).toEqual({ ...before, grants: (before?.grants ?? 0) + 1, caps: (before?.caps ?? 0) + 1 })
    await updateQuota(db, grant.id, { limit: 5 }, bench.author(), always)
    expect(await totalsOf(user)).toEqual(created)
    await deleteQuota(db, grant.id, bench.author(), always)
    expect(await totalsOf(user)).toEqual({
      ...created,
      grants: before?.grants,
      deleted_grants: (before?.deleted_grants ?? 0) + 1,
    })
    expect((await writtenFor(user)).live).toBe(1)
  })

  test('writes each window that it closes once', async () => {
    const { id } = await bench.quota({ user_id: someone(), period: 'hour', rollover_limit: 1_000 })
    clock.now += DAY_MS
    const { outcome } = await updateQuota(db, id, { name: 'x' }, bench.author(), always)
    expect(outcome).toBe('changed')
    const windows = await db.query({
      text: sql`select window_no, used, carried from quota_window where quota_id = $1`,
      values: [id],
    })
    expect(windows).toEqual([{ window_no: 0, used: 0, carried: 1_000 }])
  })
})

describe('numbers that are given again', () => {
  /** As the coordinator of a cluster may do after a crash. */
  const repeat = (sequence: string, id: number) =>
    db.query({ text: sql`select setval($1::regclass, $2, false)`, values: [sequence, Math.floor(id / 64)] })

  test('make no creation fail', async () => {
    const user = someone()
    const first = await bench.quota({ user_id: user })
    await bench.quota({ user_id: user })
    await repeat('quota_number', first.id)
    const created = await createQuotaOnce(db, { user_id: user, limit: 5 }, bench.author(), undefined)
    expect(created.outcome).toBe('created')
    expect((await writtenFor(user)).quotas).toHaveLength(3)
  })

  test('make no creation fail for a role with the rights of a service only', async () => {
    const user = someone()
    const first = await bench.quota({ user_id: user })
    await bench.quota({ user_id: user })
    await repeat('quota_number', first.id)
    const { url } = await leastRole(bench)
    const least = openDatabase({ url })
    whenDone(() => least.close())
    const created = await createQuotaOnce(least, { user_id: user, limit: 5 }, bench.author(), undefined)
    expect(created.outcome).toBe('created')
    // And the next one takes a free number at once.
    expect((await createQuotaOnce(least, { user_id: user, limit: 5 }, bench.author(), undefined)).outcome).toBe(
      'created',
    )
  })

  test('make no import fail', async () => {
    const user = someone()
    const { id } = await bench.quota({ user_id: user })
    await repeat('quota_number', id)
    const row = { user_id: user, limit: 5, external_ref: 'imported' }
    expect(await importStep(db, [row], bench.author())).toEqual([{ outcome: 'created' }])
  })

  test('make no new webhook fail', async () => {
    const secret = { secret: new Uint8Array(32), keys: secretKeys(new Uint8Array(32), []) }
    const create = () => createWebhookOnce(db, { url: 'https://example.com' }, secret, bench.author(), undefined)
    const first = await create()
    await repeat('webhook_number', 'webhook' in first ? first.webhook.id : 0)
    expect((await create()).outcome).toBe('changed')
  })
})

describe('an idempotency key', () => {
  test('is forgotten by a later call on its shard after four days', async () => {
    const user = someone()
    await createQuotaOnce(db, { user_id: user, limit: 5 }, bench.author(), 'old')
    clock.now += 4 * DAY_MS + 1
    const count = async () => (await db.query({ text: sql`select from idempotency where key = 'old'` })).length
    expect(await count()).toBe(1)
    let key = 'new'
    while (shardOfKey('ada', key) !== shardOfKey('ada', 'old')) key += '.'
    await createQuotaOnce(db, { user_id: user, limit: 5 }, bench.author(), key)
    expect(await count()).toBe(0)
  })
})
