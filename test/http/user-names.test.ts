/** What administrators read shows the references and names of users beside their ids. */
import { describe, expect, test } from 'vitest'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import { startSender } from './sender-fixture.ts'

const { app, call, allow, ask, db, adminToken, userToken } = await startSender({ showsNoNames: true })
const ADMIN = '/api/sms/admin'
const NAMED = 601
const NAMELESS = 602
const NAMES = { user_ref: 'customer-601', user_name: 'Beispiel & Söhne' }
const NONE = { user_ref: null, user_name: null }

await call('PUT', `${ADMIN}/users/${NAMED}/profile`, { body: { ref: NAMES.user_ref, name: NAMES.user_name } })
for (const user of [NAMED, NAMELESS]) {
  await allow({ user_id: user, limit: 2, name: `Package ${user}`, alert_at: [50] })
  await ask('consume', { user_id: user, id: 'msg-1', units: 2 })
  await ask('consume', { user_id: user, id: 'msg-2', units: 9 })
}
await createUsageRollup({ db, log: console }).rollUpOnce()

interface Row {
  user_id?: number | null
  quota?: Row
  [field: string]: unknown
}

/** All rows that have a user, in an answer or on the lines of an export. */
function rowsOf(body: unknown): Row[] {
  const found: Row[] = []
  const look = (value: unknown, name: string): void => {
    if (typeof value !== 'object' || value === null || ['before', 'after', 'erasure', 'draws'].includes(name)) return
    if ('user_id' in value) found.push(value as Row)
    for (const [inner, one] of Object.entries(value)) look(one, inner)
  }
  look(body, '')
  return found
}

const PERIOD = 'from=2026-03-01T00:00:00Z&to=2026-03-16T00:00:00Z'

