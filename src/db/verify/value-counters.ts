/**
 * Of caps that count each value by itself, the counters of the open window are the sums over the reservations. Which window is open the
 * calendar says, and so the domain. Counters of other windows are on their way out: what settles leaves them alone.
 */

import type { Shard } from '../../domain/basics/shard.ts'
import { type Quota, roll } from '../../domain/quotas/quota.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Database, Transaction } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { BY_KEYS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { QUOTA_COLUMNS } from '../quotas/quotas.ts'
import { IN_RANGE } from './ledger.ts'
import type { Conclusion } from './proof.ts'

/** Caps whose counters are compared at a time. */
const CAPS = 200

/** Near its end, a window is over by the clocks of some processes. */
const MARGIN_MS = 5_000

/** Proves the counters of users of a shard, above `after` and up to `upTo`. */
export async function checkValueCounters(
  db: Database,
  { shard, after, upTo }: { shard: Shard; after: number; upTo: number },
  max: number,
): Promise<Conclusion> {
  const conclusion: Conclusion = { proof: 'values', checked: 0, not_provable: 0, differences: [] }
  for (let last = { user_id: after, id: 0 }; conclusion.differences.length < max; ) {
    const { caps, found } = await checkPage(db, shard, last, upTo)
    conclusion.checked += found.checked
    conclusion.differences.push(...found.differences)
    const end = caps.at(-1)
    if (end === undefined || caps.length < CAPS) break
    last = end
  }
  conclusion.differences.splice(max)
  return conclusion
}

type Found = Pick<Conclusion, 'checked' | 'differences'>
const NOTHING: Found = { checked: 0, differences: [] }

function checkPage(db: Database, shard: Shard, after: { user_id: number; id: number }, upTo: number) {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const caps = await tx.query<Quota & { at: EpochMs }>({
      text: sql`select ${QUOTA_COLUMNS}, now() as at from quota
             where ${IN_RANGE} and per is not null and deleted_at is null and (user_id, id) > ($2, $4::bigint)
             order by user_id, id limit $5`,
      values: [shard, after.user_id - 1, upTo, after.id, CAPS],
    })
    const open = caps
      .map(({ at, ...cap }) => ({ at, cap: roll(cap, at).quota }))
      .filter(({ at, cap: { window_end } }) => window_end !== null && window_end > at + MARGIN_MS)
      .map(({ cap }) => cap)
    return { caps, found: open.length === 0 ? NOTHING : await compare(tx, shard, open) }
  }, 'snapshot')
}

/** Computes what a reservation counts independently of `countsOf`: its draws are as `ledger.ts` says, and each on such a cap has its key. */
async function compare(tx: Transaction, shard: Shard, caps: readonly Quota[]): Promise<Found> {
  const [found] = await tx.query<Found>({
    text: sql`with cap as materialized (
        select * from unnest($2::bigint[], $3::bigint[], $4::timestamptz[]) k (user_id, quota_id, window_start)
      ), entry as (
        select cap.user_id, cap.quota_id, d.key,
          case d.code when 3 then greatest(0, least(d.upto, d.spent) - d.start) else case when d.spent > 0 then d.upto else 0 end end as used,
          case d.code when 3 then greatest(0, least(d.upto, d.held) - greatest(d.start, d.spent))
            else case when d.spent <= 0 and d.held > 0 then d.upto else 0 end end as reserved
        from (select distinct user_id from cap) u
        join reservation r on r.shard = $1 and -r.user_id = -u.user_id and r.draw_keys is not null
        cross join lateral (
          select r.draws[i] as quota_id, r.draws[i + 1] as code, r.draws[i + 3] as began, r.draws[i + 4] as start, r.draws[i + 5] as upto,
            r.draw_keys[(row_number() over (order by i))::int] as key,
            r.committed - r.refunded as spent, r.units - r.released - r.refunded as held
          from generate_series(1, cardinality(r.draws), 6) i where r.draws[i + 1] in (3, 4)
        ) d
        join cap on cap.user_id = u.user_id and cap.quota_id = d.quota_id
          and floor(extract(epoch from cap.window_start) * 1000)::bigint = d.began
      ), ledger as (
        select user_id, quota_id, key, sum(used)::bigint as used, sum(reserved)::bigint as reserved from entry group by 1, 2, 3
      ), counted as (
        select cap.user_id, cap.quota_id, c.value_key as key, c.used, c.reserved, c.archived
        from cap join value_counter c on c.shard = $1 and c.quota_id = cap.quota_id and c.window_start = cap.window_start
      ), compared as materialized (
        select user_id, quota_id, coalesce(c.used, 0) as used, coalesce(c.reserved, 0) as reserved,
          coalesce(l.used, 0) + coalesce(c.archived, 0) as ledger_used, coalesce(l.reserved, 0) as ledger_reserved
        from ledger l full join counted c using (user_id, quota_id, key)
      )
      select count(*) as checked, coalesce(json_agg(json_build_object('user_id', user_id, 'quota_id', quota_id, 'message',
        format('Quota %s of user %s: counted %s used and %s reserved of one value, its ledger has %s used and %s reserved.',
          quota_id, user_id, used, reserved, ledger_used, ledger_reserved))
        order by user_id, quota_id, used, reserved) filter (where (used, reserved) <> (ledger_used, ledger_reserved)), '[]') as differences
      from compared`,
    values: [
      shard,
      caps.map(({ user_id }) => user_id),
      caps.map(({ id }) => id),
      caps.map(({ window_start }) => timestampParam(window_start)),
    ],
  })
  return found ?? NOTHING
}
