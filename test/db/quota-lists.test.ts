/** Every filter in every order over all users: the right quotas, and never more than a bounded number of rows. */
import { beforeAll, describe, expect, test } from 'vitest'
import { blocksOf, nodesOf, plansOf, transactionOf } from '../../bench/explain.ts'
import { disableAutovacuum } from '../../bench/fill.ts'
import { loadQuotas } from '../../bench/load.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { timestampParam } from '../../src/db/connection/values.ts'
import { applyPart, type ByFilterPart, type FilterPart, type QuotaFilter } from '../../src/db/quotas/conditions.ts'
import { BOUNDS, type Bounds, listQuotas, MAX_SKIPPED, type QuotaOrder } from '../../src/db/quotas/lists.ts'
import { hasIndex, type PageKey } from '../../src/db/quotas/streams.ts'
import { type Quota, roll, statusOf } from '../../src/domain/quotas/quota.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { databaseOfOnePostgres } from '../support/database.ts'
import { listed } from '../support/quota-lists.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const QUOTAS = 1_500

const { db } = await databaseOfOnePostgres()
await disableAutovacuum(db)
await loadQuotas(db, { quotas: QUOTAS, users: 150, now: NOW, isFresh: true })
// Names and references as people give them: some equal, some missing, in upper and lower case.
await db.query({
  text: sql`update quota set
      name = case n % 5 when 0 then null when 1 then 'Überschuss' when 2 then 'bonus ' || n % 11 else 'BONUS' end,
      external_ref = case when n % 3 > 0 then 'K-' || nth end,
      plan = case when n % 7 > 2 then jsonb_build_object('id', n % 3, 'name', 'P', 'version', n % 4, 'slot', 'a', 'kept', '[]'::jsonb) end
    from (select shard, id, id / 64 as n, row_number() over (partition by user_id order by id) as nth from quota) numbered
    where quota.shard = numbered.shard and quota.id = numbered.id and n % 2 = 0`,
})

// Some were made by a clock that was an hour ahead.
await db.query({
  text: sql`update quota set created_at = at, starts_at = at, window_start = at, used = 0, reserved = 0,
      window_end = case when window_end is not null then at + interval '1 hour' end
    from (select $1::timestamptz + interval '1 hour' as at) clock
    where id / 64 % 13 = 4 and "limit" is distinct from 0 and coalesce(expires_at, 'infinity') > at`,
  values: [timestampParam(NOW)],
})

/** Every quota that is not deleted, and every one that is. */
const present = await everyQuota({})
const deleted = await everyQuota({ status: 'deleted' })
expect(present.length + deleted.length).toBe(QUOTAS)

async function everyQuota(filter: QuotaFilter): Promise<Quota[]> {
  return (await listed(db, { filter, size: QUOTAS }, NOW)).items
}

const FILTERS: QuotaFilter[] = [
  {},
  { kind: 'cap' },
  { kind: 'grant' },
  { status: 'deleted' },
  { status: 'deleted', kind: 'cap' },
  { status: 'expired' },
  { status: 'suspended' },
  { status: 'scheduled' },
  { status: 'exhausted' },
  { status: 'active' },
  { status: 'active', kind: 'cap' },
  { status: 'exhausted', kind: 'grant' },
  { status: 'suspended', kind: 'cap' },
  { name: 'bon' },
  { name: 'PACKAGE 1' },
  { name: 'Übers', kind: 'cap' },
  { name: 'no such name' },
  { name: 'package', status: 'deleted' },
  { external_ref: 'K-2', status: 'deleted' },
  { external_ref: 'contract-701' },
  { external_ref: 'K-2' },
  { external_ref: 'k-2' },
  { country: 'DE' },
  { country: 'DE', kind: 'cap' },
  { message_type: 'otp', status: 'active' },
  { plan_id: 1 },
  { plan_id: 2, status: 'deleted' },
  { plan_version: 2, kind: 'cap' },
  { plan_id: 99 },
  { expires_before: NOW },
  { expires_after: NOW, expires_before: NOW + 20 * DAY_MS },
  { expires_after: NOW + 100 * DAY_MS },
  { expires_after: NOW + DAY_MS, expires_before: NOW },
  { expires_before: NOW + 50 * DAY_MS, status: 'active' },
  { expires_after: NOW - 50 * DAY_MS, status: 'expired', kind: 'grant' },
]
const ORDERS = (['id', 'expires_at', 'created_at', 'name', 'external_ref'] as const).flatMap(by =>
  [false, true].map(descending => ({ by, descending })),
)
/** Every filter in every order that it offers; descending and ascending in turn. */
const CASES = FILTERS.flatMap((filter, nth) =>
  ORDERS.filter(({ by }, index) => hasIndex(filter, by) && (nth < 2 || (index + nth) % 2 === 0)).map(order => ({
    filter,
    order,
    /** Whether it is the first, third … of its filter: some tests take these in one way, and the others in another. */
    isOdd: (ORDERS.indexOf(order) >> 1) % 2 === nth % 2,
  })),
)

