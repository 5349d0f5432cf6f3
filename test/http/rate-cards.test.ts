import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { MAX_RATE_CARDS, MAX_RATE_LINES } from '../../src/domain/basics/bounds.ts'
import { startSender } from './sender-fixture.ts'

const service = await startSender()
const { call, clock, db, ask, allow, someone } = service
const CARDS = '/api/sms/admin/rate-cards'
const DAY_MS = 86_400_000
const inMs = (ms: number) => new Date(clock.now + ms).toISOString()

const LINES = [
  { per_segment: 400 },
  { prefix: '49', per_segment: 75, per_message: 10 },
  { prefix: '49', message_type: 'otp', per_segment: 50 },
]
const GERMAN = '+4915112345678'
const KAZAKH = '+77712345678'
const message = (to = GERMAN, text = 'Hi') => ({ to, text })

async function makeCard(body: object = {}): Promise<number> {
  const answer = await call('POST', CARDS, { body: { name: 'Standard', lines: LINES, ...body } })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body.id
}

async function priced(user_id: number, fields: object = {}) {
  const { body } = await ask('check', { user_id, message: message(), ...fields })
  return [body.units, body.rate?.card_id]
}

describe('a card', () => {
  test('is made, read, listed, renamed and archived', async () => {
    const { body: made, headers } = await call('POST', CARDS, { body: { name: 'Standard', lines: LINES } })
    const card = {
      ...{ id: made.id, version: 1, name: 'Standard', is_default: false, archived: false, lines: 3 },
      ...{ created_at: inMs(0), created_by: '1', updated_at: inMs(0), updated_by: '1' },
    }
    expect(made).toEqual(card)
    expect([headers.location, headers.etag]).toEqual([`${CARDS}/${made.id}`, '"1"'])
    const list = { version: 1, state: 'holds', valid_from: inMs(0), lines: 3, created_at: inMs(0), created_by: '1' }
    const path = `${CARDS}/${made.id}`
    expect((await call('GET', path)).body).toEqual({ ...card, plans: 0, users: 0, lists: [list] })
    expect((await call('GET', CARDS)).body.items[0]).toEqual(card)

    clock.now += 1_000
    const renamed = { ...card, name: 'Basic', updated_at: inMs(0) }
    expect((await call('PUT', path, { body: { name: 'Basic' } })).body).toEqual(renamed)
    expect((await call('PUT', path, { body: { name: 'B' }, headers: { 'if-match': '"7"' } })).status).toBe(412)
    expect((await call('DELETE', path)).status).toBe(204)
    expect((await call('DELETE', path)).status).toBe(204)
    expect((await call('GET', `${CARDS}?archived=true`)).body.items[0]).toMatchObject({ id: made.id, archived: true })
    expect((await call('PUT', path, { body: { name: 'C' } })).body.code).toBe('rate_card_archived')
    expect((await call('PUT', `${path}/lines`, { body: { lines: LINES } })).body.code).toBe('rate_card_archived')
    const audit = await call('GET', `/api/sms/admin/audit?resource=rate_card&thing_id=${made.id}`)
    expect(audit.body.items.map(({ action }: { action: string }) => action)).toEqual(['archived', 'updated', 'created'])
  })

  test('charges one unit a segment without lines', async () => {
    const { body } = await call('GET', `${CARDS}/${await makeCard({ lines: undefined })}/lines`)
    expect(body.items).toEqual([{ prefix: null, country: null, message_type: null, per_segment: 1, per_message: 0 }])
  })

  test('is refused where it is the default, or that of a plan or a user', async () => {
    const [first, second] = [await makeCard({ is_default: true }), await makeCard()]
    const user_id = someone()
    const codeOf = async (id: number) => (await call('DELETE', `${CARDS}/${id}`)).body?.code
    expect(await codeOf(first)).toBe('rate_card_in_use')
    const { body: plan } = await call('POST', '/api/sms/admin/plans', {
      body: { name: 'Basic', slots: [{ slot: 'monthly', limit: 5_000 }], rate_card_id: second },
    })
    expect(await codeOf(second)).toBe('rate_card_in_use')
    await call('PUT', `/api/sms/admin/plans/${plan.id}`, { body: { rate_card_id: null } })
    await call('PUT', `/api/sms/admin/users/${user_id}/profile`, { body: { rate_card_id: second } })
    expect(await codeOf(second)).toBe('rate_card_in_use')
    await call('PUT', `/api/sms/admin/users/${user_id}/profile`, { body: { rate_card_id: null } })
    // A plan that is archived counts as long as a user has it.
    await call('PUT', `/api/sms/admin/plans/${plan.id}`, { body: { rate_card_id: second } })
    await call('PUT', `/api/sms/admin/users/${user_id}/plan`, { body: { plan_id: plan.id } })
    await call('DELETE', `/api/sms/admin/plans/${plan.id}`)
    expect(await codeOf(second)).toBe('rate_card_in_use')
    await call('DELETE', `/api/sms/admin/users/${user_id}/plan`)
    expect(await codeOf(second)).toBeUndefined()
    // One default at a time.
    const third = await makeCard({ is_default: true })
    expect((await call('GET', `${CARDS}/${first}`)).body.is_default).toBe(false)
    await call('PUT', `${CARDS}/${third}`, { body: { is_default: false } })
  })

  test.each(['plans', 'users'])('that is archived, or that there is not, is refused for %s', async of => {
    const archived = await makeCard()
    await call('DELETE', `${CARDS}/${archived}`)
    for (const rate_card_id of [archived, 999_999]) {
      const body = { rate_card_id, ...(of === 'plans' ? { name: 'Basic', slots: [{ slot: 'a', limit: 1 }] } : {}) }
      const answer =
        of === 'plans'
          ? await call('POST', '/api/sms/admin/plans', { body })
          : await call('PUT', `/api/sms/admin/users/${someone()}/profile`, { body })
      expect([answer.status, answer.body.errors[0].path]).toEqual([400, '/rate_card_id'])
    }
  })

  test.each<[string, object[], string]>([
    ['a prefix with a plus', [...LINES, { prefix: '+49', per_segment: 1 }], '/lines/3/prefix'],
    ['a prefix of eleven digits', [...LINES, { prefix: '49151123456', per_segment: 1 }], '/lines/3/prefix'],
    ['a fraction', [...LINES, { prefix: '33', per_segment: 0.5 }], '/lines/3/per_segment'],
    ['too much', [...LINES, { prefix: '33', per_segment: 1_000_001 }], '/lines/3/per_segment'],
    ['no line for all', LINES.slice(1), '/lines'],
    ['two lines of one key', [...LINES, { prefix: '49', per_segment: 1 }], '/lines/3'],
    ['no lines', [], '/lines'],
    [
      'too many lines',
      Array.from({ length: MAX_RATE_LINES + 1 }, (_, n) => ({ prefix: `${n + 1}`, per_segment: 1 })),
      '/lines',
    ],
  ])('is refused with %s', async (_, lines, path) => {
    const { status, body } = await call('POST', CARDS, { body: { name: 'Bad', lines } })
    expect([status, body.errors?.[0]?.path]).toEqual([400, path])
  })

  test('is one of as many as there may be', async () => {
    await db.query({
      text: sql`insert into rate_card (shard, id, version, line_count, name, is_default, created_at, created_by, updated_at, updated_by)
             select 0, 100000 + n, 1, 1, 'Filler', false, now(), '1', now(), '1' from generate_series(1, $1::int) n`,
      values: [MAX_RATE_CARDS],
    })
    const { status, body } = await call('POST', CARDS, { body: { name: 'One more' } })
    expect([status, body.code]).toEqual([422, 'too_many_rate_cards'])
    await db.query({ text: sql`delete from rate_card where name = 'Filler'` })
  })
})

