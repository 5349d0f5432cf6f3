/** Rows of an import may name their user by a reference, and what an export has can be imported. */
import { expect, test } from 'vitest'
import { startService } from '../support/service.ts'

const { app, call, adminToken } = await startService()
const ADMIN = '/api/sms/admin'

async function importRows(...rows: object[]): Promise<Record<string, unknown>[]> {
  const answer = await app.inject({
    method: 'POST',
    url: `${ADMIN}/quota/import`,
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/x-ndjson' },
    payload: rows.map(row => `${JSON.stringify(row)}\n`).join(''),
  })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.body
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
}

for (const user of [7, 8])
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
  const { body } = await app.inject({
    url: `${ADMIN}/export/quotas`,
    headers: { authorization: `Bearer ${adminToken}` },
  })
  const rows = body
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  expect(rows).toContainEqual(expect.objectContaining({ user_ref: 'customer-7', user_name: 'Customer 7' }))
  expect(await importRows(...rows)).toEqual([
    { record: 'end', created: 0, updated: 0, unchanged: rows.length, failed: 0 },
  ])
})
