/** SQL by which the rollup of usage counts minutes for the breaker. */

import { USAGE_BUCKET_MS } from '../../domain/basics/bounds.ts'
import { HOUR_MS } from '../../domain/time/time.ts'
import { type Sql, sql, sqlInteger } from '../connection/sql.ts'
import { USAGE_KIND_CODES } from '../ledger/add-usage.ts'
import { isReturned } from './columns.ts'

const COMMITTED = sqlInteger(USAGE_KIND_CODES.committed)
const VERIFIED = sqlInteger(USAGE_KIND_CODES.verified)

/** How long minutes are kept: an hour, and up to the quarter of an hour in which it begins. Earlier feedback counts in none. */
export const MINUTES_KEPT_MS = HOUR_MS + USAGE_BUCKET_MS
const KEPT = sql`interval '${sqlInteger(MINUTES_KEPT_MS)} milliseconds'`

/**
 * What the batches `taken` have of message types, by minute: sent ones by when they were, verified ones by when they were reserved. What
 * came back was not sent, in the minute of its reservation.
 */
export const minutesOf = (taken: Sql, types: Sql): Sql => sql`
    select shard, date_bin('1 minute', sent_at, timestamptz 'epoch') as minute, user_id, country,
      coalesce(sum(case when kind = ${COMMITTED} then messages else -messages end) filter (where kind <> ${VERIFIED}), 0)::bigint as sent,
      coalesce(sum(messages) filter (where kind = ${VERIFIED}), 0)::bigint as verified
    from (
      select e.shard, e.user_id, e.country, e.kind, e.messages, ${taken}.at, coalesce(e.sent_at, ${taken}.at) as sent_at
      from ${taken}, unnest(${taken}.users, ${taken}.countries, ${taken}.message_types, ${taken}.kinds, ${taken}.messages, ${taken}.shards, ${taken}.sent_at)
        e (user_id, country, message_type, kind, messages, shard, sent_at)
      where e.message_type = any (${types}) and e.country is not null and e.messages > 0
        and (e.kind in (${COMMITTED}, ${VERIFIED}) or ${isReturned(sql`e`)})
    ) watched
    where sent_at > at - ${KEPT}
    group by 1, 2, 3, 4`

/** Adds to the minutes, in the order of keys, so that two processes that add to the same ones cannot deadlock. */
export const addMinutes = (minutes: Sql): Sql => sql`
  insert into breaker_minute as m (shard, minute, user_id, country, sent, verified) ${minutes} order by 1, 2, 3, 4
  on conflict (shard, minute, user_id, country) do update set sent = m.sent + excluded.sent, verified = m.verified + excluded.verified`
