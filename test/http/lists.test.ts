/**
 * What all lists by cursor have in common: each row once and in order, in pages of any size, by each filter and any two of them; a cursor
 * fixes the filters and belongs to its list. The routes come from the service's own OpenAPI document, so that no list and no filter is missing.
 */
import { describe, expect, test } from 'vitest'
import { type AuditKey, listChanges } from '../../src/db/changes/audit.ts'
import { CHANGE_LOGS } from '../../src/db/changes/logs.ts'
import type { Page, Slice } from '../../src/db/lists/pages.ts'
import { listPauses } from '../../src/db/pauses/lists.ts'
import { listDenials } from '../../src/db/reservations/denials.ts'
import { listReservations, type ReservationKey } from '../../src/db/reservations/lists.ts'
import { listOfSender, type SenderKey } from '../../src/db/reservations/lists-of-senders.ts'
import { MAX_INTEGER } from '../../src/domain/basics/bounds.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { AUDITED_RESOURCES } from '../../src/domain/events/audit.ts'
import type { DenialKey } from '../../src/domain/units/denial.ts'
import { readDocument } from '../support/fuzz/document.ts'
import { type Answer, START, startService } from '../support/service.ts'
import { rawSql } from '../support/sql.ts'

type Item = Answer['body']

interface Filter {
  value: string | number
  /** Default: those whose field of this name has the value. */
  selects?(item: Item): boolean
  /** Of a filter that has a value in each list: those of this value, in the order of the list. */
  instead?: string[]
}

interface List {
  path: string
  token?: string
  nameOf(item: Item): string
  /** The rows, in the order of the list. */
  all: string[]
  filters?: Record<string, Filter>
  sizeName?: string
  /** Whether a cursor holds the filters. Default: yes. */
  isFixing?: boolean
  /** Lists of whose cursors this one takes none. */
  foreign?: Pick<List, 'path' | 'token'>[]
  /** All pages of the rows that a filter selects, which have `size` rows at most and read `max`. */
  scan?(size: number, max: number): Promise<string[][]>
}

const service = await startService()
const { call, clock, db } = service
const ADMIN = '/api/sms/admin'
const MINE = 7
/** Of the same shard. */
const OTHER = Array.from({ length: 10_000 }, (_, n) => MINE + 1 + n).find(user => shardOf(user) === shardOf(MINE)) ?? 0
const [mine, others] = [await service.userToken(MINE), await service.userToken(OTHER)]
const at = (seconds: number) => new Date(START + seconds * 1_000).toISOString()
const fill = (text: string) => db.query({ text: rawSql`${text}` })
/** The names that a query selects, in its order. */
const names = async (text: string) =>
  (await db.query<{ name: string }>({ text: rawSql`${text}` })).map(({ name }) => name)
/** SQL for one of the values in turn; `every` neighbors get the same. */
const inTurn = (values: readonly unknown[], every = 1) =>
  `(array[${values.map(value => (typeof value === 'string' ? `'${value}'` : String(value))).join(', ')}])[1 + n / ${every} % ${values.length}]`
/** SQL for a time some seconds after the start, or before it. */
const sqlAt = (seconds: string) => `('${at(0)}'::timestamptz + (${seconds}) * interval '1 s')`
const userAt = (
  every: number,
  users = [MINE, OTHER],
) => `(values ${users.map((user, n) => `(${n}, ${user}, ${shardOf(user)})`).join(', ')})
  u (nth, user_id, shard) on u.nth = n / ${every} % ${users.length}`

/** Makes a change; the answer is what it made. */
async function change(method: string, path: string, body?: object, options: object = {}): Promise<Item> {
  const answer = await call(method, `${ADMIN}${path}`, { ...options, ...(body === undefined ? {} : { body }) })
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
  return answer.body
}

