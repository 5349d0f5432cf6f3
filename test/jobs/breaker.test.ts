/** The breaker on real traffic: consume and feedback by the API, and turns of the job. */
import { describe, expect, test } from 'vitest'
import { liftPause } from '../../src/admin/pauses/pauses.ts'
import { forgetUser } from '../../src/db/breaker/settings.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { createPauses } from '../../src/engine/pauses.ts'
import { createBreaker, createBreakerCleaner } from '../../src/jobs/breaker.ts'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import { startSender } from '../http/sender-fixture.ts'
import { createQuickEraser, finishErasures } from '../support/erasure.ts'

const service = await startSender()
const { call, ask, allow, clock, db, someone } = service
const log = { info() {}, warn() {}, error() {} }
const now = () => clock.now
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const BREAKER = '/api/sms/admin/breaker'
const PAUSES = '/api/sms/admin/pauses'

/** A process with a breaker of its own. */
function createProcess() {
  const pauses = createPauses({ db, now })
  const rollup = createUsageRollup({ db, log, watched: async () => ['otp'] })
  const options = { db, log, now, pauses, rollup, intervalMs: 15_000, messageTypes: ['otp'] }
  return { ...createBreaker(options), pauses }
}
const breaker = createProcess()

/** The processes know of all pauses: the service reads them with each one that is made. */
async function readPauses(): Promise<void> {
  const { status } = await call('POST', '/api/sms/admin/pauses', { body: { user_id: 1, country: 'AQ' } })
  expect(status).toBe(201)
  await breaker.pauses.read()
}

async function set(patch: object) {
  const { status, body } = await call('PUT', BREAKER, { body: patch })
  expect(status, JSON.stringify(body)).toBe(200)
}

/** A turn, some time after the last one. */
async function turn(laterMs = 15_000) {
  clock.now += laterMs
  return breaker.judgeOnce()
}

let lastId = 0
/** Codes to a country, some of them entered. Resolves to how many left. */
async function send(user_id: number, codes: number, entered: number, country = 'FR'): Promise<number> {
  let granted = 0
  for (let n = 0; n < codes; n++) {
    const id = `code-${++lastId}`
    const { body } = await ask('consume', { user_id, id, units: 1, country, message_type: 'otp' })
    if (!body.granted) continue
    granted += 1
    if (n < entered) await ask('feedback', { user_id, id, verified: true })
  }
  return granted
}

async function userWithCodes(): Promise<number> {
  const user = someone()
  await allow({ user_id: user, limit: 100_000 })
  await send(user, 3, 3, 'DE')
  return user
}

const pausesOf = async (user: number) => (await call('GET', `/api/sms/admin/pauses?user_id=${user}`)).body.items
const trippedOf = async (user: number) =>
  (await call('GET', `/api/sms/admin/events?last=200&types=breaker.tripped`)).body.items.filter(
    (event: { user_id: number }) => event.user_id === user,
  )

