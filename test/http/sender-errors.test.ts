import { expect, test } from 'vitest'
import { expectIssues, rowsOf } from '../support/problem.ts'
import { SENDER, startSender } from './sender-fixture.ts'

const service = await startSender()
const { ask, allow, call, senderToken } = service
await allow({ user_id: 7, limit: 1000 })
await ask('reserve', { user_id: 7, id: 'open', units: 5 })
await ask('reserve', { user_id: 7, id: 'returned', units: 5 })
await ask('release', { user_id: 7, id: 'returned' })
await ask('consume', { user_id: 7, id: 'used', units: 5 })

/** The contents of the database, as text. */
const everything = () => rowsOf(service.db, ['quota', 'reservation', 'event'])

const one = { user_id: 7, units: 1 }
const id = 'new'
const to = '+4915112345678'
const text = 'geheim'

/** Case, operation, body → status, code, and the paths of the issues. */
type BadCall = [string, string, unknown, number, string, paths?: string[]]
// biome-ignore format: one case per line.
const BAD: BadCall[] = [
  ['malformed JSON', 'reserve', '{"user_id":7,', 400, 'invalid_request'],
  ['an empty body', 'reserve', '', 400, 'invalid_request'],
  ['a body that is not an object', 'reserve', [one], 400, 'invalid_request', ['']],
  ['missing fields, all at once', 'reserve', {}, 400, 'invalid_request', ['/user_id', '/id', '/units']],
  ['a check without fields', 'check', {}, 400, 'invalid_request', ['/user_id', '/units']],
  ['a commit without fields', 'commit', {}, 400, 'invalid_request', ['/user_id', '/id']],
  ['unknown fields', 'reserve', { ...one, id, ttl: 5, untis: 1 }, 400, 'invalid_request', ['/ttl', '/untis']],
  ['an id for a check', 'check', { ...one, id }, 400, 'invalid_request', ['/id']],
  ['force to reserve', 'reserve', { ...one, id, force: true }, 400, 'invalid_request', ['/force']],
  ['force to release', 'release', { user_id: 7, id: 'open', force: true }, 400, 'invalid_request', ['/force']],
  ['units for a commit', 'commit', { user_id: 7, id: 'open', units: 1 }, 400, 'invalid_request', ['/units']],
  ['0 units', 'reserve', { ...one, id, units: 0 }, 400, 'invalid_request', ['/units']],
  ['too many units', 'reserve', { ...one, id, units: 1e9 + 1 }, 400, 'invalid_request', ['/units']],
  ['a fraction', 'reserve', { ...one, id, units: 1.5 }, 400, 'invalid_request', ['/units']],
  ['a number as text', 'reserve', { ...one, id, units: '1' }, 400, 'invalid_request', ['/units']],
  ['a negative user', 'reserve', { ...one, id, user_id: -1 }, 400, 'invalid_request', ['/user_id']],
  ['a user of 2^53', 'reserve', '{"user_id":9007199254740992,"units":1,"id":"x"}', 400, 'invalid_request', ['/user_id']],
  ...['', '-a', '.a', 'a b', 'a/b', 'é', 'a\n', 'x'.repeat(129)].map(
    bad => [`the id ${JSON.stringify(bad)}`, 'reserve', { ...one, id: bad }, 400, 'invalid_request', ['/id']] as BadCall,
  ),
  ['an id that is a number', 'commit', { user_id: 7, id: 5 }, 400, 'invalid_request', ['/id']],
  ['a ttl of 0', 'reserve', { ...one, id, ttl_seconds: 0 }, 400, 'invalid_request', ['/ttl_seconds']],
  ['a ttl that is too long', 'reserve', { ...one, id, ttl_seconds: 604_801 }, 400, 'invalid_request', ['/ttl_seconds']],
  ['an unknown on_expiry', 'reserve', { ...one, id, on_expiry: 'keep' }, 400, 'invalid_request', ['/on_expiry']],
  ['a flag as text', 'reserve', { ...one, id, allow_partial: 'yes' }, 400, 'invalid_request', ['/allow_partial']],
  ['a country that does not exist', 'reserve', { ...one, id, country: 'XX' }, 400, 'invalid_request', ['/country']],
  ['a lowercase country', 'check', { ...one, country: 'de' }, 400, 'invalid_request', ['/country']],
  ['a type with spaces', 'check', { ...one, message_type: 'a b' }, 400, 'invalid_request', ['/message_type']],
  ['null for what is required', 'check', { user_id: null, units: 1 }, 400, 'invalid_request', ['/user_id']],
  ['null for units and message', 'check', { user_id: 7, units: null, message: null }, 400, 'invalid_request', ['/units']],
  ['null in a message', 'check', { user_id: 7, message: { to: null, text } }, 400, 'invalid_request', ['/message/to']],
  ['null for an unknown field', 'check', { ...one, from: null }, 400, 'invalid_request', ['/from']],
  ['a negative total', 'commit', { user_id: 7, id: 'open', total_units: -1 }, 400, 'invalid_request', ['/total_units']],
  ['a total that is too large', 'commit', { user_id: 7, id: 'open', total_units: 1e9 + 1 }, 400, 'invalid_request', ['/total_units']],
  ['feedback without what it says', 'feedback', { user_id: 7, id: 'open' }, 400, 'invalid_request', ['/verified']],
  ['feedback that no code was entered', 'feedback', { user_id: 7, id: 'open', verified: false }, 400, 'invalid_request', ['/verified']],
  ['a commit that no code was entered', 'commit', { user_id: 7, id: 'open', verified: false }, 400, 'invalid_request', ['/verified']],
  ['a code that was entered before the message left', 'reserve', { ...one, id, verified: true }, 400, 'invalid_request', ['/verified']],
  ['units and a message', 'reserve', { ...one, id, message: { to, text } }, 400, 'invalid_request', ['/units']],
  ['a country and a message', 'check', { user_id: 7, country: 'DE', message: { to, text } }, 400, 'invalid_request', ['/country']],
  ['units, a country and a message', 'check', { ...one, country: 'DE', message: { to, text } }, 400, 'invalid_request', ['/units', '/country']],
  ['units, a country and a message, with issues of the schema', 'check', { units: 0, country: 'DE', message: { to } }, 400, 'invalid_request', ['/user_id', '/units', '/message/text', '/units', '/country']],
  ['a number without its plus', 'check', { user_id: 7, message: { to: to.slice(1), text } }, 400, 'invalid_request', ['/message/to']],
  ['a number with spaces', 'check', { user_id: 7, message: { to: '+49 151', text } }, 400, 'invalid_request', ['/message/to']],
  ['a number of 16 digits', 'check', { user_id: 7, message: { to: '+4915112345678999', text } }, 400, 'invalid_request', ['/message/to']],
  ['a text that is not a string', 'check', { user_id: 7, message: { to, text: 5 } }, 400, 'invalid_request', ['/message/text']],
  ['a message that is a string', 'check', { user_id: 7, message: text }, 400, 'invalid_request', ['/message']],
  ['an unknown field of a message', 'check', { user_id: 7, message: { to, text, from: 'us' } }, 400, 'invalid_request', ['/message/from']],
  ['a query parameter', 'check?dry_run=1', one, 400, 'invalid_request', ['dry_run']],
  ['more than 64 KiB', 'check', { user_id: 7, message: { to, text: 'x'.repeat(65_536) } }, 413, 'payload_too_large'],

  ['an unknown reservation', 'commit', { user_id: 7, id: 'nowhere' }, 404, 'not_found'],
  ['feedback of an unknown reservation', 'feedback', { user_id: 7, id: 'nowhere', verified: true }, 404, 'not_found'],
  ["another user's", 'release', { user_id: 8, id: 'open' }, 404, 'not_found'],
  ['more than was reserved', 'commit', { user_id: 7, id: 'open', total_units: 6 }, 422, 'exceeds_reservation'],
  ['a commit of released units', 'commit', { user_id: 7, id: 'returned' }, 409, 'reservation_closed'],
  ['a release of committed units', 'release', { user_id: 7, id: 'used' }, 409, 'reservation_closed'],
  ['a refund of uncommitted units', 'refund', { user_id: 7, id: 'open', total_units: 1 }, 422, 'exceeds_committed'],
  ['a refund of all units before a commit', 'refund', { user_id: 7, id: 'open' }, 422, 'exceeds_committed'],
  ['a refund of more than was reserved', 'refund', { user_id: 7, id: 'open', total_units: 6 }, 422, 'exceeds_reservation'],
  ['a refund of released units', 'refund', { user_id: 7, id: 'returned', total_units: 1 }, 409, 'reservation_closed'],
  ['an id whose units were released', 'reserve', { user_id: 7, id: 'returned', units: 5 }, 409, 'reservation_closed'],
  ['the same id for other units', 'reserve', { user_id: 7, id: 'open', units: 6 }, 409, 'idempotency_mismatch', ['/units']],
  ['the same id by another operation', 'consume', { user_id: 7, id: 'open', units: 5 }, 409, 'idempotency_mismatch', ['/op']],
  ['the same id, all else different', 'reserve', { user_id: 7, id: 'open', units: 6, country: 'DE', message_type: 'otp', allow_partial: true }, 409, 'idempotency_mismatch', ['/units', '/country', '/message_type', '/allow_partial']],
  ['an unknown operation', 'commits', one, 404, 'not_found'],
]

