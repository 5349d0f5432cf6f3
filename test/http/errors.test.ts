import { expect, test } from 'vitest'
import { Problem } from '../../src/errors.ts'
import { expectIssues, rowsOf } from '../support/problem.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const { call } = service
const QUOTA = '/api/sms/admin/quota'
const created = await call('POST', QUOTA, { body: { user_id: 7, limit: 100, starts_at: '2026-03-01T00:00:00Z' } })
const cap = await call('POST', QUOTA, { body: { user_id: 7, limit: 100, kind: 'cap' } })
const deleted = await call('POST', QUOTA, { body: { user_id: 7, limit: 100 } })
await call('DELETE', `${QUOTA}/${deleted.body.id}`)
const id = created.body.id as number

/** The contents of the database, as text. */
const everything = () =>
  rowsOf(service.db, ['quota', 'account', 'quota_window', 'quota_change', 'event', 'shard_head', 'idempotency'])

const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
const ok = { user_id: 7, limit: 5 }
const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Method, path, body, further headers → status, code, and the paths of the issues, if any. */
type BadCall = [
  string,
  string,
  string,
  unknown,
  number,
  string,
  paths?: string[] | undefined,
  headers?: Record<string, string>,
]
// biome-ignore format: one case per line.
const BAD: BadCall[] = [
  ['malformed JSON', 'POST', QUOTA, '{"user_id":7,', 400, 'invalid_request'],
  ['an empty body', 'POST', QUOTA, '', 400, 'invalid_request'],
  ['a body that is not an object', 'POST', QUOTA, [ok], 400, 'invalid_request', ['']],
  ['null', 'POST', QUOTA, 'null', 400, 'invalid_request', ['']],
  ['missing fields, all at once', 'POST', QUOTA, {}, 400, 'invalid_request', ['/user_id', '/limit']],
  ['a number as text', 'POST', QUOTA, { ...ok, limit: '5' }, 400, 'invalid_request', ['/limit']],
  ['a fraction', 'POST', QUOTA, { ...ok, limit: 1.5 }, 400, 'invalid_request', ['/limit']],
  ['a negative number', 'POST', QUOTA, { ...ok, limit: -1 }, 400, 'invalid_request', ['/limit']],
  ['2^53', 'POST', QUOTA, `{"user_id":9007199254740992,"limit":5}`, 400, 'invalid_request', ['/user_id']],
  ['2^53 + 1', 'POST', QUOTA, `{"user_id":9007199254740993,"limit":5}`, 400, 'invalid_request', ['/user_id']],
  ['a number that overflows', 'POST', QUOTA, `{"user_id":1e999,"limit":5}`, 400, 'invalid_request', ['/user_id']],
  ['a limit above the maximum', 'POST', QUOTA, { ...ok, limit: 1e12 + 1 }, 400, 'invalid_request', ['/limit']],
  ['a body above the maximum', 'POST', QUOTA, { ...ok, name: 'x'.repeat(66_000) }, 413, 'payload_too_large'],
  ['a form', 'POST', QUOTA, 'user_id=7', 415, 'unsupported_media_type', undefined, { 'content-type': 'text/plain' }],
  ['unknown fields', 'POST', QUOTA, { ...ok, limti: 1, x: 2 }, 400, 'invalid_request', ['/limti', '/x']],
  ['a prototype', 'POST', QUOTA, '{"__proto__":{"limit":5},"user_id":7}', 400, 'invalid_request', ['/__proto__']],
  ['a prototype in metadata', 'POST', QUOTA, '{"user_id":7,"limit":5,"metadata":{"__proto__":"x"}}', 400, 'invalid_request', ['/metadata/__proto__']],
  ['a prototype in a query', 'GET', '/api/sms/admin/quota/list?__proto__=1', undefined, 400, 'invalid_request', ['__proto__']],
  ['an unknown zone', 'POST', QUOTA, { ...ok, time_zone: 'Europe/Berln' }, 400, 'invalid_request', ['/time_zone']],
  ['an offset instead of a zone', 'POST', QUOTA, { ...ok, time_zone: '+02:00' }, 400, 'invalid_request', ['/time_zone']],
  ['an unknown period', 'POST', QUOTA, { ...ok, period: 'fortnight' }, 400, 'invalid_request', ['/period']],
  ['the 30th of February', 'POST', QUOTA, { ...ok, expires_at: '2027-02-30T00:00:00Z' }, 400, 'invalid_request', ['/expires_at']],
  ['a date without a time', 'POST', QUOTA, { ...ok, expires_at: '2027-02-20' }, 400, 'invalid_request', ['/expires_at']],
  ['a time before 1970', 'POST', QUOTA, { ...ok, starts_at: '1969-12-31T23:59:59Z' }, 400, 'invalid_request', ['/starts_at']],
  ['a time after 9999', 'POST', QUOTA, { ...ok, expires_at: '9999-12-31T23:59:59-01:00' }, 400, 'invalid_request', ['/expires_at']],
  ['expiry before the start', 'POST', QUOTA, { ...ok, expires_at: '2000-01-01T00:00:00Z' }, 400, 'invalid_request', ['/expires_at']],
  ['a cap without a limit', 'POST', QUOTA, { user_id: 7, kind: 'cap', limit: null }, 400, 'invalid_request', ['/limit']],
  ['rollover without a period', 'POST', QUOTA, { ...ok, rollover_limit: 5 }, 400, 'invalid_request', ['/rollover_limit']],
  ['overage of an unlimited quota', 'POST', QUOTA, { user_id: 7, limit: null, overage_limit: 5 }, 400, 'invalid_request', ['/overage_limit']],
  ['a country that does not exist', 'POST', QUOTA, { ...ok, countries: ['DE', 'XX'] }, 400, 'invalid_request', ['/countries/1']],
  ['a lowercase country', 'POST', QUOTA, { ...ok, countries: ['de'] }, 400, 'invalid_request', ['/countries/0']],
  ['a country twice', 'POST', QUOTA, { ...ok, countries: ['DE', 'DE'] }, 400, 'invalid_request', ['/countries']],
  ['an empty list of countries', 'POST', QUOTA, { ...ok, countries: [] }, 400, 'invalid_request', ['/countries']],
  ['a message type with spaces', 'POST', QUOTA, { ...ok, message_types: ['a b'] }, 400, 'invalid_request', ['/message_types/0']],
  ['alerts out of bounds', 'POST', QUOTA, { ...ok, alert_at: [0, 101] }, 400, 'invalid_request', ['/alert_at/0', '/alert_at/1']],
  ['NUL', 'POST', QUOTA, { ...ok, name: 'a\0b' }, 400, 'invalid_request', ['/name']],
  ['a lone surrogate', 'POST', QUOTA, '{"user_id":7,"limit":5,"name":"\\ud800"}', 400, 'invalid_request', ['/name']],
  ['NUL in metadata', 'POST', QUOTA, { ...ok, metadata: { a: '\0' } }, 400, 'invalid_request', ['/metadata/a']],
  ['metadata that is not flat', 'POST', QUOTA, { ...ok, metadata: { a: { b: 'c' } } }, 400, 'invalid_request', ['/metadata/a']],
  ['metadata with too many keys', 'POST', QUOTA, { ...ok, metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, ''])) }, 400, 'invalid_request', ['/metadata']],
  ['a name that is too long', 'POST', QUOTA, { ...ok, name: 'x'.repeat(121) }, 400, 'invalid_request', ['/name']],
  ['JSON 10,000 deep', 'POST', QUOTA, `{"user_id":7,"limit":5,"metadata":${deep}}`, 400, 'invalid_request', [`/metadata${'/0'.repeat(15)}`]],
  ['a body of nested arrays', 'POST', QUOTA, deep, 400, 'invalid_request', ['/0'.repeat(16)]],
  ['an Idempotency-Key with spaces', 'POST', QUOTA, ok, 400, 'invalid_request', ['/idempotency-key'], { 'idempotency-key': 'a b' }],
  ['a query parameter on a route without any', 'POST', `${QUOTA}?dry_run=1`, ok, 400, 'invalid_request', ['dry_run']],

  ['an id that does not exist', 'PUT', `${QUOTA}/99`, {}, 404, 'not_found'],
  ['a deleted quota', 'PUT', `${QUOTA}/${deleted.body.id}`, { limit: 1 }, 404, 'not_found'],
  ['an unknown field beside an id that does not exist', 'PUT', `${QUOTA}/99`, { x: 1 }, 400, 'invalid_request', ['/x']],
  ['a stale If-Match', 'PUT', `${QUOTA}/${id}`, { limit: 1 }, 412, 'version_mismatch', undefined, { 'if-match': '"7"' }],
  ['an If-Match that is not an ETag', 'PUT', `${QUOTA}/${id}`, { limit: 1 }, 400, 'invalid_request', ['/if-match'], { 'if-match': '7' }],
  ['an immutable field', 'PUT', `${QUOTA}/${id}`, { user_id: 8 }, 422, 'immutable_field', ['/user_id']],
  ['a read-only field', 'PUT', `${QUOTA}/${id}`, { version: 8 }, 400, 'invalid_request', ['/version']],
  ['a cap without a limit', 'PUT', `${QUOTA}/${cap.body.id}`, { limit: null }, 400, 'invalid_request', ['/limit']],
  ['expiry before the start', 'PUT', `${QUOTA}/${id}`, { expires_at: '2026-02-01T00:00:00Z' }, 400, 'invalid_request', ['/expires_at']],
  ['an id that does not exist', 'DELETE', `${QUOTA}/99`, undefined, 404, 'not_found'],
  ['a deleted quota', 'DELETE', `${QUOTA}/${deleted.body.id}`, undefined, 404, 'not_found'],
  ['a stale If-Match', 'DELETE', `${QUOTA}/${id}`, undefined, 412, 'version_mismatch', undefined, { 'if-match': '"7"' }],
  ['a form', 'DELETE', `${QUOTA}/99`, 'x=1', 415, 'unsupported_media_type', undefined, { 'content-type': 'text/plain' }],
  ['a body above the maximum', 'DELETE', `${QUOTA}/99`, { name: 'x'.repeat(66_000) }, 413, 'payload_too_large'],
  ['an id that does not exist', 'GET', `${QUOTA}/99`, undefined, 404, 'not_found'],
  ...['+1', '01', '1.0', '1e3', '-1', '0', '9007199254740992', 'x', '%00', '%F0%9F%98%80'].map(
    bad => ['an invalid id', 'GET', `${QUOTA}/${bad}`, undefined, 400, 'invalid_request', ['id']] as never,
  ),
  ['a path that cannot be decoded', 'GET', `${QUOTA}/%ff`, undefined, 400, 'invalid_request'],

  ...['page=0', 'page=-1', 'page=01', 'page=1.0', 'page=%2B1', 'page=1e3', 'page=', 'page=1&page=2'].map(
    query => ['an invalid page', 'GET', `${QUOTA}/list?${query}`, undefined, 400, 'invalid_request', ['page']] as never,
  ),
  ['a page that is too large', 'GET', `${QUOTA}/list?page_size=201`, undefined, 400, 'invalid_request', ['page_size']],
  ['a page size of 0', 'GET', `${QUOTA}/list?page_size=0`, undefined, 400, 'invalid_request', ['page_size']],
  ['an unknown parameter', 'GET', `${QUOTA}/list?pagesize=5`, undefined, 400, 'invalid_request', ['pagesize']],
  ['an unknown status', 'GET', `${QUOTA}/list?status=live`, undefined, 400, 'invalid_request', ['status']],
  ['an unknown sort', 'GET', `${QUOTA}/list?sort=color`, undefined, 400, 'invalid_request', ['sort']],
  ['a forged cursor', 'GET', `${QUOTA}/list?cursor=${base64({ sort: 'name' })}`, undefined, 400, 'invalid_request', ['cursor']],
  ['a missing user', 'GET', `${QUOTA}/summary`, undefined, 400, 'invalid_request', ['user_id']],
  ['an invalid user', 'GET', `${QUOTA}/summary?user_id=07`, undefined, 400, 'invalid_request', ['user_id']],

  ['an unknown route', 'GET', '/api/sms/admin/quotas', undefined, 404, 'not_found'],
  ['an unknown method', 'PATCH', `${QUOTA}/${id}`, {}, 405, 'method_not_allowed'],
  ['an unknown route', 'GET', '/nothing', undefined, 404, 'not_found'],
]

