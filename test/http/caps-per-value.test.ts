/** Caps that count each recipient, country or tag by itself, and caps that count messages. */
import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { HOUR_MS, MINUTE_MS } from '../../src/domain/time/time.ts'
import { createRetention } from '../../src/jobs/retention.ts'
import { startSender } from './sender-fixture.ts'

const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64')
const service = await startSender({ env: { SECRETS_KEY } })
const { call, clock, ask, someone, allow, db } = service
const ADMIN = '/api/sms/admin'

const ANN = '+4915112345678'
const BEN = '+4915187654321'

/** A user with units, and a cap of 2 messages an hour to each recipient. */
async function capped(fields: object = {}): Promise<{ user_id: number; cap: number }> {
  const user_id = someone()
  await allow({ user_id, limit: 1000 })
  const cap = await allow({ user_id, kind: 'cap', limit: 2, period: 'hour', per: 'recipient', ...fields })
  return { user_id, cap }
}

const create = (body: object) => call('POST', `${ADMIN}/quota`, { body: { user_id: someone(), limit: 1, ...body } })

describe('such a cap', () => {
  test('shows what it counts, and no counters', async () => {
    const { cap } = await capped({ name: 'Codes' })
    const { body } = await call('GET', `${ADMIN}/quota/${cap}`)
    expect(body).toMatchObject({ per: 'recipient', counts: 'messages', alert_at: [], status: 'active' })
    expect(body).toMatchObject({ used: null, reserved: null, remaining: null, overage: 0 })
    expect((await create({ limit: 5 })).body).toMatchObject({ per: null, counts: 'units', used: 0 })
    expect((await create({ kind: 'cap', per: 'tag', counts: 'units', period: 'day', limit: 0 })).body).toMatchObject({
      counts: 'units',
      status: 'active',
    })
  })

  test.each([
    [{ per: 'recipient', period: 'hour' }, '/per', 'must be null unless the kind is cap'],
    [{ counts: 'messages' }, '/counts', 'must be units unless the kind is cap'],
    [{ kind: 'cap', per: 'tag' }, '/period', 'is required for a cap with per'],
    [{ kind: 'cap', period: 'minute' }, '/period', 'must be null, hour, day, week, month, year; minute is for'],
    [{ kind: 'cap', per: 'tag', period: 'hour', alert_at: [80] }, '/alert_at', 'must be [] for a cap with per'],
    [{ kind: 'cap', per: 'tag', period: 'hour', opening_used: 1 }, '/opening_used', 'must be 0 for a cap with per'],
    [{ kind: 'cap', per: 'number', period: 'hour' }, '/per', '"recipient", "country", "tag"'],
  ])('is refused as %o', async (fields, path, words) => {
    const { status, body } = await create(fields)
    expect([status, body.code]).toEqual([400, 'invalid_request'])
    expect(body.errors).toEqual([{ path, message: expect.stringContaining(words) }])
  })

  test('keeps what it counts', async () => {
    const { cap } = await capped()
    for (const change of [{ per: 'tag' }, { per: null }, { counts: 'units' }])
      expect((await call('PUT', `${ADMIN}/quota/${cap}`, { body: change })).body.code).toBe('immutable_field')
    const same = await call('PUT', `${ADMIN}/quota/${cap}`, {
      body: { per: 'recipient', counts: 'messages', limit: 3 },
    })
    expect(same).toMatchObject({ status: 200, body: { limit: 3 } })
  })

  test('is one of five', async () => {
    const { user_id } = await capped()
    const fields = { user_id, kind: 'cap', limit: 1, period: 'day' }
    for (const per of ['recipient', 'country', 'tag', 'tag']) await allow({ ...fields, per })
    const sixth = await create({ ...fields, per: 'country' })
    expect(sixth).toMatchObject({ status: 422, body: { code: 'too_many_quotas' } })
    expect(sixth.body.detail).toContain('5 caps')
    expect((await create(fields)).status).toBe(201)
  })
})

test('a limit holds for each recipient by itself, whichever way it is named', async () => {
  const { user_id, cap } = await capped()
  const send = (id: string, fields: object) => ask('reserve', { user_id, id, ...fields })
  expect((await send('a1', { units: 3, recipient: ANN })).body).toMatchObject({ granted: true })
  expect((await send('a2', { message: { to: ANN, text: 'Hello' } })).body.draws).toContainEqual(
    expect.objectContaining({ quota_id: cap, kind: 'cap', units: 1 }),
  )
  const denied = await send('a3', { units: 1, recipient: ANN, explain: true })
  expect(denied.body).toMatchObject({ granted: false, reason: 'cap_reached', limiting_quota_id: cap, remaining: 0 })
  expect(denied.body.retry_at).toBe('2026-03-15T13:00:00.000Z')
  expect(denied.body.explain).toContainEqual({ quota_id: cap, kind: 'cap', verdict: 'blocks', units: 0 })
  expect((await send('b1', { units: 1, recipient: BEN })).body).toMatchObject({ granted: true })
  const none = await ask('check', { user_id, units: 1, explain: true })
  expect(none.body.explain).toContainEqual({ quota_id: cap, kind: 'cap', verdict: 'no_value', units: 0 })
  expect((await ask('consume', { user_id, id: 'f', units: 1, recipient: ANN, force: true })).body.granted).toBe(true)
  expect((await verify(db, { userId: user_id })).differences).toEqual([])
})