test.each(BAD)('%s: %s', async (_what, op, body, status, code, paths) => {
  const before = await everything()
  const answer = await ask(op, body)
  expectIssues(answer, status, code, paths)
  // Errors never repeat the number or the text of a message.
  expect(JSON.stringify(answer.body)).not.toMatch(/4915112345678|49 151|geheim|xxx/)
  expect(await everything()).toBe(before)
})

test('a refused settlement shows the state of the reservation', async () => {
  const { body } = await ask('release', { user_id: 7, id: 'used' })
  expect(body.reservation).toMatchObject({ id: 'used', state: 'committed', units: 5, committed: 5, expires_at: null })
  const { body: exceeded } = await ask('commit', { user_id: 7, id: 'open', total_units: 6 })
  expect(exceeded.reservation).toMatchObject({ id: 'open', state: 'reserved', units: 5 })
})

test('the error for a body that is too large names the maximum', async () => {
  const large = { user_id: 7, message: { to, text: 'x'.repeat(65_536) } }
  expect((await ask('check', large)).body.detail).toBe('The body is larger than 65536 bytes.')
})

test.each([
  ['07', 'open', ['user_id']],
  ['-1', 'open', ['user_id']],
  ['7', '-open', ['id']],
  ['x', 'a%20b', ['user_id', 'id']],
])('GET reservations/%s/%s is 400', async (user, name, paths) => {
  const { status, body } = await call('GET', `${SENDER}/reservations/${user}/${name}`, { token: senderToken })
  expect(status).toBe(400)
  expect(body.errors.map((issue: { path: string }) => issue.path)).toEqual(paths)
})

test('GET of an unknown reservation is 404', async () => {
  for (const path of ['7/nowhere', '8/open']) {
    const answer = await call('GET', `${SENDER}/reservations/${path}`, { token: senderToken })
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } })
  }
})

test('a call that is not allowed gets no details about its issues', async () => {
  const token = await service.userToken(7)
  expect((await call('POST', `${SENDER}/reserve?x=1`, { token, body: '{' })).status).toBe(403)
  expect((await call('POST', `${SENDER}/batch`, { token: null, body: 'x'.repeat(2 ** 21) })).status).toBe(401)
})
