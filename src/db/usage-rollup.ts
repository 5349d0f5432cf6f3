import type { Shard } from '../domain/shard.ts'
import type { Database } from './database.ts'
import { BY_KEYS } from './planner-settings.ts'

/** Batches rolled up at a time, of up to a thousand commands each. Each page is a short transaction. */
export const ROLLUP_PAGE = 64

/** Shards with usage to roll up: one index lookup each, however much there is. */
export async function findPendingUsage(db: Database): Promise<Shard[]> {
  const rows = await db.query<{ shard: Shard }>({
    name: 'find-pending-usage',
    text: `select s.shard from generate_series(0, 63) s (shard)
      where exists (select from usage_pending p where p.shard = s.shard)`,
  })
  return rows.map(({ shard }) => shard)
}

/** Batches of all processes that are not rolled up yet, counted up to `max`. */
export async function countPendingUsage(db: Database, max: number): Promise<number> {
  const [row] = await db.query<{ pending: number }>({
    name: 'count-pending-usage',
    text: 'select count(*) as pending from (select 1 from usage_pending limit $1) as p',
    values: [max],
  })
  return row?.pending ?? 0
}

/**
 * Deletes a page of a shard's batches and adds them up. It skips batches that another process has locked, and only what
 * the deletion returns counts, so nothing is rolled up twice. The service passes the sums on as text, without reading
 * them.
 */
const TAKE = `
  with page as materialized (
    select number from usage_pending where shard = $1 order by number limit ${ROLLUP_PAGE} for update skip locked
  ), taken as (
    delete from usage_pending p using page where p.shard = $1 and p.number = page.number
    returning p.bucket, p.users, p.quotas, p.countries, p.message_types, p.kinds, p.units, p.messages
  ), summed as (
    select e.user_id, taken.bucket, e.quota_id, e.country, e.message_type,
      coalesce(sum(e.units) filter (where e.kind = 0), 0) as committed,
      coalesce(sum(e.messages) filter (where e.kind = 0), 0) as committed_messages,
      coalesce(sum(e.units) filter (where e.kind = 1), 0) as refunded,
      coalesce(sum(e.messages) filter (where e.kind = 1), 0) as refunded_messages,
      coalesce(sum(e.units) filter (where e.kind = 2), 0) as denied,
      coalesce(sum(e.messages) filter (where e.kind = 2), 0) as denied_messages
    from taken, unnest(users, quotas, countries, message_types, kinds, units, messages)
      e (user_id, quota_id, country, message_type, kind, units, messages)
    group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
  )
  select (select count(*) from taken) as batches, count(*) as rows, array_agg(user_id)::text as users, array_agg(bucket)::text as buckets,
    array_agg(quota_id)::text as quotas, array_agg(country)::text as countries,
    array_agg(message_type)::text as message_types, array_agg(committed)::text as committed,
    array_agg(committed_messages)::text as committed_messages, array_agg(refunded)::text as refunded,
    array_agg(refunded_messages)::text as refunded_messages, array_agg(denied)::text as denied,
    array_agg(denied_messages)::text as denied_messages
  from summed`

const ADDED = ['committed', 'committed_messages', 'refunded', 'refunded_messages', 'denied', 'denied_messages'] as const

/** In the order of keys, so that two processes that add for the same users cannot deadlock. */
const ADD = `
  insert into usage (shard, user_id, bucket, quota_id, country, message_type, ${ADDED.join(', ')})
  select $1::smallint, * from unnest($2::bigint[], $3::timestamptz[], $4::bigint[], $5::text[], $6::text[],
    $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[])
  on conflict (shard, user_id, bucket, quota_id, country, message_type) do update
  set ${ADDED.map(name => `${name} = usage.${name} + excluded.${name}`).join(', ')}`

/** The directory of users reads accounts; these are the users of the page who never had a quota. In the order of keys, too. */
const ADD_ACCOUNTS = `
  insert into account (shard, user_id)
  select $1::smallint, user_id from (select distinct unnest($2::bigint[]) as user_id) u order by user_id
  on conflict do nothing`

export interface RolledUp {
  batches: number
  /** Rows of `usage` that were added to. */
  rows: number
}

type Taken = Record<
  'users' | 'buckets' | 'quotas' | 'countries' | 'message_types' | (typeof ADDED)[number],
  string | null
> &
  RolledUp

/** Rolls a page of a shard's batches up into `usage`. */
export function rollUpUsage(db: Database, shard: Shard): Promise<RolledUp> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const [taken] = await tx.query<Taken>({ name: 'take-usage', text: TAKE, values: [shard] })
    if (taken === undefined) throw new Error('the database returned no row')
    const { users, buckets, quotas, countries, message_types, batches, rows } = taken
    if (users === null) return { batches, rows }
    const values = [shard, users, buckets, quotas, countries, message_types, ...ADDED.map(name => taken[name])]
    await tx.query({ name: 'add-rolled-up-usage', text: ADD, values })
    await tx.query({ name: 'add-accounts', text: ADD_ACCOUNTS, values: [shard, users] })
    return { batches, rows }
  })
}
