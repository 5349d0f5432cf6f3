-- Users are found, listed and erased, and what is deleted can be removed after a time.

-- The directory of users, and users by id over all shards. `account` has a row for each user with quotas or usage: the
-- usage rollup adds those who sent, or were denied, without ever having had a quota. An expression that no other statement
-- uses, so that the planner cannot take the index for one: it took a plain one to lock the accounts of a batch.
create index account_by_user on account ((user_id + 0));

-- Users of before. Each step of the recursion finds the next user by the key, so it costs as much as there are users.
with recursive found as (
  (select shard, user_id from usage order by shard, user_id limit 1)
  union all
  select next.shard, next.user_id from found cross join lateral (
    select u.shard, u.user_id from usage u where (u.shard, u.user_id) > (found.shard, found.user_id)
    order by u.shard, u.user_id limit 1) next
)
insert into account (shard, user_id) select shard, user_id from found on conflict do nothing;

with recursive found as (
  (select shard, user_id from reservation order by shard, user_id limit 1)
  union all
  select next.shard, next.user_id from found cross join lateral (
    select r.shard, r.user_id from reservation r where (r.shard, r.user_id) > (found.shard, found.user_id)
    order by r.shard, r.user_id limit 1) next
)
insert into account (shard, user_id) select shard, user_id from found on conflict do nothing;

-- The search for reservations over all users. An expression that no other statement uses, so that the planner cannot take
-- the index for a look-up by user and id, where thousands of users may have the same id.
--
-- On two million reservations it takes 6 s to build, and no message is reserved meanwhile. Where that is too long, build it
-- before, with `create index concurrently` and this name. What it costs a send: docs/decisions/0028-search.md.
create index if not exists reservation_by_id on reservation ((id || ''));

-- Deleted quotas that are due to be removed. No send writes to these columns.
create index quota_by_deletion on quota (shard, deleted_at, id) where deleted_at is not null;

-- Requests to erase a user's data. A row stays as the record of who asked for what and when it was done: it is all that is
-- left of the user.
create table erasure (
  shard        smallint    not null,
  user_id      bigint      not null check (user_id >= 0),
  requested_at timestamptz not null,
  requested_by text        not null,
  request_id   text        not null,
  -- Whether open reservations were to be released, too.
  force        boolean     not null,
  -- Null: under way.
  finished_at  timestamptz,
  -- Rows removed so far, by table.
  removed      jsonb       not null default '{}',
  primary key (shard, user_id, requested_at)
) with (fillfactor = 70);
create unique index erasure_running on erasure (shard, user_id) where finished_at is null;

-- Answers that hold a quota of a user. `shard` is a bucket of the key there, so this is the only path from a user.
create index idempotency_of_user on idempotency (((answer ->> 'user_id')::bigint));