/** PostgreSQL's lower in the C locale. */
const lower = (text: string) => text.replaceAll(/[A-Z]/g, letter => letter.toLowerCase())

/** What each filter selects, by the definition of the API. */
const SELECTS: ByFilterPart<[quota: Quota], boolean> = {
  user_id: (userId, quota) => quota.user_id === userId,
  kind: (kind, quota) => quota.kind === kind,
  status: (status, quota) => statusOf(roll(quota, NOW).quota, NOW) === status,
  name: (name, quota) => quota.name !== null && lower(quota.name).startsWith(lower(name)),
  external_ref: (reference, quota) => quota.external_ref === reference,
  country: (country, quota) => (quota.countries ?? []).includes(country),
  message_type: (type, quota) => (quota.message_types ?? []).includes(type),
  plan_id: (id, quota) => quota.plan?.id === id,
  plan_version: (version, quota) => quota.plan?.version === version,
  expires_after: (time, quota) => quota.expires_at !== null && quota.expires_at >= time,
  expires_before: (time, quota) => quota.expires_at !== null && quota.expires_at < time,
}
const PARTS = Object.keys(SELECTS) as FilterPart[]

test('every filter of a list over all users is tried', () => {
  const untried = PARTS.filter(part => part !== 'user_id' && !FILTERS.some(filter => filter[part] !== undefined))
  expect(untried).toEqual([])
})

/** The list by the definition of the API. */
function expected({ filter, order }: { filter: QuotaFilter; order: QuotaOrder }): number[] {
  const isSelected = (quota: Quota) => PARTS.every(part => applyPart(SELECTS, part, filter, true, quota))
  const sign = order.descending ? -1 : 1
  return (filter.status === 'deleted' ? deleted : present)
    .filter(isSelected)
    .sort((one, other) => sign * (compare(keyOf(one, order), keyOf(other, order)) || one.id - other.id))
    .map(({ id }) => id)
}

function keyOf(quota: Quota, { by }: QuotaOrder): Buffer | number {
  if (by === 'name') return Buffer.from(quota.name === null ? '\u{10FFFF}' : lower(quota.name))
  if (by === 'external_ref') return Buffer.from(quota.external_ref ?? '\u{10FFFF}')
  if (by === 'expires_at') return quota.expires_at ?? Number.POSITIVE_INFINITY
  return by === 'created_at' ? quota.created_at : quota.id
}

function compare(one: Buffer | number, other: Buffer | number): number {
  if (one instanceof Buffer && other instanceof Buffer) return Buffer.compare(one, other)
  return one === other ? 0 : one < other ? -1 : 1
}

/** As small against these quotas as the real ones against ten million. */
const TIGHT: Bounds = { scanned: 90, counted: 120, sorted: 60 }

/** Each case with the bounds of the service, or with those that most filters meet. */
const boundsOf = (isTight: boolean) => (isTight ? TIGHT : BOUNDS)

