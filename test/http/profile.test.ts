import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { REFERENCE_RESERVED_MS } from '../../src/db/users/profiles.ts'
import { shardOfReference } from '../../src/domain/basics/shard.ts'
import { createAuditRetention } from '../../src/jobs/audit-retention.ts'
import { createQuickEraser, finishErasures } from '../support/erasure.ts'
import { startService } from '../support/service.ts'

const logged: string[] = []
const service = await startService({ onLogLine: line => logged.push(line) })
const { app, call, clock, db } = service
const USERS = '/api/sms/admin/users'

let lastUser = 500
const someone = () => ++lastUser
const profileOf = (user: number) => `${USERS}/${user}/profile`
const put = (user: number, body: object, options: object = {}) => call('PUT', profileOf(user), { body, ...options })

async function erase(user: number): Promise<void> {
  expect((await call('DELETE', `${USERS}/${user}/data`)).status).toBe(202)
  const engine = { submit: () => Promise.reject(new Error('the user has no reservations')) }
  await finishErasures(createQuickEraser({ db, engine, now: () => clock.now, watched: async () => [] }))
}

const FULL = {
  ref: '7d3c2a52-6f6b-4f0e-9b7a-0c1f2e3d4b5a',
  name: 'Grüße & Söhne',
  email: 'ann@example.com',
  language: 'pt-BR',
  time_zone: 'Europe/Berlin',
  rate_card_id: null,
}

describe('a profile', () => {
  test('makes the user, and has what was set', async () => {
    const user = someone()
    expect((await call('GET', profileOf(user))).status).toBe(404)
    const set = await put(user, FULL)
    expect([set.status, set.headers.etag]).toEqual([200, '"1"'])
    const at = new Date(clock.now).toISOString()
    expect(set.body).toEqual({ user_id: user, ...FULL, version: 1, updated_at: at, updated_by: '1' })
    const read = await call('GET', profileOf(user))
    expect([read.body, read.headers.etag]).toEqual([set.body, '"1"'])
    expect((await call('GET', `${USERS}/${user}`)).body).toMatchObject({ user_id: user, quotas: { unexpired: 0 } })
  })

  test('of a known user is empty until something is set', async () => {
    const user = someone()
    await call('POST', '/api/sms/admin/quota', { body: { user_id: user, limit: 1 } })
    const { body, headers } = await call('GET', profileOf(user))
    expect(headers.etag).toBe('"0"')
    expect(body).toMatchObject({ user_id: user, ref: null, name: null, version: 0, updated_at: null, updated_by: null })
  })

  test('is merged: what is left out stays, and null clears', async () => {
    const user = someone()
    await put(user, { ref: `r-${user}`, name: 'Ann', email: 'ann@example.com' })
    expect((await put(user, { name: null, language: 'de' })).body).toMatchObject({
      ref: `r-${user}`,
      name: null,
      email: 'ann@example.com',
      language: 'de',
      version: 2,
    })
  })

  test('is not changed by a repeated call', async () => {
    const user = someone()
    const body = { ref: `r-${user}`, name: 'Ann' }
    const first = await put(user, body)
    clock.now += 1_000
    expect((await put(user, body)).body).toEqual(first.body)
  })

  test('changes only the version that If-Match names', async () => {
    const user = someone()
    const on = (version: number) => ({ headers: { 'if-match': `"${version}"` } })
    expect((await put(user, { name: 'Ann' }, on(1))).body).toMatchObject({ code: 'version_mismatch' })
    expect((await put(user, { name: 'Ann' }, on(0))).body.version).toBe(1)
    const late = await put(user, { name: 'Bea' }, on(0))
    expect([late.status, late.body.code, late.headers.etag]).toEqual([412, 'version_mismatch', '"1"'])
  })

  test.each([
    [{ ref: 'a b' }, '/ref must be a reference'],
    [{ ref: '' }, '/ref must be a reference'],
    [{ ref: 'x'.repeat(129) }, '/ref must be a reference'],
    [{ ref: 'a\u0085' }, '/ref must be a reference'],
    [{ ref: 'a\u2003b' }, '/ref must be a reference'],
    [{ ref: '\ud800' }, '/ref must be'],
    [{ ref: 7 }, '/ref must be'],
    [{ name: '' }, '/name must be'],
    [{ name: 'x'.repeat(121) }, '/name must be'],
    [{ email: 'ann' }, '/email must be an e-mail address'],
    [{ language: 'German' }, '/language must be a language tag'],
    [{ time_zone: 'Mars' }, '/time_zone must be'],
    [{ reference: 'x' }, '/reference is unknown'],
  ])('refuses %j', async (body, detail) => {
    const user = someone()
    const answer = await put(user, body)
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request'])
    expect(answer.body.detail).toContain(detail)
    expect((await call('GET', `${USERS}/${user}`)).status, 'a refused call makes no user').toBe(404)
  })
})