describe('prices', () => {
  test('say what changes, and hold at once', async () => {
    const id = await makeCard()
    const lines = [
      { per_segment: 400 },
      { prefix: '49', per_segment: 80, per_message: 10 },
      { prefix: '33', per_segment: 60 },
    ]
    const dry = await call('PUT', `${CARDS}/${id}/lines?dry_run=true`, { body: { lines } })
    expect(dry.body).toMatchObject({
      dry_run: true,
      card: { version: 1 },
      changes: { new: 1, gone: 1, dearer: 1, cheaper: 0 },
    })
    expect(dry.body.changed[2]).toEqual({
      ...{ prefix: '49', country: null, message_type: null, change: 'dearer' },
      ...{ before: { per_segment: 75, per_message: 10 }, after: { per_segment: 80, per_message: 10 } },
    })
    const headers = { 'if-match': dry.headers.etag ?? '', 'idempotency-key': 'prices-1' }
    const set = await call('PUT', `${CARDS}/${id}/lines`, { body: { lines }, headers })
    expect(set.body).toEqual({ ...dry.body, dry_run: false, card: { ...dry.body.card, version: 2 } })
    expect((await call('PUT', `${CARDS}/${id}/lines`, { body: { lines }, headers })).body).toEqual(set.body)
    expect((await call('GET', `${CARDS}/${id}/lines?prefix=4`)).body.items).toEqual([
      { prefix: '49', country: null, message_type: null, per_segment: 80, per_message: 10 },
    ])
    expect((await call('GET', `${CARDS}/${id}/lines?version=1`)).body.items).toHaveLength(3)
    expect((await call('GET', `${CARDS}/${id}/lines?version=3`)).status).toBe(404)
  })

  test('are taken as CSV, too, as spreadsheets write it', async () => {
    const id = await makeCard()
    const file = 'prefix;message_type;per_segment\r\n;;400\r\n49;;80\r\n49;otp;50\r\n'
    const put = (body: string, query = '') =>
      call('PUT', `${CARDS}/${id}/lines${query}`, { body, headers: { 'content-type': 'text/csv' } })
    const dry = await put(file, '?dry_run=true')
    expect(dry.body).toMatchObject({ dry_run: true, changes: { new: 0, gone: 0, dearer: 0, cheaper: 1 } })
    expect((await put(file, `?valid_from=${inMs(DAY_MS)}`)).body).toMatchObject({
      valid_from: inMs(DAY_MS),
      card: { lines: 3 },
    })
    const { body: refused } = await put(`${file}"33;;1`)
    expect(refused.errors[0]).toEqual({ path: '/lines', message: 'line 5: a quotation mark is not closed' })
    expect((await put('prefix,price\n49,1\n')).body.errors[0].path).toBe('/lines')
    expect((await put('prefix,per_segment\n,1\n+49,1\n')).body.errors[0].path).toBe('/lines/1/prefix')
  })

  test('that are to come hold from their instant on, and are compared with those of before', async () => {
    const id = await makeCard({ is_default: true })
    const user_id = someone()
    await allow({ user_id, limit: 100_000 })
    const set = (per_segment: number, ms: number) =>
      call('PUT', `${CARDS}/${id}/lines?valid_from=${inMs(ms)}`, { body: { lines: [{ per_segment }] } })
    expect((await set(500, DAY_MS)).body.changes).toEqual({ new: 0, gone: 2, dearer: 1, cheaper: 0 })
    expect((await set(450, 2 * DAY_MS)).body.changes).toEqual({ new: 0, gone: 0, dearer: 0, cheaper: 1 })
    expect(await priced(user_id)).toEqual([85, id])
    clock.now += DAY_MS - 1
    expect(await priced(user_id)).toEqual([85, id])
    clock.now += 1
    expect(await priced(user_id)).toEqual([500, id])
    const { body } = await call('GET', `${CARDS}/${id}`)
    expect(body.lists.map(({ state }: { state: string }) => state)).toEqual(['upcoming', 'holds', 'past'])
    clock.now += DAY_MS
    expect(await priced(user_id)).toEqual([450, id])
    await call('PUT', `${CARDS}/${id}`, { body: { is_default: false } })
  })

  test('are refused for the past, for too far ahead, and for too many times', async () => {
    const id = await makeCard()
    const set = (ms: number) =>
      call('PUT', `${CARDS}/${id}/lines?valid_from=${inMs(ms)}`, { body: { lines: [{ per_segment: 1 }] } })
    for (const ms of [-1, 90 * DAY_MS + 1]) {
      const { status, body } = await set(ms)
      expect([status, body.errors[0].path]).toEqual([400, '/valid_from'])
    }
    for (const days of [1, 2, 3]) expect((await set(days * DAY_MS)).status).toBe(200)
    expect((await set(4 * DAY_MS)).body.code).toBe('too_many_rate_cards')
  })

  test('of 20,000 lines are read page by page', async () => {
    const lines = [
      { per_segment: 9 },
      ...Array.from({ length: MAX_RATE_LINES - 1 }, (_, n) => ({ prefix: `${n + 1}`, per_segment: 1 })),
    ]
    const id = await makeCard({ lines })
    const seen = new Set<string>()
    for (let cursor = ''; ; ) {
      const { body } = await call('GET', `${CARDS}/${id}/lines?page_size=100&prefix=19${cursor}`)
      for (const { prefix } of body.items) seen.add(prefix)
      if (body.next_cursor === null) break
      cursor = `&cursor=${body.next_cursor}`
    }
    // 19 itself, 1, and the longer ones: 10 of three digits, 100 of four, 1,000 of five.
    expect(seen.size).toBe(1_112)
  })
})