describe('pumped codes', () => {
  test('are paused, once, and codes to other countries are not', async () => {
    await set({ mode: 'enforce' })
    const user = await userWithCodes()
    await send(user, 27, 1)
    const findings = await turn()
    expect(findings).toMatchObject([{ user_id: user, country: 'FR', observed: false }])
    expect(await pausesOf(user)).toMatchObject([
      {
        country: 'FR',
        message_types: ['otp'],
        origin: 'breaker',
        observed: false,
        active: true,
        until: new Date(clock.now + HOUR).toISOString(),
        evidence: { budget: 'flight', counted: 26, allowed: 25 },
        created_by: 'sms-quota',
      },
    ])
    expect(await trippedOf(user)).toMatchObject([{ data: { pause: { country: 'FR', observed: false } } }])
    await readPauses()
    expect(
      (await ask('reserve', { user_id: user, id: 'x', units: 1, country: 'FR', message_type: 'otp' })).body,
    ).toMatchObject({ granted: false, reason: 'destination_paused' })
    expect(await send(user, 1, 0, 'DE')).toBe(1)
    expect(await turn()).toEqual([])
    expect(await trippedOf(user)).toHaveLength(1)
  })

  test('are paused twice as long the next time, and not again for what was sent before a person lifted the pause', async () => {
    const user = await userWithCodes()
    await send(user, 27, 0)
    await turn()
    const [first] = await pausesOf(user)
    await liftPause(db, first.id, { now: now(), actor: 'anna', requestId: 'r' })
    await readPauses()
    expect(await turn()).toEqual([])
    clock.now += 2 * MINUTE
    expect(await send(user, 27, 0)).toBe(27)
    expect(await turn()).toMatchObject([{ user_id: user }])
    const [second] = await pausesOf(user)
    expect(Date.parse(second.until) - clock.now).toBe(2 * HOUR)
  })

  test('are only observed in the mode observe, and of users without feedback', async () => {
    await set({ mode: 'observe' })
    const user = await userWithCodes()
    await send(user, 27, 0)
    expect(await turn()).toMatchObject([{ user_id: user, observed: true }])
    expect(await turn()).toEqual([])
    expect(await pausesOf(user)).toMatchObject([
      { observed: true, active: false, until: new Date(clock.now - 15_000 + HOUR).toISOString() },
    ])
    await readPauses()
    expect(await send(user, 1, 0)).toBe(1)
    await set({ mode: 'enforce' })
    expect(await turn()).toMatchObject([{ user_id: user, observed: false }])
    const silent = someone()
    await allow({ user_id: silent, limit: 100 })
    await send(silent, 30, 0)
    expect(await turn()).toMatchObject([{ user_id: silent, observed: true }])
  })

  test('of a trickle exceed the budget of a day, judged once in a quarter of an hour', async () => {
    const user = await userWithCodes()
    const findings = []
    for (let hour = 0; hour < 5; hour++) {
      await send(user, 11, 0, 'GB')
      findings.push(...(await turn(MINUTE)))
      clock.now += 59 * MINUTE
    }
    expect(findings.filter(({ country }) => country === 'GB')).toMatchObject([
      { user_id: user, evidence: { budget: 'day' } },
    ])
  })
})

test('messages that came back trip nothing, of the last minutes and of the day, and those of which a part was refunded do', async () => {
  const user = await userWithCodes()
  const refund = (from: number, body: object = {}) =>
    Promise.all(
      Array.from({ length: 30 }, (_, n) => ask('refund', { user_id: user, id: `code-${from + 1 + n}`, ...body })),
    )
  // In an outage of the carrier, the report of each message says so.
  for (let hour = 0; hour < 3; hour++) {
    const from = lastId
    await send(user, 30, 0)
    await refund(from)
    expect(await turn()).toEqual([])
    clock.now += HOUR
  }
  const usage = await db.query({
    text: sql`select sum(returned_messages)::int as returned from usage where user_id = $1`,
    values: [user],
  })
  expect(usage).toEqual([{ returned: 90 }])
  const from = lastId
  for (let n = 0; n < 30; n++)
    await ask('consume', { user_id: user, id: `code-${++lastId}`, units: 2, country: 'FR', message_type: 'otp' })
  await refund(from, { total_units: 1 })
  expect(await turn()).toMatchObject([
    { user_id: user, evidence: { budget: 'flight', counted: 30, unverified_day: 0 } },
  ])
})

test('entered codes, countries and users that pass, and other types trip nothing; off counts nothing', async () => {
  const user = await userWithCodes()
  await set({ pass_countries: ['LV'], pass_users: [user] })
  await send(user, 30, 0, 'FR')
  const other = await userWithCodes()
  await send(other, 30, 0, 'LV')
  await send(other, 40, 30, 'AT')
  expect(await turn()).toEqual([])
  await set({ pass_countries: [], pass_users: [], mode: 'off' })
  expect(await turn()).toEqual([])
  await set({ mode: 'enforce', message_types: ['alert'] })
  expect(await turn()).toEqual([])
  await set({ message_types: null })
})

test('of many processes one judges, and a destination trips once', async () => {
  const user = await userWithCodes()
  await send(user, 30, 0)
  // Else one may judge while another adds up, and the destination would trip at the next turn.
  await createUsageRollup({ db, log, watched: async () => ['otp'] }).rollUpOnce()
  clock.now += 15_000
  const findings = (await Promise.all([1, 2, 3, 4].map(() => createProcess().judgeOnce()))).flat()
  expect(findings).toMatchObject([{ user_id: user }])
  expect(await pausesOf(user)).toHaveLength(1)
})

