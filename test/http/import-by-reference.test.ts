/** Rows of an import may name their user by a reference, and what an export has can be imported. */
import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { freshDatabase } from '../support/database.ts'
import { type Service, startService } from '../support/service.ts'

const service = await startService()
const { app, call, adminToken } = service
const ADMIN = '/api/sms/admin'
const making = { database: freshDatabase(), env: { AUTO_USERS: 'true', DEFAULT_PLAN_USERS_PER_MINUTE: '1' } }
const auto = await startService(making)
const beside = await startService(making)

const importRows = (...rows: object[]) => importInto(service, '', rows)

/** The records of an import, but for progress, which depends on the time that steps take. */
async function importInto(
  { app, adminToken }: Service,
  query: string,
  rows: readonly object[],
): Promise<Record<string, unknown>[]> {
  const answer = await app.inject({
    method: 'POST',
    url: `${ADMIN}/quota/import${query}`,
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/x-ndjson' },
    payload: rows.map(row => `${JSON.stringify(row)}\n`).join(''),
  })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.body
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
    .filter(({ record }) => record !== 'progress')
}

for (const user of [7, 8, 9])
  await call('PUT', `${ADMIN}/users/${user}/profile`, { body: { ref: `customer-${user}`, name: `Customer ${user}` } })

test('rows name users by reference, by id, or by both', async () => {
  const rows = [
    { user_ref: 'customer-7', external_ref: 'a', limit: 10 },
    { user_id: 7, user_ref: null, external_ref: 'b', limit: 10 },
    { user_id: 8, user_ref: 'customer-8', external_ref: 'a', limit: 10 },
    { user_ref: 'no-user', external_ref: 'a', limit: 10 },
    { user_id: 7, user_ref: 'customer-8', external_ref: 'c', limit: 10 },
    { external_ref: 'd', limit: 10 },
    { user_ref: 'with blank', external_ref: 'd', limit: 10 },
    { user_ref: 'customer-7', external_ref: 'a', limit: 20 },
  ]
  const records = await importRows(...rows)
  expect(records).toMatchObject([
    { record: 'failed', line: 4, code: 'unknown_user' },
    { record: 'failed', line: 5, code: 'invalid_request', errors: [{ path: '/user_ref' }] },
    { record: 'failed', line: 6, code: 'invalid_request', errors: [{ path: '/user_id' }] },
    { record: 'failed', line: 7, code: 'invalid_request', errors: [{ path: '/user_ref' }] },
    { record: 'end', created: 3, updated: 1, failed: 4 },
  ])
  const { body } = await call('GET', `${ADMIN}/quota/list?user_ref=customer-7&sort=external_ref`)
  expect(body.items).toMatchObject([
    { user_id: 7, external_ref: 'a', limit: 20 },
    { user_id: 7, external_ref: 'b', limit: 10 },
  ])
})

test('what an export has changes nothing when it is imported', async () => {
  await importRows({ user_ref: 'customer-9', external_ref: 'a', limit: 10 })
  const { body } = await app.inject({
    url: `${ADMIN}/export/quotas`,
    headers: { authorization: `Bearer ${adminToken}` },
  })
  const rows = body
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  expect(rows).toContainEqual(expect.objectContaining({ user_ref: 'customer-9', user_name: 'Customer 9' }))
  expect(await importRows(...rows)).toEqual([
    { record: 'end', created: 0, updated: 0, unchanged: rows.length, failed: 0 },
  ])
})

describe('with AUTO_USERS, a reference that no user has', () => {
  const usersOf = async (refs: readonly string[]) =>
    (
      await auto.db.query<{ ref: string }>({
        text: sql`select ref from user_profile where ref = any($1)`,
        values: [refs],
      })
    ).map(({ ref }) => ref)
  const makePlan = async () => {
    const body = { name: 'Basic', slots: [{ slot: 'monthly', limit: 100, period: 'month' }] }
    return (await auto.call('POST', `${ADMIN}/plans`, { body })).body.id
  }

  test('makes the user in an import, as the dry run says, and a row that is refused makes none', async () => {
    const rows = [
      { user_ref: 'made', external_ref: 'a', limit: 10 },
      { user_ref: 'made', external_ref: 'b', limit: 10 },
      { user_ref: 'planned', plan: await makePlan() },
      { user_ref: 'made', external_ref: 'a', limit: 20 },
      { user_ref: 'refused', plan: 'Bsic' },
      { user_ref: 'refused', external_ref: 'a', limit: 10, kind: 'cap', rollover_limit: 5 },
      { user_ref: 'refused', id: 64, limit: 10 },
      { user_id: 7, user_ref: 'foreign', external_ref: 'a', limit: 10 },
    ]
    const expected = [
      { line: 5, code: 'invalid_request', errors: [{ path: '/plan' }] },
      { line: 6, code: 'invalid_request' },
      { line: 7, code: 'invalid_request', errors: [{ path: '/id' }] },
      { line: 8, code: 'invalid_request', errors: [{ path: '/user_ref' }] },
      { record: 'end', created: 3, updated: 1, unchanged: 0, failed: 4 },
    ]
    const refs = ['made', 'planned', 'refused', 'foreign']
    // Rows that are refused for themselves come before those of the step.
    const sorted = (records: readonly Record<string, unknown>[]) =>
      records.toSorted((one, other) => Number(one.line ?? 9) - Number(other.line ?? 9))
    expect(sorted(await importInto(auto, '?dry_run=true', rows))).toMatchObject(expected)
    expect(await usersOf(refs)).toEqual([])
    expect(sorted(await importInto(auto, '', rows))).toMatchObject(expected)
    expect((await usersOf(refs)).sort()).toEqual(['made', 'planned'])
    expect((await importInto(auto, '', rows)).at(-1)).toMatchObject({ created: 0, updated: 2, unchanged: 2, failed: 4 })
    const { body } = await auto.call('GET', `${ADMIN}/quota/list?user_ref=made&sort=external_ref`)
    expect(body.items).toMatchObject([{ limit: 20 }, { limit: 10 }])
    expect(body.items[0].user_id).toBeGreaterThan(2 ** 40)
  })

  test('makes one user of imports, quotas and messages at once over two services', async () => {
    const refs = ['c-1', 'c-2', 'c-3']
    const work = [auto, beside].flatMap(at => [
      importInto(
        at,
        '',
        refs.map(user_ref => ({ user_ref, external_ref: 'a', limit: 10 })),
      ).then(records => [records.at(-1)?.failed]),
      ...refs.map(async user_ref => {
        const headers = { 'idempotency-key': user_ref }
        return (await at.call('POST', `${ADMIN}/quota`, { body: { user_ref, limit: 5 }, headers })).status
      }),
    ])
    expect((await Promise.all(work)).flat().sort()).toEqual([0, 0, 201, 201, 201, 201, 201, 201])
    expect((await usersOf(refs)).sort()).toEqual(refs)
    for (const ref of refs) {
      const { body } = await auto.call('GET', `${ADMIN}/quota/list?user_ref=${ref}`)
      expect(body.items.map(({ limit }: { limit: number }) => limit).sort()).toEqual([10, 5])
    }
  })

  test('makes no user with a quota that is refused', async () => {
    for (const body of [{ limit: -1 }, { limit: 10, kind: 'cap', rollover_limit: 5 }])
      expect((await auto.call('POST', `${ADMIN}/quota`, { body: { user_ref: 'none', ...body } })).status).toBe(400)
    expect(await usersOf(['none'])).toEqual([])
  })
})