// Changes at two times, by all that the audit knows but the breaker and addresses.
const colleague = { token: await service.token({ sub: 'colleague', roles: ['sms-quota:admin'] }) }
const named = { headers: { 'x-request-id': 'named' } }
await fill(
  `insert into account (shard, user_id) values ${[MINE, OTHER, 9].map(user => `(${shardOf(user)}, ${user})`).join(', ')}`,
)
const quota = await change('POST', '/quota', { user_id: MINE, limit: 5 })
const second = await change('POST', '/quota', { user_id: MINE, limit: 5 }, colleague)
const twin = await change('POST', '/quota', { user_id: OTHER, limit: 5 }, named)
/** Prices, some of them for longer prefixes of 4. */
const LINES = [null, '4', '49', '491', '33', '1', '7', '44'].map(prefix => ({ prefix, per_segment: 1 }))
const plans: Item[] = []
for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
  plans.unshift(await change('POST', '/plans', { name, slots: [{ slot: 'monthly', limit: 5 }] }))
const [plan] = plans
const cards: Item[] = []
for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
  cards.unshift(await change('POST', '/rate-cards', { name, lines: LINES.slice(0, 2) }))
const [card] = cards
await change('PUT', `/rate-cards/${card?.id}/lines`, { lines: LINES })
const webhook = await change('POST', '/webhooks', { url: 'https://receiver.example/' })
await change('POST', '/webhooks', { url: 'https://receiver.example/' }, colleague)
const pause = await change('POST', '/pauses', { user_id: MINE, country: 'AT' })
await change('POST', '/requests', { user_id: MINE, units: 5, reason: 'Sale' })
await change('PUT', `/users/${MINE}/profile`, { name: 'Ann' })
clock.now += 1_000
for (const [n, { id }] of plans.entries()) if (n % 2 === 1) await change('DELETE', `/plans/${id}`)
for (const [n, { id }] of cards.entries()) if (n % 2 === 1) await change('DELETE', `/rate-cards/${id}`)
for (const limit of [6, 4, 9]) await change('PUT', `/quota/${quota.id}`, { limit }, limit === 4 ? colleague : {})
for (const description of ['a', 'b', 'c']) await change('PUT', `/webhooks/${webhook.id}`, { description })
for (const name of ['i', 'j']) await change('PUT', `/plans/${plan.id}`, { name })
await change('DELETE', `/pauses/${pause.id}`)
await change('DELETE', '/users/9/data')
await change('PUT', `/quota/${twin.id}`, { limit: 7 })

const [gateway, desk] = await names("insert into principal (subject) values ('gateway'), ('desk') returning id as name")
const senders = [Number(gateway), Number(desk), null]
// Several rows are of each time, and of each user at that time.
await fill(`insert into denial (shard, user_id, at, number, id, op, units, allow_partial, remaining, explanation, skipped, country, message_type, reason, sender)
  select shard, user_id, ${sqlAt('-(n / 6)')}, n + 1, 'm' || n % 5, 'reserve', 1, false, 0, '[]', 0, ${inTurn([null, 'DE', 'FR'], 2)},
    ${inTurn([null, 'otp'], 3)}, ${inTurn(['no_quota', 'cap_reached'], 4)}, ${inTurn(senders, 2)}
  from generate_series(0, 23) n join ${userAt(1)}`)
// Five states, and draws of which one has the id of another quota as the number of its window.
const quotaOf = `case when user_id = ${OTHER} then ${twin.id} else ${inTurn([quota.id, second.id], 2)} end`
await fill(`insert into reservation (shard, user_id, id, op, asked, allow_partial, force, units, committed, released, refunded, on_expiry, expired, draws,
    country, message_type, created_at, expires_at, changed_at, made_by)
  select shard, user_id, case when ${inTurn(senders, 7)} is null then '_' else 'm' end || n * 37 % 60, 'reserve', 2, false, false, 2, ${inTurn([1, 2, 2, 0, 0])}, ${inTurn([0, 0, 0, 2, 2])},
    ${inTurn([0, 1, 2, 0, 0])}, 'release', ${inTurn([false, false, false, true, false])},
    array[${quotaOf}, 0, case when user_id = ${MINE} then ${quota.id} else 0 end, ${START}, 0, 2], ${inTurn([null, 'DE', 'FR'], 2)},
    ${inTurn([null, 'otp'], 3)}, ${sqlAt('-(n / 20)')}, ${sqlAt('600 - n / 20')}, ${sqlAt('0')}, ${inTurn(senders, 7)}
  from generate_series(0, 59) n join ${userAt(5)}`)