test('what an erasure of a user rolls up counts for other users, and is gone for the one who is erased', async () => {
  const [user, erased] = [await userWithCodes(), await userWithCodes()]
  await Promise.all([send(user, 30, 0), send(erased, 30, 0)])
  expect((await call('DELETE', `/api/sms/admin/users/${erased}/data`)).status).toBe(202)
  await finishErasures(createQuickEraser({ db, engine: service.engine, now, watched: async () => ['otp'] }))
  const counted = await db.query({ text: sql`select 1 from breaker_minute where user_id = $1`, values: [erased] })
  expect(counted).toEqual([])
  expect(await turn()).toMatchObject([{ user_id: user, evidence: { counted: 30 } }])
})

test('what a clock that was ahead has counted trips nothing, and is removed', async () => {
  const user = await userWithCodes()
  clock.now += 3 * HOUR
  await send(user, 30, 0)
  await createUsageRollup({ db, log, watched: async () => ['otp'] }).rollUpOnce()
  clock.now -= 3 * HOUR
  expect(await turn()).toEqual([])
  await createBreakerCleaner({ db, now }).removeOnce(clock.now)
  const counted = await db.query({
    text: sql`select 1 from breaker_minute where user_id = $1 and country = 'FR'`,
    values: [user],
  })
  expect(counted).toEqual([])
})

test('minutes are removed when they are judged no longer, and the settings say who gives feedback', async () => {
  clock.now += 15 * MINUTE
  await send(await userWithCodes(), 2, 1)
  await turn()
  const { body, headers } = await call('GET', BREAKER)
  expect(headers.etag).toBe(`"${body.version}"`)
  expect(body).toMatchObject({
    mode: 'enforce',
    message_types: ['otp'],
    budgets: { day: 40, hour: 15, flight: 25, share: 0.3 },
  })
  expect(body.users.with_feedback).toBeGreaterThan(0)
  const user_id = someone()
  for (const user of [user_id, body.latest[0].user_id]) {
    await call('PUT', `/api/sms/admin/users/${user}/profile`, { body: { name: 'Ann' } })
  }
  const made = await call('POST', PAUSES, { body: { user_id, country: 'AD' } })
  const { active, active_count, latest } = (await call('GET', BREAKER)).body
  expect(latest[0]).toMatchObject({ origin: 'breaker', user_name: 'Ann' })
  expect(active[0]).toMatchObject({ id: made.body.id, origin: 'person', user_name: 'Ann' })
  const all = (await call('GET', `${PAUSES}?active=true&page_size=200`)).body.items
  expect([active_count, active]).toEqual([all.length, all.slice(0, 10)])
  clock.now += 3 * HOUR + 16 * MINUTE
  await createBreakerCleaner({ db, now }).removeOnce(clock.now)
  expect(await db.query({ text: sql`select * from breaker_minute limit 1` })).toEqual([])
})

test('a user who is erased is in no setting, and not in what is recorded of them', async () => {
  const [kept, erased] = [someone(), someone()]
  await set({ pass_users: [kept, erased] })
  await db.transaction(tx => forgetUser(tx, erased))
  expect((await call('GET', BREAKER)).body.pass_users).toEqual([kept])
  const [change] = (await call('GET', '/api/sms/admin/audit?resource=breaker&page_size=1')).body.items
  expect(change.after.pass_users).toEqual([kept])
  await set({ pass_users: [] })
})

test('settings are changed by merging, by those who saw the last version, and are in the audit', async () => {
  const before = (await call('GET', BREAKER)).body
  const stale = await call('PUT', BREAKER, { body: { mode: 'observe' }, headers: { 'if-match': '"999"' } })
  expect([stale.status, stale.body.code]).toEqual([412, 'version_mismatch'])
  const headers = { 'if-match': `"${before.version}"` }
  const { status, body } = await call('PUT', BREAKER, { body: { budgets: { day: 60 } }, headers })
  expect([status, body.budgets, body.version]).toEqual([200, { ...before.budgets, day: 60 }, before.version + 1])
  expect((await call('PUT', BREAKER, { body: { budgets: { day: 60 } } })).body.version).toBe(body.version)
  const [change] = (await call('GET', '/api/sms/admin/audit?resource=breaker&page_size=1')).body.items
  expect(change).toMatchObject({
    version: body.version,
    before: { budgets: before.budgets },
    after: { budgets: { day: 60 } },
  })
  const wrong = await call('PUT', BREAKER, { body: { mode: 'on', budgets: { share: 2 } } })
  expect([wrong.status, wrong.body.errors.map(({ path }: { path: string }) => path)]).toEqual([
    400,
    ['/mode', '/budgets/share'],
  ])
})