describe('a reference', () => {
  test('never changes once it is set', async () => {
    const user = someone()
    await put(user, { name: 'Ann' })
    await put(user, { ref: `r-${user}` })
    for (const ref of ['other', null]) {
      const answer = await put(user, { ref })
      expect([answer.status, answer.body.code]).toEqual([422, 'immutable_field'])
      expect(answer.body.errors).toEqual([{ path: '/ref', message: expect.stringContaining('immutable once set') }])
    }
    expect((await put(user, { ref: `r-${user}`, name: 'Bea' })).body).toMatchObject({ ref: `r-${user}`, name: 'Bea' })
  })

  test('is that of one user only, and the answer does not name that user', async () => {
    const [user, other, known] = [someone(), someone(), someone()]
    await put(user, { ref: `r-${user}` })
    await put(known, { name: 'Known' })
    for (const thief of [other, known]) {
      const answer = await put(thief, { ref: `r-${user}`, name: 'Thief' })
      expect([answer.status, answer.body.code]).toEqual([409, 'conflict'])
      expect(JSON.stringify(answer.body)).not.toContain(String(user))
    }
    expect((await call('GET', profileOf(other))).status, 'a refused call makes no user').toBe(404)
    expect((await call('GET', profileOf(known))).body).toMatchObject({ name: 'Known', version: 1 })
  })

  test('is that of one user, of twenty who ask for it at once', async () => {
    const users = Array.from({ length: 20 }, someone)
    const answers = await Promise.all(users.map(user => put(user, { ref: 'wanted' })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(409)])
    const rows = await db.query({ text: sql`select user_id from user_ref where ref = 'wanted'` })
    expect(rows).toHaveLength(1)
  })

  test('of letters that differ is another one', async () => {
    const [user, other] = [someone(), someone()]
    expect((await put(user, { ref: 'Case' })).status).toBe(200)
    expect((await put(other, { ref: 'case' })).status).toBe(200)
  })
})