describe('a message', () => {
  test('is priced by the card of its user: its own, that of its plan, the default', async () => {
    const cards = await Promise.all([10, 20, 30].map(per_segment => makeCard({ lines: [{ per_segment }] })))
    const [own, ofPlan, standard] = cards
    const user_id = someone()
    const set = (rate_card_id: number | null) =>
      call('PUT', `/api/sms/admin/users/${user_id}/profile`, { body: { rate_card_id } })
    await allow({ user_id, limit: 100_000 })
    expect(await priced(user_id)).toEqual([1, undefined])
    await call('PUT', `${CARDS}/${standard}`, { body: { is_default: true } })
    expect(await priced(user_id)).toEqual([30, standard])
    const { body: plan } = await call('POST', '/api/sms/admin/plans', {
      body: { name: 'Basic', slots: [{ slot: 'monthly', limit: 5_000 }], rate_card_id: ofPlan },
    })
    expect(await priced(user_id)).toEqual([30, standard])
    await call('PUT', `/api/sms/admin/users/${user_id}/plan`, { body: { plan_id: plan.id } })
    expect(await priced(user_id)).toEqual([20, ofPlan])
    await set(own ?? null)
    expect(await priced(user_id)).toEqual([10, own])
    expect(await priced(someone())).toEqual([30, standard])
    await set(null)
    expect(await priced(user_id)).toEqual([20, ofPlan])
    await call('DELETE', `/api/sms/admin/users/${user_id}/plan`)
    expect(await priced(user_id)).toEqual([30, standard])
    await call('PUT', `${CARDS}/${standard}`, { body: { is_default: false } })
  })

  test('keeps and shows its price, in answers, lists and exports; usage counts its segments', async () => {
    const id = await makeCard({ is_default: true })
    const user_id = someone()
    await allow({ user_id, limit: 1_000 })
    const rate = { card_id: id, version: 1, per_segment: 75, per_message: 10 }
    const text = 'x'.repeat(200)
    const reserved = await ask('reserve', { user_id, id: 'm', message: message(GERMAN, text) })
    expect(reserved.body).toMatchObject({ granted: true, units: 160, segments: 2, rate, remaining: 840 })
    const denied = await ask('reserve', { user_id, id: 'n', message: message(KAZAKH, text.repeat(2)) })
    expect(denied.body).toMatchObject({ granted: false, units: 1_200, segments: 3, rate: { per_segment: 400 } })
    expect((await ask('reserve', { user_id, id: 'o', units: 2 })).body).toMatchObject({
      units: 2,
      segments: null,
      rate: null,
    })
    const changed = await call('PUT', `${CARDS}/${id}/lines`, { body: { lines: [{ per_segment: 7 }] } })
    expect(changed.status).toBe(200)
    const again = await ask('reserve', { user_id, id: 'm', message: message(GERMAN, text) })
    expect(again.body).toMatchObject({ granted: true, replayed: true, units: 160, rate })
    expect((await ask('commit', { user_id, id: 'm', total_segments: 1 })).body).toMatchObject({ committed: 85 })
    expect((await ask('commit', { user_id, id: 'm', total_segments: 4 })).body.code).toBe('exceeds_reservation')
    const forced = await call('POST', '/api/sms/sender/quota/commit', {
      token: await service.token({ sub: 'forcer', roles: ['sms-quota:sender', 'sms-quota:force'] }),
      body: { user_id, id: 'm', total_segments: 4, force: true },
    })
    expect(forced.body).toMatchObject({ units: 310, committed: 310, segments: 4 })
    expect((await ask('refund', { user_id, id: 'm', total_segments: 1 })).body).toMatchObject({ refunded: 75 })
    expect((await ask('commit', { user_id, id: 'o', total_segments: 1 })).body.code).toBe('no_rate')
    const both = await ask('commit', { user_id, id: 'm', total_units: 1, total_segments: 1 })
    expect([both.status, both.body.errors[0].path]).toEqual([400, '/total_segments'])
    const listed = await call('GET', `/api/sms/admin/quota/reservations?user_id=${user_id}`)
    expect(listed.body.items.find((one: { id: string }) => one.id === 'm')).toMatchObject({
      units: 310,
      segments: 4,
      rate,
    })
    const report = await call(
      'GET',
      `/api/sms/admin/quota/usage?user_id=${user_id}&from=${inMs(-DAY_MS)}&to=${inMs(DAY_MS)}&interval=day`,
    )
    expect(report.body.total).toMatchObject({
      committed: { units: 310 },
      committed_segments: 4,
      denied: { units: 1_200 },
    })
    await call('PUT', `${CARDS}/${id}`, { body: { is_default: false } })
  })
})