// Half are active; of the others, half were lifted, and half ended.
await fill(`insert into pause (shard, id, user_id, country, origin, until, lifted_at, created_at, created_by)
  select 0, (n + 100) * 64, ${inTurn([MINE, null, OTHER])}, ${inTurn(['DE', 'FR'], 3)}, ${inTurn(['person', 'breaker'], 5)},
    case when n % 4 = 2 then ${sqlAt('0')} end, case when n % 4 = 3 then ${sqlAt('-1')} end, ${sqlAt('-60')}, '1' from generate_series(0, 23) n`)
await fill(`insert into increase_request (shard, id, user_id, quota_id, units, reason, status, created_at, decided_at)
  select shard, (n + 100) * 64 + shard, user_id, 64 + shard, 5, 'Sale', ${inTurn(['open', 'declined'], 2)}, ${sqlAt('-60')},
    case when n / 2 % 2 = 1 then ${sqlAt('0')} end from generate_series(0, 11) n join ${userAt(1)}`)
await fill(`insert into transfer (shard, id, user_id, quota_id, window_no, window_start, to_user_id, to_quota_id, units, at, actor, request_id)
  select shard, (n + 100) * 64 + shard, user_id, 64 + shard, 0, ${sqlAt('0')}, ${inTurn([OTHER, MINE, 9, 9])}, 64, 1, ${sqlAt('-60')}, '1', 'r'
  from generate_series(0, 11) n join ${userAt(1, [MINE, OTHER, 9])}`)
await fill(`insert into quota_window (shard, quota_id, window_no, window_start, window_end, "limit", overage_limit, rolled_over, used, reserved, carried)
  select ${quota.id % 64}, ${quota.id}, n, ${sqlAt('n')}, ${sqlAt('n + 1')}, 5, 0, 0, 0, 0, 0 from generate_series(0, 4) n`)
await fill(`insert into webhook_delivery (shard, webhook_id, event_shard, number, created_at, status, next_attempt_at)
  select ${webhook.id % 64}, ${webhook.id}, n % 3, n + 1, ${sqlAt('-(n / 6)')}, ${inTurn(['delivered', 'pending', 'failed'])},
    case when n % 3 = 1 then ${sqlAt('60')} end from generate_series(0, 11) n`)

const denialNames = (condition: string) =>
  names(
    `select concat_ws('_', 'den', user_id, (extract(epoch from at) * 1000)::bigint, number) as name from denial where ${condition} order by at desc, number desc`,
  )
const reservationNames = (condition: string, order = 'created_at desc, user_id desc, id desc') =>
  names(`select user_id || '/' || id as name from reservation where ${condition} order by ${order}`)
/** Those that the sender has made: shard by shard, the first to expire first. */
const ofSender = (condition: string) =>
  reservationNames(`made_by = ${gateway} and ${condition}`, 'shard, expires_at, user_id, id')
const byId = (table: string, condition = 'true') =>
  names(`select id::text as name from ${table} where ${condition} order by id desc`)
const changesIn = [
  ...Object.entries(CHANGE_LOGS).map(([resource, { table, id }]) => [resource, table, id, 'version', 'at']),
  ['user', 'erasure', 'user_id', '0', 'requested_at'],
].map(
  ([resource, table, id, version, time]) =>
    `select '${resource}' as resource, shard, ${id} as id, ${version} as version, ${time} as time from ${table}`,
)
const audit =
  await names(`select concat_ws('/', resource, id, version) as name from (${changesIn.join(' union all ')}) c
  order by time desc, array_position('{${AUDITED_RESOURCES.join(',')}}', resource) desc, shard desc, id desc, version desc`)
