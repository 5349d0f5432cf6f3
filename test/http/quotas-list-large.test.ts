/** Lists of more quotas than a request counts. */
import { expect, test } from 'vitest'
import { loadQuotas } from '../../bench/load.ts'
import { openDatabase } from '../../src/db/connection/database.ts'
import { START, startService } from '../support/service.ts'

const service = await startService()
// Filling takes longer than the service lets a statement run.
const filling = openDatabase({ url: service.databaseUrl, statementTimeout: 0, lockTimeout: 0 })
await loadQuotas(filling, { quotas: 12_000, users: 1_200, now: START })
await filling.close()
const list = (query: string) => service.call('GET', `/api/sms/admin/quota/list?${query}`)

test('have no total with a filter that selects many, and go on by cursor', async () => {
  const { body } = await list('name=package&page=2')
  expect(body).toMatchObject({ total: null, total_pages: null, page: 2, page_size: 20 })
  expect(body.total_at_least).toBeGreaterThan(1_000)
  expect(body.items).toHaveLength(20)
  const next = await list(`cursor=${body.next_cursor}`)
  expect(next.body.items).toEqual((await list('name=package&page=3')).body.items)
  expect(next.body).not.toHaveProperty('total_at_least')
})

test('have an exact total without a filter, and with one that selects few', async () => {
  const all = (await list('')).body
  expect(all.total).toBeGreaterThan(10_000)
  expect(all).not.toHaveProperty('total_at_least')
  for (const query of [
    'kind=cap',
    'status=suspended',
    'status=exhausted',
    'status=exhausted&sort=name',
    'name=package%2010',
  ])
    expect((await list(query)).body.total, query).toBeGreaterThan(100)
  const last = (await list(`page=${all.total_pages}`)).body
  expect(last.next_cursor).toBeNull()
  expect(last.items).toHaveLength(all.total - 20 * (all.total_pages - 1))
  expect(last.items.at(-1).id).toBe((await list('sort=id&page_size=1')).body.items[0].id)
})

test('refuse a page that is too deep, and say what to do; past the end they are empty', async () => {
  const message = expect.stringContaining('next_cursor')
  const deep = await list('name=package&page=100000')
  expect(deep).toMatchObject({ status: 400, body: { code: 'invalid_request', errors: [{ path: 'page', message }] } })
  for (const query of ['page=100000', 'status=active&kind=cap&page=9000', 'name=package&page=2500'])
    expect((await list(query)).body, query).toMatchObject({ items: [], next_cursor: null })
})