test('a number is one recipient, however it is written, and any other text without what no reader sees', async () => {
  const written = ['+447911123456', '+4407911123456', '+44 (0)7911-123456', '447911123456', '0044 7911 123456']
  const strange = [
    'tel:+44-7911-123456',
    '\u200e+447911123456',
    '+44.7911.123.456 ',
    '＋４４７９１１１２３４５６',
    '++447911123456',
  ]
  const sent = async (calls: object[]) => {
    const { user_id } = await capped({ limit: 1 })
    const send = (op: 'check' | 'reserve', id: number, fields: object) =>
      ask(op, { user_id, ...(op === 'check' ? {} : { id: `m${id}` }), ...fields })
    const granted: boolean[] = []
    for (const [id, fields] of calls.entries()) {
      const checked = await send('check', id, { ...fields, explain: true })
      const reserved = await send('reserve', id, fields)
      expect(checked.body.granted).toBe(reserved.body.granted)
      granted.push(reserved.body.granted)
    }
    expect((await verify(db, { userId: user_id })).differences).toEqual([])
    return granted.filter(Boolean).length
  }
  const text = 'Your code is 4711'
  expect(await sent([...written, ...strange].map(recipient => ({ units: 1, recipient })))).toBe(1)
  expect(await sent(written.slice(0, 2).map(to => ({ message: { to, text } })))).toBe(1)
  expect(await sent([{ units: 1, recipient: '44 7911 123456' }, { message: { to: '+4407911123456', text } }])).toBe(1)
  const names = ['caf\u00e9', ' cafe\u0301', 'caf\u00e9\u200b', '\u202ecaf\u00e9 ']
  expect(await sent(names.map(recipient => ({ units: 1, recipient })))).toBe(1)
  expect(await sent(['+390612345678', '+39612345678'].map(recipient => ({ units: 1, recipient })))).toBe(2)
})

test('what is given back in the open window makes room, and later windows begin anew', async () => {
  const { user_id } = await capped()
  const send = async (id: string) => (await ask('reserve', { user_id, id, units: 4, recipient: ANN })).body.granted
  const settle = (op: 'commit' | 'release' | 'refund', id: string, total_units?: number) =>
    ask(op, { user_id, id, ...(total_units === undefined ? {} : { total_units }) })
  expect([await send('a'), await send('b'), await send('c')]).toEqual([true, true, false])
  // A part that is given back leaves the message: it has gone out.
  await settle('commit', 'a', 3)
  await settle('release', 'a')
  expect(await send('c')).toBe(false)
  await settle('refund', 'a')
  expect(await send('c')).toBe(true)
  await settle('release', 'b')
  expect([await send('d'), await send('e')]).toEqual([true, false])
  const from = clock.now
  clock.now += HOUR_MS
  expect([await send('e'), await send('f'), await send('g')]).toEqual([true, true, false])
  // It was made in a window that is over.
  await settle('release', 'c')
  expect(await send('g')).toBe(false)
  expect((await verify(db, { userId: user_id })).differences).toEqual([])
  clock.now = from
})

test('a counter that is lost is never counted below zero', async () => {
  const { user_id, cap } = await capped()
  const send = async (id: string, op = 'consume') =>
    (await ask(op, { user_id, id, units: 1, recipient: ANN })).body.granted
  expect([await send('a'), await send('b', 'reserve')]).toEqual([true, true])
  await db.query({ text: sql`delete from value_counter where quota_id = $1`, values: [cap] })
  expect((await ask('refund', { user_id, id: 'a' })).body.state).toBe('refunded')
  expect((await ask('release', { user_id, id: 'b' })).body.state).toBe('released')
  // With what is below zero, there would be room for four.
  expect([await send('c'), await send('d'), await send('e')]).toEqual([true, true, false])
  const below = db.query({ text: sql`update value_counter set used = -1 where quota_id = $1`, values: [cap] })
  await expect(below).rejects.toMatchObject({ code: '23514' })
})