describe('names are shown', () => {
  test.each([
    ['/quota/list'],
    ['/quota/list?user_ref=customer-601'],
    [`/quota/summary?user_id=${NAMED}`],
    [`/quota/summary?user_id=${NAMELESS}`],
    ['/quota/alerts'],
    ['/quota/reservations'],
    [`/quota/reservations/${NAMED}/msg-1`],
    [`/quota/usage?${PERIOD}&interval=month&group_by=user`],
    [`/quota/usage/top?${PERIOD}`],
    ['/users'],
    [`/users/${NAMED}`],
    [`/users/${NAMELESS}`],
    ['/search?q=msg-'],
    ['/search?q=Package'],
    ['/audit'],
    ['/denials'],
  ])('in %s', async path => {
    const { status, body } = await call('GET', `${ADMIN}${path}`)
    expect(status, JSON.stringify(body)).toBe(200)
    const rows = rowsOf(body)
    expect(rows.length).toBeGreaterThan(0)
    for (const row of rows) expect(row).toMatchObject(row.user_id === NAMED ? NAMES : NONE)
  })

  test('in a quota and a denial, and in what changes of a quota answer', async () => {
    const { body: list } = await call('GET', `${ADMIN}/quota/list?user_id=${NAMED}`)
    const { body: denials } = await call('GET', `${ADMIN}/denials?user_id=${NAMED}`)
    const one = await call('GET', `${ADMIN}/quota/${list.items[0].id}`)
    expect(one.body).toMatchObject(NAMES)
    expect((await call('GET', `${ADMIN}/denials/${denials.items[0].denial_id}`)).body).toMatchObject(NAMES)
    const changed = await call('PUT', `${ADMIN}/quota/${list.items[0].id}`, { body: { name: 'Package 601' } })
    expect(changed.body).toMatchObject(NAMES)
    const made = await call('POST', `${ADMIN}/quota`, { body: { user_id: NAMELESS, limit: 1 } })
    expect([made.status, made.body]).toMatchObject([201, NONE])
  })

  test('in transfers, of the giver and of the receiver', async () => {
    const keyed = (key: string, body: object) => ({ headers: { 'idempotency-key': key }, body })
    const RECEIVER = { to_user_ref: NAMES.user_ref, to_user_name: NAMES.user_name }
    for (const [giver, receiver, expected] of [
      [NAMED, NAMELESS, { ...NAMES, to_user_ref: null, to_user_name: null }],
      [NAMELESS, NAMED, { ...NONE, ...RECEIVER }],
      [NAMED, NAMED, { ...NAMES, ...RECEIVER }],
    ] as const) {
      const { body: quota } = await call('POST', `${ADMIN}/quota`, { body: { user_id: giver, limit: 9 } })
      const make = () =>
        call('POST', `${ADMIN}/quota/${quota.id}/transfer`, keyed(`t${quota.id}`, { to_user_id: receiver, units: 2 }))
      const { transfer } = (await make()).body
      const path = `${ADMIN}/transfers/${transfer.id}`
      const returned = await call('POST', `${path}/return`, keyed(`r${quota.id}`, { units: 1 }))
      const list = await call('GET', `${ADMIN}/transfers?user_id=${receiver}`)
      const shown = [
        transfer,
        (await make()).body.transfer,
        returned.body.transfer,
        (await call('GET', path)).body,
        list.body.items[0],
      ]
      for (const one of shown)
        expect(one).toMatchObject({ id: transfer.id, user_id: giver, to_user_id: receiver, ...expected })
    }
  })

  test.each(['quotas', 'usage', 'denials', 'ledger'])('in the export of %s', async name => {
    const headers = { authorization: `Bearer ${adminToken}` }
    const { body } = await app.inject({ url: `${ADMIN}/export/${name}`, headers })
    const rows = body
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as Row)
    expect(rows.some(({ user_id }) => user_id === NAMED)).toBe(true)
    for (const row of rows) expect(row).toMatchObject(row.user_id === NAMED ? NAMES : NONE)
  })

  test('in the answer to a check', async () => {
    const { body } = await call('POST', `${ADMIN}/quota/check`, { body: { user_id: NAMELESS, units: 1 } })
    expect(body).toMatchObject({ granted: true, ...NONE })
  })

  test('to administrators, not to users and senders, and in no event', async () => {
    const token = await userToken(NAMED)
    for (const path of ['/api/sms/quota/list', '/api/sms/quota/summary', '/api/sms/quota/reservations'])
      expect(JSON.stringify((await call('GET', path, { token })).body)).not.toMatch(/user_ref|user_name/)
    const reserved = await ask('reserve', { user_id: NAMED, id: 'msg-1', units: 2 })
    expect(JSON.stringify(reserved.body)).not.toMatch(/user_ref|user_name/)
    expect(JSON.stringify((await call('GET', `${ADMIN}/events`)).body)).not.toMatch(/customer-601|Söhne/)
  })
})

describe('the search finds users', () => {
  const found = async (q: string) => {
    const { status, body } = await call('GET', `${ADMIN}/search?q=${encodeURIComponent(q)}`)
    expect(status).toBe(200)
    return body.users.map(({ user_id }: Row) => user_id)
  }

  test.each([
    ['customer-6', [NAMED]],
    ['customer-601', [NAMED]],
    ['Customer-601', []],
    ['beispiel', [NAMED]],
    ['BEISPIEL & S', [NAMED]],
    ['Söhne', []],
    ['601', [NAMED]],
    ['60', [NAMED, NAMELESS]],
    ['%', []],
    ['_', []],
  ])('by %s', async (q, users) => {
    expect(await found(q)).toEqual(users)
  })

  test('each once, however it is found, and at most as many as are shown', async () => {
    for (let user = 7_000; user < 7_025; user++)
      await call('PUT', `${ADMIN}/users/${user}/profile`, { body: { ref: `70-${user}`, name: `70 ${user}` } })
    const { body } = await call('GET', `${ADMIN}/search?q=70`)
    expect(new Set(body.users.map(({ user_id }: Row) => user_id)).size).toBe(20)
    expect(body.has_more.users).toBe(true)
    expect(await found('70-7003')).toEqual([7_003])
    expect(await found('70 700')).toEqual([7_000, 7_001, 7_002, 7_003, 7_004, 7_005, 7_006, 7_007, 7_008, 7_009])
  })
})
