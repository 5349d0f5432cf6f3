/** The exports: the same records as the lists, whole, and from several pages. */
import pino from 'pino'
import { expect, test } from 'vitest'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import { startSender } from './sender-fixture.ts'

const service = await startSender({ showsNoNames: true })
const { ask, call, clock, db } = service
const log = pino({ level: 'silent' })

/** Users 1 to 450, each with a quota, a send and a denial, in two quarters of an hour. */
const USERS = 450
const rows = Array.from(
  { length: USERS },
  (_, n) => `${JSON.stringify({ user_id: n + 1, external_ref: 'A', limit: 5, name: `Quota ${n + 1}` })}\n`,
)
const headers = { 'content-type': 'application/x-ndjson' }
await call('POST', '/api/sms/admin/quota/import', { body: rows.join(''), headers })
for (const from of [0, USERS / 2]) {
  const operations = Array.from({ length: USERS / 2 }, (_, n) => ({
    op: 'consume',
    user_id: from + n + 1,
    id: 'sent',
    units: 2,
    country: 'DE',
  }))
  await ask('batch', { operations: [...operations, ...operations.map(one => ({ ...one, id: 'denied', units: 9 }))] })
  while ((await createUsageRollup({ db, log }).rollUpOnce()).isBehind);
  clock.now += 3_600_000
}

interface Exported {
  user_id: number
  [field: string]: unknown
}

async function exported(what: string, query = ''): Promise<Exported[]> {
  const answer = await call('GET', `/api/sms/admin/export/${what}${query}`)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  expect(answer.headers['content-type']).toBe('application/x-ndjson')
  return String(answer.body)
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line))
}

const usersOf = (records: readonly Exported[]) =>
  records.map(({ user_id }) => user_id).sort((one, other) => one - other)
const everyUser = Array.from({ length: USERS }, (_, n) => n + 1)

test('quotas come with the fields of the list, each once', async () => {
  const records = await exported('quotas')
  expect(usersOf(records)).toEqual(everyUser)
  const { body } = await call('GET', '/api/sms/admin/quota/list?sort=id&page_size=200')
  expect(records.slice(0, 200)).toEqual(body.items)
  expect(usersOf(await exported('quotas', '?name=quota%2044'))).toEqual([
    44, 440, 441, 442, 443, 444, 445, 446, 447, 448, 449,
  ])
  expect(await exported('quotas', '?status=deleted')).toEqual([])
})

test('the ledger and the denials come newest first', async () => {
  const ledger = await exported('ledger')
  expect(usersOf(ledger)).toEqual(everyUser)
  const { body } = await call('GET', '/api/sms/admin/quota/reservations?page_size=200')
  expect(ledger.slice(0, 200)).toEqual(body.items)
  expect(usersOf(await exported('ledger', '?user_id=7'))).toEqual([7])
  expect(await exported('ledger', '?state=reserved')).toEqual([])

  const denials = await exported('denials')
  expect(usersOf(denials)).toEqual(everyUser)
  const listed = await call('GET', '/api/sms/admin/denials?page_size=200')
  expect(denials.slice(0, 200)).toEqual(listed.body.items)
})

test('the audit comes newest first, as the list shows it', async () => {
  const changes = await exported('audit')
  expect(usersOf(changes)).toEqual(everyUser)
  const { body } = await call('GET', '/api/sms/admin/audit?page_size=200')
  expect(changes.slice(0, 200)).toEqual(body.items)
  expect(usersOf(await exported('audit', '?user_id=7&action=created'))).toEqual([7])
  expect(await exported('audit', '?raised=true&action=updated')).toEqual([])
  expect(usersOf(await exported('audit', '?raised=true'))).toEqual(everyUser)
})

test('usage comes as it is kept, of all users, of one, or of a period', async () => {
  const records = await exported('usage')
  // A row for what the grant paid, and one for what was denied.
  expect(usersOf(records)).toEqual(everyUser.flatMap(user => [user, user]))
  const ofOne = await exported('usage', '?user_id=7')
  expect(ofOne).toEqual(records.filter(({ user_id }) => user_id === 7))
  expect(ofOne.find(({ quota_id }) => quota_id !== null)).toMatchObject({
    resolution: 'quarter_hour',
    country: 'DE',
    message_type: null,
    committed: { units: 2, messages: 1 },
    denied: { units: 0, messages: 0 },
  })
  const starts = [...new Set(records.map(({ start }) => String(start)))].sort()
  expect(starts).toHaveLength(2)
  const later = await exported('usage', `?from=${starts[1]}`)
  expect(usersOf(later)).toEqual(everyUser.slice(USERS / 2).flatMap(user => [user, user]))
  expect(await exported('usage', `?to=${starts[0]}`)).toEqual([])
})

test('an unknown filter is refused', async () => {
  const answer = await call('GET', '/api/sms/admin/export/quotas?page=2')
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
})

test('at most five exports run at a time, of lists and of users, and two of a principal', async () => {
  const tokens = await Promise.all(
    Array.from({ length: 12 }, (_, n) => service.token({ sub: `auditor-${n}`, roles: ['sms-quota:admin'] })),
  )
  const paths = ['/api/sms/admin/export/quotas', '/api/sms/admin/users/7/data']
  const exportAll = async (by: readonly string[]) => {
    const answers = await Promise.all(by.map((token, n) => call('GET', paths[n % 2] ?? '', { token })))
    const refused = answers.filter(({ status }) => status !== 200)
    for (const { status, headers, body } of refused) {
      expect({ status, code: body.code }).toEqual({ status: 503, code: 'overloaded' })
      expect(headers['retry-after']).toBe('1')
    }
    return refused.map(({ body }) => body.detail)
  }
  const [first = ''] = tokens
  expect(await exportAll([first, first, first])).toEqual([expect.stringContaining('At most 2 exports of a principal')])
  const refused = await exportAll(tokens)
  expect(refused).toHaveLength(7)
  for (const detail of refused) expect(detail).toContain('At most 5 exports run at a time')
  expect(await exported('quotas')).toHaveLength(USERS)
})