test('units that expire make room in the open window, of a minute too', async () => {
  const { user_id } = await capped({ period: 'minute', limit: 1, counts: 'units' })
  const send = async (id: string) =>
    (await ask('reserve', { user_id, id, units: 1, recipient: ANN, ttl_seconds: 20 })).body.granted
  const from = clock.now
  expect([await send('a'), await send('b')]).toEqual([true, false])
  clock.now += 30_000
  const { body } = await call('GET', `/api/sms/sender/quota/reservations/${user_id}/a`, { token: service.senderToken })
  expect(body.state).toBe('expired')
  expect([await send('b'), await send('c')]).toEqual([true, false])
  clock.now = from + MINUTE_MS
  expect([await send('c'), await send('d')]).toEqual([true, false])
  clock.now = from
})

test('countries and tags are counted as they are named', async () => {
  const user_id = someone()
  await allow({ user_id, limit: 1000 })
  await allow({ user_id, kind: 'cap', limit: 1, period: 'day', per: 'country' })
  await allow({ user_id, kind: 'cap', limit: 10, period: 'day', per: 'tag', counts: 'units' })
  const send = async (id: string, fields: object) => (await ask('reserve', { user_id, id, ...fields })).body.granted
  expect(await send('1', { units: 6, country: 'DE', tag: 'sales' })).toBe(true)
  expect(await send('2', { units: 1, message_type: 'otp', country: 'DE' })).toBe(false)
  expect(await send('2', { message: { to: ANN, text: 'Hello' } })).toBe(false)
  expect(await send('2', { units: 5, country: 'AT', tag: 'sales' })).toBe(false)
  expect(await send('2', { units: 5, country: 'AT', tag: 'support' })).toBe(true)
  expect((await verify(db, { userId: user_id })).differences).toEqual([])
})

test('a cap that counts messages counts those that a reservation pays, without per too', async () => {
  const user_id = someone()
  await allow({ user_id, limit: 1000 })
  const cap = await allow({ user_id, kind: 'cap', limit: 10, counts: 'messages' })
  const grant = await ask('reserve', { user_id, id: 'slice', units: 50, messages: 8 })
  expect(grant.body.draws).toContainEqual(expect.objectContaining({ quota_id: cap, units: 8 }))
  expect((await ask('reserve', { user_id, id: 'more', units: 3, messages: 3 })).body).toMatchObject({
    reason: 'cap_reached',
    remaining: 0,
  })
  expect((await ask('check', { user_id, units: 900, messages: 2 })).body).toMatchObject({ granted: true })
  await ask('commit', { user_id, id: 'slice', total_units: 20 })
  expect((await call('GET', `${ADMIN}/quota/${cap}`)).body).toMatchObject({ used: 8, reserved: 0, remaining: 2 })
  const usage = await call(
    'GET',
    `${ADMIN}/quota/usage?user_id=${user_id}&interval=day&from=2026-03-15T00:00:00Z&to=2026-03-16T00:00:00Z`,
  )
  expect(usage.body.items[0]).toMatchObject({ committed: { units: 20, messages: 8 } })
  await ask('refund', { user_id, id: 'slice' })
  await ask('release', { user_id, id: 'slice' })
  expect((await call('GET', `${ADMIN}/quota/${cap}`)).body).toMatchObject({ used: 0, reserved: 0, status: 'active' })
  expect((await verify(db, { userId: user_id })).differences).toEqual([])
})

test('repetitions are those of one message, whichever recipient or tag they name', async () => {
  const { user_id } = await capped({ limit: 1 })
  const send = (recipient: string) => ask('reserve', { user_id, id: 'a', units: 1, recipient, tag: recipient })
  expect((await send(ANN)).body).toMatchObject({ granted: true, replayed: false })
  expect((await send(BEN)).body).toMatchObject({ granted: true, replayed: true })
})

test('a recipient beside a message is refused, and no error repeats one', async () => {
  const user_id = someone()
  const message = { to: ANN, text: 'Hello' }
  const beside = await ask('reserve', { user_id, id: 'a', message, recipient: BEN })
  expect(beside.body.errors).toEqual([{ path: '/recipient', message: expect.stringContaining('message') }])
  const bad = await ask('reserve', { user_id, id: 'a', units: 1, recipient: `${BEN}\n`, tag: 'x'.repeat(65) })
  expect(bad.body.errors.map(({ path }: { path: string }) => path)).toEqual(['/recipient', '/tag'])
  expect(JSON.stringify([beside.body, bad.body])).not.toContain(BEN.slice(1))
})