test.each(CASES)('pages by cursor are $filter by $order', async ({ isOdd, ...listing }) => {
  const bounds = boundsOf(isOdd)
  const found: number[] = []
  let next: PageKey | null = null
  do {
    const start = next === null ? { skip: 0 } : { after: next }
    // Several pages of the longest lists.
    const slice = await listed(db, { ...listing, start, size: bounds === TIGHT ? 150 : 400, bounds }, NOW)
    found.push(...slice.items.map(({ id }) => id))
    next = slice.next
  } while (next !== null)
  expect(found).toEqual(expected(listing))
})

test.each(CASES)('pages by number and totals are $filter by $order', async ({ isOdd, ...listing }) => {
  const bounds = boundsOf(!isOdd)
  const all = expected(listing)
  for (const skip of [50, Math.max(0, all.length - 30), all.length + 10]) {
    const slice = await listQuotas(db, listing.filter, listing.order, { skip }, 20, NOW, bounds)
    if (slice === 'too_deep') {
      expect([bounds, skip > 0]).toEqual([TIGHT, true])
      continue
    }
    const found = slice.items.map(({ id }) => id)
    const page = all.slice(skip, skip + 20)
    const { total } = slice
    if (total !== undefined && 'exactly' in total) {
      expect(total.exactly).toBe(all.length)
      expect(found).toEqual(slice.next === null ? page : page.slice(0, found.length))
    } else {
      expect(bounds).toBe(TIGHT)
      expect(total?.atLeast).toBeLessThanOrEqual(all.length)
      expect(found).toEqual(page.slice(0, found.length))
    }
    expect(slice.next === null).toBe(skip + found.length >= all.length)
  }
})

// The tables are analyzed by the second group, which runs after the first.
describe.each(['never analyzed', 'analyzed'])('with tables that were %s', when => {
  beforeAll(async () => {
    if (when === 'analyzed') await db.query({ text: sql`analyze` })
  })

  test.each(CASES)('a page reads a bounded number of rows: $filter by $order', async ({ filter, order, isOdd }) => {
    const most = 40 + 21 + TIGHT.scanned + TIGHT.counted
    const skip = isOdd === (when === 'analyzed') ? 40 : 0
    for (const start of [{ skip }, { after: { value: null, id: 40_000 } }]) {
      const list = (on: typeof db) => listQuotas(on, filter, order, start, 20, NOW, TIGHT)
      for (const plan of await plansOf(db, await transactionOf(db, list))) {
        for (const node of nodesOf(plan)) {
          if (node['Relation Name'] === 'quota') expect(node['Node Type']).toMatch(/^Index (Only )?Scan/)
          expect(node['Actual Rows']).toBeLessThanOrEqual(most)
          expect(node['Rows Removed by Filter'] ?? 0).toBeLessThanOrEqual(most)
        }
        expect(blocksOf(plan)).toBeLessThan(5 * most)
      }
    }
  })
})

test.each(['created_at', 'name', 'external_ref'] as const)(
  'deleted quotas of all users have no order by %s',
  async by => {
    const order = { by, descending: false }
    await expect(listed(db, { filter: { status: 'deleted' }, order }, NOW)).rejects.toThrow('needs a user')
    const user = deleted[0]?.user_id ?? -1
    const ofUser = await listed(db, { filter: { status: 'deleted', user_id: user }, order }, NOW)
    expect(ofUser.items.length).toBeGreaterThan(0)
  },
)

test('a page that skips too many quotas is refused, unless it is near the end or the total says that it is past it', async () => {
  await db.query({ text: sql`update shard_head set grants = grants + 1000000 where shard = 0` })
  const at = (skip: number, filter: QuotaFilter = {}) =>
    listQuotas(db, filter, { by: 'id', descending: true }, { skip }, 20, NOW)
  expect(await at(MAX_SKIPPED + 1)).toBe('too_deep')
  expect(await at(5_000_000)).toMatchObject({ items: [], next: null })
  expect(await at(MAX_SKIPPED + 1, { status: 'active' })).toMatchObject({ items: [] })
  await db.query({ text: sql`update shard_head set grants = grants - 1000000 where shard = 0` })
})
