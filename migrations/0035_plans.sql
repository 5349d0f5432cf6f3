-- serves: 0.1.0
-- Plans: versioned lists of quotas that a user gets as a whole (docs/guides/plans.md).

-- All plans lie in shard 0: there are few, one of them at most is the default, and their ids are numbered under the lock of that
-- shard's head. Rows are never removed: users keep quotas of archived plans, and of earlier versions.
create table plan (
  shard       smallint    not null,
  id          bigint      not null,
  -- The current one of `plan_version`.
  version     bigint      not null,
  is_default  boolean     not null,
  archived_at timestamptz,
  created_at  timestamptz not null,
  created_by  text        not null,
  updated_at  timestamptz not null,
  updated_by  text        not null,
  primary key (shard, id),
  constraint plan_archived check (archived_at is null or not is_default)
);
create unique index plan_default on plan (shard) where is_default;

create table plan_version (
  shard   smallint not null,
  plan_id bigint   not null,
  version bigint   not null,
  name    text     not null,
  -- A list of objects: the slot's name, how many days its quota lasts, and the fields of the quota.
  slots   jsonb    not null,
  primary key (shard, plan_id, version)
);

-- Who changed which plan, when, from what to what. The audit of webhooks has the same form (webhook_change).
create table plan_change (
  shard      smallint    not null,
  plan_id    bigint      not null,
  -- Numbers the changes of a plan, from 1.
  version    bigint      not null,
  action     text        not null check (action in ('created', 'updated', 'archived')),
  at         timestamptz not null,
  actor      text        not null,
  request_id text        not null,
  -- The plan as the API showed it. Null before its creation.
  before     jsonb,
  after      jsonb       not null,
  primary key (shard, plan_id, version)
);
create index plan_change_by_time on plan_change (at, shard, plan_id, version);
create index plan_change_by_actor on plan_change (actor, at, shard, plan_id, version);
create index plan_change_by_request on plan_change (request_id, at, shard, plan_id, version);

-- The plan that the user has, and the version that was given. Null: none.
alter table account
  add column plan_id      bigint,
  add column plan_version bigint;