test('verify proves the counters of the window that is open now, and what retention has removed of it', async () => {
  const from = clock.now
  clock.now = Date.now()
  const { user_id, cap } = await capped({ period: 'year', limit: 10 })
  await ask('consume', { user_id, id: 'old', units: 3, recipient: ANN })
  await ask('reserve', { user_id, id: 'open', units: 1, recipient: ANN })
  await ask('consume', { user_id, id: 'other', units: 2, recipient: BEN })
  const proved = async () => {
    const { proofs, differences } = await verify(db, { userId: user_id })
    return { checked: proofs.get('values')?.checked, differences: differences.map(({ proof }) => proof) }
  }
  expect(await proved()).toEqual({ checked: 2, differences: [] })
  const later = clock.now + 1_000
  await createRetention({ db, now: () => later, retentionMs: 1 }).removeOnce(later)
  expect(
    (await call('GET', `/api/sms/sender/quota/reservations/${user_id}/old`, { token: service.senderToken })).status,
  ).toBe(404)
  expect(await proved()).toEqual({ checked: 2, differences: [] })
  await db.query({
    text: sql`update value_counter set used = used + 1 where quota_id = $1 and reserved = 1`,
    values: [cap],
  })
  expect(await proved()).toEqual({ checked: 2, differences: ['values'] })
  await db.query({ text: sql`delete from value_counter where quota_id = $1 and reserved = 1`, values: [cap] })
  expect((await proved()).differences).toEqual(['values'])
  clock.now = from
})

test('without a key for them, recipients and tags are not counted, and countries are', async () => {
  const plain = await startSender()
  const body = { user_id: 7, kind: 'cap', limit: 1, period: 'day' }
  const slot = { slot: 'codes', kind: 'cap', limit: 1, period: 'day' }
  for (const per of ['recipient', 'tag']) {
    const refused = await plain.call('POST', `${ADMIN}/quota`, { body: { ...body, per } })
    expect(refused.body.errors).toEqual([{ path: '/per', message: expect.stringContaining('SECRETS_KEY') }])
    const plan = await plain.call('POST', `${ADMIN}/plans`, { body: { name: 'Basic', slots: [{ ...slot, per }] } })
    expect(plan.body.errors).toEqual([{ path: '/slots/0/per', message: expect.stringContaining('SECRETS_KEY') }])
  }
  await plain.allow({ user_id: 7, limit: 10 })
  await plain.allow({ ...body, per: 'country' })
  const send = (id: string, country: string) => plain.ask('consume', { user_id: 7, id, units: 1, country })
  expect((await send('a', 'DE')).body.granted).toBe(true)
  expect((await send('b', 'DE')).body).toMatchObject({ granted: false, reason: 'cap_reached' })
  expect((await send('b', 'AT')).body.granted).toBe(true)
})

test('if a recipient is required, no draw goes without one', async () => {
  const strict = await startSender({ requireRecipient: true })
  await strict.allow({ user_id: 7, limit: 10 })
  const refused = await strict.ask('reserve', { user_id: 7, id: 'a', units: 1 })
  expect(refused.body.errors).toEqual([{ path: '/recipient', message: expect.stringContaining('required') }])
  expect((await strict.ask('reserve', { user_id: 7, id: 'a', units: 1, recipient: ANN })).body.granted).toBe(true)
  expect((await strict.ask('check', { user_id: 7, message: { to: ANN, text: 'Hello' } })).body.granted).toBe(true)
})

test('two services never grant more than the limit of one value', async () => {
  const one = await startSender({ env: { SECRETS_KEY } })
  const database = Promise.resolve({ url: one.databaseUrl, db: one.db })
  const other = await startSender({ database, env: { SECRETS_KEY } })
  await one.allow({ user_id: 7, limit: 10_000 })
  const cap = await one.allow({ user_id: 7, kind: 'cap', limit: 5, period: 'day', per: 'recipient' })
  const tags = await one.allow({ user_id: 7, kind: 'cap', limit: 15, period: 'day', per: 'tag' })
  const tag = 'campaign-of-spring'
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, n) => {
      const service = n % 2 === 0 ? one : other
      return service.ask('consume', {
        user_id: 7,
        id: `m${n}`,
        units: 1,
        recipient: [ANN, BEN, `${ANN}9`, `${BEN}9`][n % 4],
        tag,
      })
    }),
  )
  const granted = answers.filter(({ body }) => body.granted)
  expect(answers.every(({ status }) => status === 200)).toBe(true)
  const counters = await one.db.query<{ quota_id: number; used: number }>({
    text: sql`select quota_id, used from value_counter order by quota_id, used`,
  })
  expect(granted).toHaveLength(15)
  expect(counters.filter(({ quota_id }) => quota_id === cap).every(({ used }) => used <= 5)).toBe(true)
  expect(counters.filter(({ quota_id }) => quota_id === tags)).toEqual([{ quota_id: tags, used: 15 }])
})
