-- Usage that stays small: detail for five weeks, then days, then months; and sums for reports over all users
-- (docs/decisions/0025-usage-by-age.md).

-- Denials by reason, each part of `denied`. Null: none, or from before reasons were recorded. Null and not 0, because
-- most rows have none, and a null takes no space.
alter table usage
  add column no_quota                 bigint,
  add column no_quota_messages        bigint,
  add column cap_reached              bigint,
  add column cap_reached_messages     bigint,
  add column quota_exhausted          bigint,
  add column quota_exhausted_messages bigint,
  add constraint usage_reasons check (least(no_quota, no_quota_messages, cap_reached, cap_reached_messages,
    quota_exhausted, quota_exhausted_messages) >= 0);
comment on column usage_pending.kinds is
  '0 committed, 1 refunded, 2 denied for an unknown reason (older versions), 3 no_quota, 4 cap_reached, 5 quota_exhausted';

-- The service deletes a day's rows every day. Vacuum makes their room free again within a few days, not after a fifth
-- of the table.
alter table usage set (autovacuum_vacuum_scale_factor = 0.02);

-- What `usage` holds of days, and then of months, that are compacted: the same columns, with `bucket` the beginning of
-- the day or month in the time zone that applied then. A unit is in exactly one of `usage`, `usage_day`, `usage_month`
-- and `usage_pending`; compaction moves it. Months are kept for good.
create table usage_day (like usage including constraints including indexes) with (
  fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02);
create table usage_month (like usage including constraints including indexes) with (fillfactor = 90);

-- The days and months that rows were compacted into. A report whose interval begins or ends within one is approximate.
create table usage_period (
  bucket timestamptz not null,
  until  timestamptz not null,
  primary key (bucket, until)
);

-- How far each shard's upkeep has come. `task`: `day` (rows of `usage` into `usage_day`), `month` (into `usage_month`),
-- `busy` (sums of busy users). A process holds all rows of a shard while it works there.
create table usage_upkeep (
  shard     smallint    not null,
  task      text        not null check (task in ('day', 'month', 'busy')),
  -- All usage before it is done, or was when a walk over the shard's users began that is still under way.
  until     timestamptz not null default '-infinity',
  -- The user with whom that walk goes on; null: it has ended.
  next_user bigint,
  primary key (shard, task)
) with (fillfactor = 50);
insert into usage_upkeep (shard, task)
select shard, task from generate_series(0, 63) shard, unnest(array['day', 'month', 'busy']) task;

-- Sums of users who have very many rows in `usage`: a row per quarter of an hour, without quotas, countries and types.
-- They repeat what `usage` holds, so that a report of a busy user reads 96 rows a day and not thousands.
create table usage_busy (
  shard                    smallint    not null,
  user_id                  bigint      not null,
  bucket                   timestamptz not null,
  committed                bigint      not null,
  committed_messages       bigint      not null,
  refunded                 bigint      not null,
  refunded_messages        bigint      not null,
  denied                   bigint      not null,
  denied_messages          bigint      not null,
  no_quota                 bigint,
  no_quota_messages        bigint,
  cap_reached              bigint,
  cap_reached_messages     bigint,
  quota_exhausted          bigint,
  quota_exhausted_messages bigint,
  unfunded                 bigint      not null,
  unfunded_messages        bigint      not null,
  -- Units that grants paid for, less refunds.
  funded                   bigint      not null,
  primary key (shard, user_id, bucket)
);
-- From when to when `usage_busy` has all usage of a user.
create table usage_busy_range (
  shard   smallint    not null,
  user_id bigint      not null,
  since   timestamptz not null,
  until   timestamptz not null,
  primary key (shard, user_id)
);

-- The usage of all users together: in all, by country, and by message type, each on its own, because no report shows both.
-- It is no user's data, and small: it has a row per country and one per message type that was used in a quarter of an
-- hour, a day or a month. The usage rollup adds to it, and compaction moves its rows like those above.
create table usage_total (
  -- What `bucket` begins: 0 a quarter of an hour, 1 a day, 2 a month.
  span                     smallint    not null,
  -- What `key` is: 0 nothing, 1 the country, 2 the message type.
  dimension                smallint    not null,
  bucket                   timestamptz not null,
  key                      text        collate "C",
  committed                bigint      not null,
  committed_messages       bigint      not null,
  refunded                 bigint      not null,
  refunded_messages        bigint      not null,
  denied                   bigint      not null,
  denied_messages          bigint      not null,
  no_quota                 bigint,
  no_quota_messages        bigint,
  cap_reached              bigint,
  cap_reached_messages     bigint,
  quota_exhausted          bigint,
  quota_exhausted_messages bigint,
  -- The part of `committed` that no grant paid for.
  unfunded                 bigint      not null,
  unfunded_messages        bigint      not null,
  unique nulls not distinct (span, dimension, bucket, key)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

-- The users of a shard who committed most units on a day (UTC), at most 128, for reports of the top users. An entry of
-- `units` is the most that its user can have committed; no user who is missing committed more than `missed` (a
-- Space-Saving summary). As long as no more than 128 users were active, both are exact: `missed` is 0.
create table usage_top (
  shard  smallint    not null,
  bucket timestamptz not null,
  users  bigint[]    not null,
  units  bigint[]    not null,
  missed bigint      not null,
  primary key (shard, bucket)
) with (fillfactor = 50);

insert into usage_total
select 0, case grouping(country, message_type) when 3 then 0 when 1 then 1 else 2 end, bucket,
  case grouping(country, message_type) when 1 then country when 2 then message_type end,
  sum(committed), sum(committed_messages), sum(refunded), sum(refunded_messages), sum(denied), sum(denied_messages), null, null, null, null, null, null,
  coalesce(sum(committed) filter (where quota_id is null), 0),
  coalesce(sum(committed_messages) filter (where quota_id is null), 0)
from usage group by grouping sets ((bucket), (bucket, country), (bucket, message_type));

insert into usage_top
select shard, day, array_agg(user_id order by units desc, user_id) filter (where place <= 128),
  array_agg(units order by units desc, user_id) filter (where place <= 128),
  coalesce(max(units) filter (where place > 128), 0)
from (
  select *, row_number() over (partition by shard, day order by units desc, user_id) as place
  from (
    select shard, date_bin('1 day', bucket, timestamptz 'epoch') as day, user_id, sum(committed) as units
    from usage group by 1, 2, 3 having sum(committed) > 0
  ) summed
) ranked
group by shard, day;