test.each(BAD)('%s: %s %s', async (_what, method, url, body, status, code, paths, headers) => {
  const before = await everything()
  const answer = await call(method, url, { body, headers: headers ?? {} })
  expectIssues(answer, status, code, paths)
  expect(JSON.stringify(answer.body)).not.toMatch(/\bat \S+:\d|select |insert |node_modules|\.ts\b/)
  expect(await everything()).toBe(before)
})

test('a time outside the range is answered with the range', async () => {
  const { body } = await call('POST', QUOTA, { body: { ...ok, starts_at: '1969-12-31T23:59:59Z' } })
  expect(body.errors[0].message).toBe(
    'must be an RFC 3339 time such as "2026-01-31T00:00:00Z", from 1970-01-01T00:00:00Z to 9999-12-31T23:59:59.999Z, not "1969-12-31T23:59:59Z"',
  )
})

test('an unknown parameter is answered with the accepted ones', async () => {
  const { body } = await call('GET', `${QUOTA}/list?pagesize=5`)
  expect(body.errors[0].message).toBe(
    'is unknown; accepted are page, page_size, sort, kind, name, external_ref, country, message_type, plan_id, plan_version, expires_after, expires_before, cursor, user_id, status',
  )
})

test('a problem has the Retry-After of its code, unless it names another', () => {
  expect(new Problem('overloaded', 'Full.').headers).toEqual({ 'retry-after': '1' })
  expect(new Problem('unavailable', 'Not available.', { retryAfterSeconds: 5 }).headers).toEqual({ 'retry-after': '5' })
  const headers = { etag: '"2"' }
  expect(new Problem('version_mismatch', 'Changed.', { headers }).headers).toEqual(headers)
})

test('a call that is not allowed gets no details about its issues', async () => {
  const token = await service.userToken(7)
  expect((await call('POST', `${QUOTA}?x=1`, { token, body: '{' })).status).toBe(403)
  expect((await call('POST', QUOTA, { token: null, body: 'x'.repeat(70_000) })).status).toBe(401)
  expect((await call('GET', '/api/sms/admin/nothing', { token: null })).status).toBe(404)
})
