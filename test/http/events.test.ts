import { expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { type Cursor, readCursor, writeCursor } from '../../src/events/cursor.ts'
import { createEventRetention } from '../../src/jobs/event-retention.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const { call, db } = service
const EVENTS = '/api/sms/admin/events'

interface Event {
  id: string
  type: string
  user_id: number
  sequence: number
  data: { quota: { id: number } }
}

async function read(query = ''): Promise<{ items: Event[]; next: string }> {
  const { status, body } = await call('GET', `${EVENTS}${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

/** Follows the feed from a cursor to its end. */
async function walk(after: string | undefined, more = ''): Promise<Event[]> {
  const events: Event[] = []
  for (let cursor = after; ; ) {
    const page = await read(`?${cursor === undefined ? '' : `after=${cursor}&`}limit=3${more}`)
    events.push(...page.items)
    if (page.next === cursor) return events
    cursor = page.next
  }
}

async function create(user: number): Promise<number> {
  const { status, body } = await call('POST', '/api/sms/admin/quota', { body: { user_id: user, limit: 10 } })
  expect(status).toBe(201)
  return body.id
}

const quotaOf = async (id: number): Promise<object> => (await call('GET', `/api/sms/admin/quota/${id}`)).body

let lastUser = 0
const newUser = () => {
  lastUser += 1
  return lastUser
}
const latest = async () => (await read('?after=latest')).next

test('the feed lists who and what, from the first event on', async () => {
  const user = newUser()
  const id = await create(user)
  await call('PUT', `/api/sms/admin/quota/${id}`, { body: { limit: 20 } })
  await call('DELETE', `/api/sms/admin/quota/${id}`)
  const { items } = await read(`?user_id=${user}`)
  expect(items).toMatchObject([
    { type: 'quota.created', sequence: 1, user_id: user, at: new Date(service.clock.now).toISOString() },
    { type: 'quota.updated', sequence: 2, data: { quota: { id, limit: 20, version: 2 } } },
    { type: 'quota.deleted', sequence: 3 },
  ])
  expect(new Set(items.map(event => event.id)).size).toBe(3)
})

test('the pages list every event once, oldest first', async () => {
  const after = await latest()
  expect(await walk(after)).toEqual([])
  const ids: number[] = []
  for (let n = 0; n < 20; n++) {
    service.clock.now += 1
    ids.push(await create(newUser()))
  }
  expect((await walk(after)).map(event => event.data.quota.id)).toEqual(ids)
})

test('the feed can begin with the last N events and continues from there', async () => {
  const fresh = await startService()
  const read = async (query: string) => (await fresh.call('GET', `${EVENTS}${query}`)).body
  const make = () => {
    fresh.clock.now += 1
    return fresh.call('POST', '/api/sms/admin/quota', { body: { user_id: newUser(), limit: 10 } })
  }
  expect((await read('?last=3')).items).toEqual([])
  const ids: number[] = []
  for (let n = 0; n < 6; n++) ids.push((await make()).body.id)
  const idsOf = ({ items }: { items: Event[] }) => items.map(event => event.data.quota.id)
  expect(idsOf(await read('?last=200'))).toEqual(ids)
  const page = await read('?last=3')
  expect(idsOf(page)).toEqual(ids.slice(3))
  const { body } = await make()
  expect(idsOf(await read(`?after=${page.next}`))).toEqual([body.id])
  expect(idsOf(await read('?last=2&limit=1'))).toEqual(ids.slice(5))
})

test('the feed filters by type and by user', async () => {
  const after = await latest()
  const [one, other] = [newUser(), newUser()]
  const id = await create(one)
  await create(other)
  await call('PUT', `/api/sms/admin/quota/${id}`, { body: { limit: 20 } })
  const types = async (query: string) => (await walk(after, query)).map(event => event.type)
  expect(await types('&types=quota.updated')).toEqual(['quota.updated'])
  expect(await types('&types=quota.updated,quota.deleted')).toEqual(['quota.updated'])
  expect(await types(`&user_id=${one}`)).toEqual(['quota.created', 'quota.updated'])
  expect(await types(`&user_id=${other}&types=quota.updated`)).toEqual([])
  const passed = await read(`?after=${after}&types=quota.deleted`)
  expect(passed.items).toEqual([])
  expect(passed.next).toBe(await latest())
})

test('a filter skips thousands of events in one page', async () => {
  const user = newUser()
  const quota = await quotaOf(await create(newUser()))
  const after = await latest()
  await db.query({
    text: sql`with head as (update shard_head set last_event = last_event + 2500 where shard = $1 returning last_event)
           insert into event (shard, number, user_id, sequence, type, at, data)
           select $1, last_event - 2500 + n, $2, n,
                  case n when 2500 then 'quota.deleted' else 'quota.updated' end, now(), $3
           from head, generate_series(1, 2500) n`,
    values: [shardOf(user), user, JSON.stringify({ quota })],
  })
  const { items } = await read(`?after=${after}&types=quota.deleted`)
  expect(items).toMatchObject([{ type: 'quota.deleted', sequence: 2500 }])
})

test('an event that commits late is never missed', async () => {
  const [early, late] = [newUser(), newUser()]
  const quota = await quotaOf(await create(newUser()))
  let cursor = await latest()
  const [held, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const shard = shardOf(late)
  // Takes its number early and commits after the others.
  const slow = db.transaction(async tx => {
    await tx.query({ text: sql`update shard_head set last_event = last_event + 1 where shard = $1`, values: [shard] })
    await tx.query({
      text: sql`insert into event (shard, number, user_id, sequence, type, at, data)
             select $1, last_event, $2, 1, 'quota.created', now(), $3 from shard_head where shard = $1`,
      values: [shard, late, JSON.stringify({ quota })],
    })
    held.resolve()
    await gate.promise
  })
  await held.promise
  await create(early)
  const first = await read(`?after=${cursor}`)
  expect(first.items.map(event => event.user_id)).toEqual([early])
  cursor = first.next
  gate.resolve()
  await slow
  const second = await read(`?after=${cursor}`)
  expect(second.items.map(event => event.user_id)).toEqual([late])
  expect((await read(`?after=${second.next}`)).items).toEqual([])
})

test('many readers can wait for the first event', async () => {
  const after = await latest()
  const user = newUser()
  const waits = [
    read(`?after=${after}&wait_seconds=30`),
    read(`?after=${after}&wait_seconds=30&user_id=${user}`),
    read(`?after=${after}&wait_seconds=30&types=quota.created,quota.deleted`),
    read(`?after=latest&wait_seconds=30&user_id=${user}&types=quota.updated`),
  ]
  const id = await create(user)
  for (const page of await Promise.all(waits.slice(0, 3))) {
    expect(page.items.map(event => event.data.quota.id)).toEqual([id])
  }
  await call('PUT', `/api/sms/admin/quota/${id}`, { body: { limit: 20 } })
  expect(await waits[3]).toMatchObject({ items: [{ type: 'quota.updated' }] })
})

test('a wait that times out returns an empty page', async () => {
  const after = await latest()
  expect(await read(`?after=${after}&wait_seconds=1`)).toEqual({ items: [], next: after })
})

test('a stop ends all waits at once', async () => {
  const other = await startService()
  const begun = performance.now()
  const waits = other.call('GET', `${EVENTS}?after=latest&wait_seconds=30`)
  await other.app.close()
  expect(await waits).toMatchObject({ status: 200, body: { items: [] } })
  expect(performance.now() - begun).toBeLessThan(10_000)
})

const ahead = new Array(64).fill(9_000_000)
const foreign = writeCursor({ positions: ahead, fingerprint: '0123456789abcdef' })
const bad: [string, string, string][] = [
  ['a forged cursor', `?after=${Buffer.from('{}').toString('base64url')}`, 'after'],
  ['a truncated cursor', `?after=${foreign.slice(0, -4)}`, 'after'],
  ['a cursor with extra bytes', `?after=${foreign}AA`, 'after'],
  ['a cursor of an unknown version', `?after=${Buffer.of(4, ...ahead.map(() => 0)).toString('base64url')}`, 'after'],
  ['an empty cursor', '?after=', 'after'],
  ['after and last together', '?after=latest&last=3', 'last'],
  ['more than one page', '?last=201', 'last'],
  ['an unknown type', '?types=quota.created,quota.made', 'types'],
  ['an empty list of types', '?types=', 'types'],
  ['a limit of 0', '?limit=0', 'limit'],
  ['a limit that is too large', '?limit=201', 'limit'],
  ['a wait that is too long', '?wait_seconds=31', 'wait_seconds'],
  ['an invalid user', '?user_id=-1', 'user_id'],
  ['an unknown parameter', '?from=1', 'from'],
]
test.each(bad)('%s is refused', async (_what, query, path) => {
  expect(await call('GET', `${EVENTS}${query}`)).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', errors: [{ path }] },
  })
})

const LOST = { status: 410, body: { code: 'events_lost' } }

async function latestCursor(): Promise<Cursor> {
  const cursor = readCursor(await latest())
  if (cursor === undefined) throw new Error('the cursor is invalid')
  return cursor
}

test('a cursor of version 0.1.0, which has no fingerprint, goes on unless it is beyond the end', async () => {
  const after = writeCursor({ ...(await latestCursor()), fingerprint: null })
  const id = await create(newUser())
  const { items, next } = await read(`?after=${after}`)
  expect(items).toMatchObject([{ data: { quota: { id } } }])
  expect(readCursor(next)?.fingerprint).toMatch(/^[0-9a-f]{16}$/)
  const beyond = writeCursor({ positions: ahead, fingerprint: null })
  expect(await call('GET', `${EVENTS}?after=${beyond}`)).toMatchObject(LOST)
})

test('a cursor that has passed other events is refused at once', async () => {
  await create(newUser())
  const other = writeCursor({ ...(await latestCursor()), fingerprint: '0123456789abcdef' })
  for (const query of ['', '&wait_seconds=30', '&user_id=99', '&types=quota.deleted']) {
    expect(await call('GET', `${EVENTS}?after=${other}${query}`)).toMatchObject(LOST)
  }
  expect(await call('GET', `${EVENTS}?after=${foreign}`)).toMatchObject(LOST)
})

test('every page ends with a cursor that is accepted', async () => {
  const start = await latest()
  const user = newUser()
  for (const person of [user, newUser(), newUser()]) await create(person)
  const after = ['', '&limit=1', '&limit=2', `&user_id=${user}`, '&types=quota.deleted'].map(
    filter => `?after=${start}${filter}`,
  )
  for (const query of ['', '?limit=1', '?last=2&limit=1', '?last=1&types=quota.deleted', '?after=latest', ...after]) {
    await read(`?after=${(await read(query)).next}`)
  }
})

test('a cursor behind removed events is 410, with a cursor that leads to all that is left', async () => {
  const pruned = await startService({ env: { EVENT_RETENTION_DAYS: '7' } })
  const { clock, db } = pruned
  const read = async (query = '') => (await pruned.call('GET', `${EVENTS}${query}`)).body
  const make = async (user: number) =>
    (await pruned.call('POST', '/api/sms/admin/quota', { body: { user_id: user, limit: 10 } })).body.id
  const idsOf = ({ items }: { items: Event[] }) => items.map(event => event.data.quota.id)
  const empty = (await read()).next
  const removed = [await make(7), await make(7)]
  const kept = [await make(7)]
  const oldestAt = new Date(clock.now).toISOString()
  const passed = (await read()).next
  clock.now += 8 * DAY_MS
  kept.push(await make(8))
  const retention = createEventRetention({ db, now: () => clock.now, retentionMs: 7 * DAY_MS })
  expect((await retention.removeOnce(clock.now)).removed).toBe(removed.length)

  expect(idsOf(await read())).toEqual(kept)
  expect(idsOf(await read('?last=200'))).toEqual(kept)
  for (const query of ['', '&user_id=7', '&types=quota.deleted', '&wait_seconds=30']) {
    const answer = await pruned.call('GET', `${EVENTS}?after=${empty}${query}`)
    expect(answer).toMatchObject({ status: 410, body: { code: 'events_pruned', oldest_at: oldestAt } })
    expect(idsOf(await read(`?after=${answer.body.cursor}`))).toEqual(kept)
  }
  // A reader that has read up to what was removed has missed nothing.
  expect(idsOf(await read(`?after=${passed}`))).toEqual(kept.slice(1))
  for (let after = (await read('?limit=1')).next, n = 0; n < 3; n++)
    after = (await read(`?after=${after}&limit=1`)).next
})

test('at most 20 calls of one principal wait; the others are refused, and those of other principals wait', async () => {
  const after = await latest()
  const wait = (token?: string) =>
    call('GET', `${EVENTS}?after=${after}&wait_seconds=30`, token === undefined ? {} : { token })
  const waits = Array.from({ length: 21 }, () => wait())
  const refused = await Promise.race(waits)
  expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '5' }, body: { code: 'rate_limited' } })
  expect((await call('GET', `${EVENTS}?after=${after}`)).status).toBe(200)
  const other = wait(await service.token({ sub: '2', roles: ['sms-quota:admin'] }))
  const id = await create(newUser())
  const answers = await Promise.all([...waits, other])
  const pages = answers.filter(({ status }) => status === 200)
  expect(pages).toHaveLength(21)
  for (const { body } of pages) expect(body.items).toMatchObject([{ data: { quota: { id } } }])
  // A call that has ended makes room.
  expect((await call('GET', `${EVENTS}?after=${await latest()}&wait_seconds=1`)).status).toBe(200)
})