describe('an erasure', () => {
  test('refuses changes until it is finished, and removes the profile with its changes', async () => {
    const user = someone()
    await put(user, { ref: `r-${user}`, name: 'Ann Example' })
    await call('DELETE', `${USERS}/${user}/data`)
    expect((await put(user, { name: 'Bea' })).body).toMatchObject({ status: 409, code: 'being_erased' })
    await erase(user)
    expect((await call('GET', profileOf(user))).status).toBe(404)
    const audit = await call('GET', `/api/sms/admin/audit?user_id=${user}`)
    expect(audit.body.items.map(({ resource }: { resource: string }) => resource)).toEqual(['user'])
    const erasure = await call('GET', `${USERS}/${user}/data/erasure`)
    expect(erasure.body.removed).toMatchObject({ user_profile: 1, profile_change: 1 })
  })

  test('frees the reference, which is reserved for longer than a process remembers it', async () => {
    const [user, next] = [someone(), someone()]
    await put(user, { ref: `r-${user}` })
    await erase(user)
    const retention = createAuditRetention({ db, now: () => clock.now, retentionMs: null })
    clock.now += REFERENCE_RESERVED_MS - 1
    await retention.removeOnce(clock.now)
    expect((await put(next, { ref: `r-${user}` })).body.code).toBe('conflict')
    clock.now += 1
    await retention.removeOnce(clock.now)
    expect((await put(next, { ref: `r-${user}` })).body).toMatchObject({ user_id: next, ref: `r-${user}` })
    // An erased user may be stored again, under another reference.
    expect((await put(user, { ref: `r-${user}` })).body.code).toBe('conflict')
    expect((await put(user, { ref: `again-${user}` })).body.version).toBe(1)
  })

  test('by a clock that was ahead reserves a reference no longer', async () => {
    const user = someone()
    await put(user, { ref: `r-${user}` })
    clock.now += 1e11
    await erase(user)
    clock.now -= 1e11
    const retention = createAuditRetention({ db, now: () => clock.now, retentionMs: null })
    await retention.removeOnce(clock.now)
    clock.now += REFERENCE_RESERVED_MS
    await retention.removeOnce(clock.now)
    expect((await put(someone(), { ref: `r-${user}` })).status).toBe(200)
  })
})

test('a profile and its changes are in the audit and in the export', async () => {
  const user = someone()
  const named = (id: string) => ({ headers: { 'x-request-id': id } })
  await put(user, { name: 'Ann' }, named('profile-1'))
  clock.now += 1_000
  const { body: after } = await put(user, { ref: `r-${user}` }, named('profile-2'))
  for (const query of [`user_id=${user}`, `resource=profile&user_id=${user}`]) {
    const { body } = await call('GET', `/api/sms/admin/audit?${query}&page_size=1`)
    expect(body.items).toEqual([
      {
        resource: 'profile',
        thing_id: user,
        user_id: user,
        user_ref: after.ref,
        user_name: after.name,
        action: 'updated',
        version: 2,
        at: new Date(clock.now).toISOString(),
        actor: '1',
        request_id: 'profile-2',
        reason: null,
        transfer_id: null,
        before: { ...after, ref: null, version: 1, updated_at: new Date(clock.now - 1_000).toISOString() },
        after,
      },
    ])
    const next = await call('GET', `/api/sms/admin/audit?cursor=${body.next_cursor}&page_size=1`)
    expect(next.body).toMatchObject({ items: [{ action: 'created', version: 1, before: null }], next_cursor: null })
  }
  const found = await call('GET', '/api/sms/admin/audit?request_id=profile-1')
  expect(found.body.items).toMatchObject([{ resource: 'profile', user_id: user }])

  const headers = { authorization: `Bearer ${service.adminToken}` }
  const { body: text } = await app.inject({ url: `${USERS}/${user}/data`, headers })
  const lines = text
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  expect(lines).toContainEqual({ record: 'user_profile', ...after })
  const changes = lines.filter(({ record }) => record === 'profile_change')
  expect(changes.map(({ version, action }) => [version, action])).toEqual([
    [2, 'updated'],
    [1, 'created'],
  ])
})

test('names, references and addresses are in no log line and no metric', async () => {
  const user = someone()
  const secret = { ref: 'SecretReference', name: 'SecretName', email: 'secret-mail@example.com' }
  await put(user, secret)
  await put(someone(), secret)
  await put(user, { ref: 'SecretOther' })
  await put(user, { name: 'SecretName'.repeat(20) })
  const metrics = await app.inject('/metrics')
  expect(logged.join()).toContain('/profile')
  for (const text of [metrics.body, logged.join('\n')])
    expect(text).not.toMatch(/Secret(?:Reference|Name|Other)|secret-mail/)
})

test('a reference lies in the bucket of its own hash', async () => {
  const user = someone()
  await put(user, { ref: 'customer-1' })
  const rows = await db.query({ text: sql`select shard, user_id from user_ref where ref = 'customer-1'` })
  expect(rows).toEqual([{ shard: shardOfReference('customer-1'), user_id: user }])
})