const auditNameOf = ({ resource, thing_id, version }: Item) => `${resource}/${thing_id}/${version ?? 0}`

const field = (value: string | number): Filter => ({ value })
const since = (seconds: number, name: string): Filter => ({
  value: at(seconds),
  selects: item => item[name] >= at(seconds),
})
const until = (seconds: number, name: string): Filter => ({
  value: at(seconds),
  selects: item => item[name] < at(seconds),
})
const denialFilters = {
  ...{ reason: field('cap_reached'), country: field('DE'), message_type: field('otp'), id: field('m1') },
  ...{ from: since(-2, 'at'), to: until(0, 'at') },
  without: { value: 'country', selects: (item: Item) => item.country === null },
}
const reservationFilters = {
  ...{ state: field('refunded'), country: field('FR'), message_type: field('otp') },
  quota_id: { value: quota.id, selects: (item: Item) => item.draws.some((draw: Item) => draw.quota_id === quota.id) },
  ...{ from: since(-1, 'created_at'), to: until(0, 'created_at') },
}
const idOf = ({ id }: Item) => String(id)
const reservationName = ({ user_id, id }: Item) => `${user_id}/${id}`
const numbers = (path: string, name: string, all: string[], other: string): List => ({
  path: `${ADMIN}${path}`,
  nameOf: item => String(item[name]),
  all,
  foreign: [{ path: `${ADMIN}${other}` }],
})
const [OWN_DENIALS, OWN_RESERVATIONS] = ['/api/sms/quota/denials', '/api/sms/quota/reservations']
const denialName = (item: Item) => item.denial_id

/** Reads pages until there is none. A list that repeats itself would have no end. */
const scanning =
  <Row, Key>(read: (page: Page<Key>) => Promise<Slice<Row, Key>>, nameOf: (row: Row) => string) =>
  async (size: number, maxScanned: number): Promise<string[][]> => {
    const pages: string[][] = []
    for (let after: Key | undefined; ; ) {
      const { items, next } = await read({ after, size, now: clock.now, maxScanned })
      pages.push(items.map(nameOf))
      expect(pages.length).toBeLessThan(100)
      if (next === null) return pages
      after = next
    }
  }

