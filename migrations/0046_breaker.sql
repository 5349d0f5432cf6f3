-- serves: 0.1.0
-- The breaker: it pauses destinations of users to which codes are sent that no person enters (docs/guides/stop-pumping.md).

-- Its one row is in shard 0, beside the pauses. Its lock lets one change at a time be made, and one process at a time judge.
create table breaker (
  shard     smallint    not null primary key,
  -- Of the settings.
  version   bigint      not null,
  -- Null: they were never changed.
  settings  jsonb,
  -- The last time that a process judged what was sent lately, and all of the last 24 hours.
  judged_at timestamptz,
  swept_at  timestamptz,
  -- The users of the last 24 hours, with and without feedback.
  users     jsonb
);
insert into breaker (shard, version) values (0, 1);

-- Who changed its settings. The audit of plans has the same form (plan_change).
create table breaker_change (
  shard      smallint    not null,
  -- Always 0: there is one breaker.
  breaker_id bigint      not null,
  version    bigint      not null,
  action     text        not null,
  at         timestamptz not null,
  actor      text        not null,
  request_id text        not null,
  before     jsonb,
  after      jsonb       not null,
  primary key (shard, breaker_id, version)
);
create index breaker_change_by_time on breaker_change (at, shard, breaker_id, version);
create index breaker_change_by_actor on breaker_change (actor, at, shard, breaker_id, version);
create index breaker_change_by_request on breaker_change (request_id, at, shard, breaker_id, version);

-- Messages of the types that the breaker watches, by the minute in which they were sent; those verified by the minute in which they were
-- reserved. Kept for 75 minutes. The usage of days is in `usage`.
create table breaker_minute (
  shard    smallint    not null,
  minute   timestamptz not null,
  user_id  bigint      not null,
  country  text        not null,
  sent     bigint      not null,
  verified bigint      not null,
  primary key (shard, minute, user_id, country)
) with (fillfactor = 70);

-- What the breaker would have paused while it only observes. Such a pause is lifted when it is made, so it never denies a message.
alter table pause add column observed boolean not null default false;
