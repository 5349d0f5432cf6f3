-- Which ends of quotas were emitted as quota.expired: of each shard all up to this end, in the order of `expires_at` and
-- id. The expiry notifier moves it (docs/decisions/0023-expiries-by-position.md), so it writes no quota.
-- `quota.expiry_emitted` is left for ends that an administrator's change has emitted itself; the notifier skips those.
alter table shard_head
  add column expired_until    timestamptz not null default '-infinity',
  add column expired_until_id bigint      not null default 0,
  -- Up to which number retention has removed events.
  add column pruned           bigint      not null default 0 check (pruned >= 0);

-- The position begins at the first end that is due and not emitted, or at the last end; those emitted after it are marked.
update shard_head h set expired_until = e.position
from (
  select shard, coalesce(min(expires_at) filter (where not expiry_emitted), max(expires_at)) as position
  from quota where deleted_at is null and expires_at <= now() group by shard
) e
where e.shard = h.shard;

drop index quota_expiry_not_emitted;
create index quota_by_end on quota (shard, expires_at, id) where deleted_at is null and expires_at is not null;

-- The last sequence of each user whose events retention has removed: the next event goes on from it. At most one row
-- per user.
create table event_sequence (
  shard   smallint not null,
  user_id bigint   not null,
  last    bigint   not null,
  primary key (shard, user_id)
) with (fillfactor = 80);

-- Removed events lie together at the oldest end of the table. Autovacuum frees their pages long before they are a fifth of
-- the table, which is its default.
alter table event set (autovacuum_vacuum_scale_factor = 0.02);