const LISTS: List[] = [
  {
    ...{ path: `${ADMIN}/denials`, nameOf: denialName, all: await denialNames('true') },
    filters: { ...denialFilters, user_id: field(MINE), sender: field('gateway') },
    scan: scanning(
      (page: Page<DenialKey>) => listDenials(db, { country: 'DE' }, page),
      ({ user_id, at: time, number }) => `den_${user_id}_${time}_${number}`,
    ),
  },
  {
    ...{
      path: OWN_DENIALS,
      token: mine,
      nameOf: denialName,
      all: await denialNames(`user_id = ${MINE}`),
      filters: denialFilters,
    },
    foreign: [{ path: `${ADMIN}/denials?user_id=${MINE}` }, { path: OWN_DENIALS, token: others }],
  },
  {
    ...{ path: `${ADMIN}/quota/reservations`, nameOf: reservationName, all: await reservationNames('true') },
    filters: {
      ...{ ...reservationFilters, user_id: field(MINE) },
      sender: { value: 'gateway', selects: item => item.made_by === 'gateway' },
    },
    scan: scanning((page: Page<ReservationKey>) => listReservations(db, { country: 'DE' }, page), reservationName),
  },
  {
    ...{
      path: OWN_RESERVATIONS,
      token: mine,
      nameOf: reservationName,
      all: await reservationNames(`user_id = ${MINE}`),
    },
    filters: reservationFilters,
    foreign: [{ path: `${ADMIN}/quota/reservations?user_id=${MINE}` }, { path: OWN_RESERVATIONS, token: others }],
  },
  {
    ...{ path: '/api/sms/sender/quota/reservations', token: service.senderToken, nameOf: reservationName },
    all: await ofSender('committed + released < units'),
    filters: {
      user_id: field(MINE),
      // The clock stands a second after the newest.
      older_than: { value: 2, selects: item => item.created_at < at(-1) },
      state: { value: 'committed', instead: await ofSender('committed = units and refunded < units') },
    },
    scan: scanning((page: Page<SenderKey>) => {
      const filter = { sender: 'gateway', state: 'reserved', users: new Set([MINE]) } as const
      return listOfSender(db, filter, page)
    }, reservationName),
  },
  {
    ...{ path: `${ADMIN}/pauses`, nameOf: idOf, all: await byId('pause') },
    filters: {
      user_id: { value: MINE, selects: ({ user_id }) => user_id === MINE || user_id === null },
      ...{ country: field('DE'), origin: field('breaker'), active: field('false') },
    },
    scan: scanning((page: Page<number>) => listPauses(db, { country: 'DE' }, page), idOf),
  },
  {
    ...{ path: `${ADMIN}/requests`, nameOf: idOf, all: await byId('increase_request') },
    filters: { user_id: field(MINE), status: field('open') },
  },
  {
    path: '/api/sms/quota/requests',
    token: mine,
    nameOf: idOf,
    all: await byId('increase_request', `user_id = ${MINE}`),
    foreign: [{ path: `${ADMIN}/requests?user_id=${OTHER}` }],
  },
  {
    ...{ path: `${ADMIN}/transfers`, nameOf: idOf, all: await byId('transfer') },
    filters: { user_id: { value: MINE, selects: item => [item.user_id, item.to_user_id].includes(MINE) } },
  },
  { path: `${ADMIN}/users`, nameOf: item => String(item.user_id), all: [MINE, 9, OTHER].map(String) },
  {
    ...{ path: `${ADMIN}/plans`, nameOf: idOf, all: await byId('plan', 'archived_at is null') },
    filters: { archived: { value: 'true', instead: await byId('plan', 'archived_at is not null') } },
  },
  {
    ...{ path: `${ADMIN}/rate-cards`, nameOf: idOf, all: await byId('rate_card', 'archived_at is null') },
    filters: { archived: { value: 'true', instead: await byId('rate_card', 'archived_at is not null') } },
  },
  {
    ...{
      path: `${ADMIN}/rate-cards/${card?.id}/lines`,
      nameOf: item => String(item.prefix),
      all: LINES.map(({ prefix }) => `${prefix}`),
    },
    filters: {
      version: { value: 1, instead: ['null', '4'] },
      prefix: { value: '49', selects: ({ prefix }) => ['4', '49', '491'].includes(prefix) },
    },
    foreign: [{ path: `${ADMIN}/rate-cards/${cards[2]?.id}/lines` }],
  },
  {
    ...{ path: `${ADMIN}/audit`, nameOf: auditNameOf, all: audit },
    filters: {
      ...{ resource: field('quota'), action: field('updated'), actor: field('colleague'), request_id: field('named') },
      ...{ user_id: field(MINE), thing_id: field(quota.id), from: since(1, 'at'), to: until(1, 'at') },
      raised: {
        value: 'true',
        selects: ({ resource, before, after }) =>
          resource === 'quota' && (before === null || after.limit > before.limit),
      },
    },
    scan: scanning(
      (page: Page<AuditKey>) => listChanges(db, { action: 'updated' }, page),
      ({ resource, id, version }) => `${resource}/${id}/${version}`,
    ),
  },
  numbers(`/quota/${quota.id}/history`, 'version', ['4', '3', '2', '1'], `/quota/${twin.id}/history`),
  numbers(`/quota/${quota.id}/windows`, 'window_no', ['4', '3', '2', '1', '0'], `/quota/${twin.id}/history`),
  {
    ...{ path: `${ADMIN}/webhooks/${webhook.id}/deliveries`, nameOf: idOf, sizeName: 'limit', isFixing: false },
    all: await names(`select concat_ws('_', 'evt', event_shard, number) as name from webhook_delivery
      order by created_at desc, event_shard desc, number desc`),
    filters: { status: field('failed') },
  },
]

/** A text of JSON, each time with another of its numbers replaced. */
const withEachNumber = (json: string, number: number) =>
  [...json.matchAll(/(?<=[:,[])\d+/g)].map(
    ({ index, 0: { length } }) => json.slice(0, index) + number + json.slice(index + length),
  )

/** Lists of quotas, customers and replayed pauses have orders, pages by number or figures; these files have them. */
const ELSEWHERE: readonly string[] = [
  ...[
    '/api/sms/quota/list',
    `${ADMIN}/quota/list`,
    `${ADMIN}/quota/alerts`,
    `${ADMIN}/customers`,
    `${ADMIN}/breaker/replay`,
  ],
]
const NO_FILTERS = ['page_size', 'limit', 'cursor', 'user_ref']

test('each list by cursor of the API is here, with each filter', () => {
  const documented = readDocument(service.app.swagger())
    .operations.map(({ template: path, parameters }) => ({
      path,
      names: parameters.filter(one => one.in === 'query').map(({ name }) => name),
    }))
    .filter(({ path, names }) => names.includes('cursor') && !ELSEWHERE.includes(path))
    .map(({ path, names }) => ({ path, filters: names.filter(name => !NO_FILTERS.includes(name)).toSorted() }))
  const shown = LISTS.map(({ path, filters = {} }) => ({
    path: path.replace(/\/\d+\//, '/{id}/'),
    filters: Object.keys(filters).toSorted(),
  }))
  const byPath = <Row extends { path: string }>(made: Row[]) =>
    made.toSorted((one, other) => (one.path < other.path ? -1 : 1))
  expect(byPath(shown)).toEqual(byPath(documented))
})

type Named = readonly (readonly [name: string, filter: Filter])[]
const queryOf = (chosen: Named) => chosen.map(([name, { value }]) => `&${name}=${encodeURIComponent(value)}`).join('')

async function read(
  { path, token = service.adminToken, sizeName = 'page_size' }: List,
  size: number,
  query: string,
): Promise<Item> {
  const { status, body } = await call('GET', `${path}?${sizeName}=${size}${query}`, { token })
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

/** The names on all pages, each of which is full but the last. */
async function walk(list: List, size: number, query: string, isRepeated: boolean): Promise<string[]> {
  const found: string[] = []
  for (let more = query; ; ) {
    const { items, next_cursor: cursor } = await read(list, size, more)
    found.push(...items.map(list.nameOf))
    if (cursor === null) return found
    // A list that repeats itself would have no end.
    expect(found.length, query).toBeLessThan(100)
    expect(items).toHaveLength(size)
    more = `&cursor=${cursor}${isRepeated ? query : ''}`
  }
}

const refusalOf = async ({ path, token = service.adminToken }: Pick<List, 'path' | 'token'>, query: string) => {
  const { status, body } = await call('GET', `${path}?${query}`, { token })
  return [status, body.errors?.map((issue: { path: string }) => issue.path)]
}
async function cursorOf({ path, token = service.adminToken }: Pick<List, 'path' | 'token'>): Promise<string> {
  const { body } = await call('GET', `${path}${path.includes('?') ? '&' : '?'}page_size=1`, { token })
  expect(body.next_cursor, path).toEqual(expect.any(String))
  return body.next_cursor
}

describe.each(LISTS)('$path', list => {
  const { all, filters = {}, nameOf, isFixing = true } = list
  const chosenOf = Object.entries(filters)

  test('has each row once and in order, in pages of any size, by each filter and any two', async () => {
    const items = new Map<string, Item>()
    for (const query of ['', ...chosenOf.filter(([, { instead }]) => instead !== undefined).map(one => queryOf([one]))])
      for (const item of (await read(list, 100, query)).items) items.set(nameOf(item), item)
    const choices: Named[] = [
      [],
      ...chosenOf.flatMap((one, index) => [[one], ...chosenOf.slice(index + 1).map(other => [one, other])]),
    ]
    const found = new Map<string, number>()
    for (const chosen of choices) {
      const base = chosen.find(([, { instead }]) => instead !== undefined)?.[1].instead ?? all
      const expected = base.filter(name =>
        chosen.every(
          ([filter, { value, instead, selects = (made: Item) => String(made[filter]) === String(value) }]) =>
            instead !== undefined || selects(items.get(name)),
        ),
      )
      const query = queryOf(chosen)
      for (const size of chosen.length < 2 ? [1, 2, 20] : [2])
        expect(await walk(list, size, query, size > 1 || !isFixing), query).toEqual(expected)
      found.set(query, expected.length)
    }
    // Each filter selects some and not all.
    for (const one of chosenOf) {
      expect(found.get(queryOf([one])), one[0]).toBeGreaterThan(0)
      if (one[1].instead === undefined) expect(found.get(queryOf([one])), one[0]).toBeLessThan(all.length)
    }
    expect(all.length).toBeGreaterThan(2)
    expect(new Set(all).size).toBe(all.length)
  })

  test('has cursors that fix the filters, and takes none that it has not made', async () => {
    const { next_cursor: cursor } = await read(list, 1, '')
    if (isFixing)
      for (const one of chosenOf)
        expect(await refusalOf(list, `cursor=${cursor}${queryOf([one])}`)).toEqual([400, [one[0]]])
    const content: Record<string, unknown> = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const forged = Object.entries(content).map(([key, held]) => ({
      ...content,
      [key]: typeof held === 'number' ? "'" : 1e17,
    }))
    for (const bad of [{}, { ...content, more: 1 }, ...forged]) {
      const made = Buffer.from(JSON.stringify(bad)).toString('base64url')
      expect(await refusalOf(list, `cursor=${made}`), made).toEqual([400, ['cursor']])
    }
    for (const text of withEachNumber(JSON.stringify(content), MAX_INTEGER)) {
      const query = `cursor=${Buffer.from(text).toString('base64url')}`
      expect(
        (await call('GET', `${list.path}?${query}`, { token: list.token ?? service.adminToken })).status,
        text,
      ).toBeLessThan(500)
    }
    expect(await refusalOf(list, 'cursor=nonsense')).toEqual([400, ['cursor']])
    for (const other of list.foreign ?? [])
      expect(await refusalOf(list, `cursor=${await cursorOf(other)}`)).toEqual([400, ['cursor']])
  })

  test('refuses what it does not take: other sizes and parameters, and filters of values that none has', async () => {
    const { sizeName = 'page_size' } = list
    const forms = ['page=1', `${sizeName}=0`, `${sizeName}=201`, ...chosenOf.map(([name]) => `${name}=%00`)]
    for (const query of forms) expect(await refusalOf(list, query), query).toEqual([400, [query.replace(/=.*/, '')]])
  })

  const { scan } = list
  if (scan !== undefined)
    test('goes on behind a bounded number of rows that a filter does not select', async () => {
      const wanted = (await scan(100, 10_000)).flat()
      for (const [size, max] of [
        [2, 3],
        [20, 2],
      ] as const) {
        const pages = await scan(size, max)
        expect(pages.flat()).toEqual(wanted)
        expect(pages.length).toBeGreaterThan(3)
      }
    })
})

test.each(LISTS.map(({ path }) => path).filter(path => /\d/.test(path)))(
  '%s: of what does not exist it is 404',
  async path => {
    const answer = await call('GET', path.replace(/\d+/, '64000000'))
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } })
    expect((await call('GET', path.replace(/\d+/, '07'))).status).toBe(400)
  },
)

test('a cursor has the default of a filter that is left out', async () => {
  const cursor = await cursorOf({ path: `${ADMIN}/plans` })
  expect((await call('GET', `${ADMIN}/plans?archived=false&cursor=${cursor}`)).status).toBe(200)
  expect(await refusalOf({ path: `${ADMIN}/plans` }, `archived=true&cursor=${cursor}`)).toEqual([400, ['archived']])
})
