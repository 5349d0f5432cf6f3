-- serves: 0.1.0
-- Pauses: messages to a country that are denied for a time, of one user or of all (docs/guides/pauses.md).

-- All pauses lie in shard 0: each process asks for the active ones every second, and for all users at once. At most 10,000 are active.
create table pause (
  shard         smallint    not null,
  id            bigint      not null,
  -- Null: all users.
  user_id       bigint,
  country       text        not null,
  -- Null: all types, and none.
  message_types text[],
  -- Null: until it is lifted.
  until         timestamptz,
  reason        text,
  origin        text        not null,
  -- The figures that made the breaker pause. Null: a person did.
  evidence      jsonb,
  created_at    timestamptz not null,
  created_by    text        not null,
  lifted_at     timestamptz,
  lifted_by     text,
  primary key (shard, id)
);
-- The active ones are at its end.
create index pause_unlifted on pause (shard, (coalesce(until, 'infinity'::timestamptz))) where lifted_at is null;
-- The latest of a user and country; all of a user.
create index pause_of_user on pause (shard, user_id, country, id);
-- For the retention of those that have ended.
create index pause_by_end on pause (shard, (least(lifted_at, until)));

-- Changes of pauses lock its one row, one after the other.
create table pause_state (
  shard   smallint not null primary key,
  last_id bigint   not null,
  -- Another random number after each change, so that processes read pauses again only if they have changed.
  state   bigint   not null
);
insert into pause_state (shard, last_id, state) values (0, 0, 0);

-- Who made and lifted which pause. The audit of plans has the same form (plan_change). Erased with the user.
create table pause_change (
  shard      smallint    not null,
  pause_id   bigint      not null,
  -- 1: it was made. 2: it was lifted.
  version    bigint      not null,
  -- That of the pause.
  user_id    bigint,
  action     text        not null,
  at         timestamptz not null,
  actor      text        not null,
  request_id text        not null,
  -- The pause as the API showed it. Null before its creation.
  before     jsonb,
  after      jsonb       not null,
  primary key (shard, pause_id, version)
);
create index pause_change_by_time on pause_change (at, shard, pause_id, version);
create index pause_change_by_actor on pause_change (actor, at, shard, pause_id, version);
create index pause_change_by_request on pause_change (request_id, at, shard, pause_id, version);
create index pause_change_by_user on pause_change (user_id, at, shard, pause_id, version);

-- Denials by reason, as those that are there.
alter table usage
  add column destination_paused          bigint,
  add column destination_paused_messages bigint;
alter table usage_day
  add column destination_paused          bigint,
  add column destination_paused_messages bigint;
alter table usage_month
  add column destination_paused          bigint,
  add column destination_paused_messages bigint;
alter table usage_busy
  add column destination_paused          bigint,
  add column destination_paused_messages bigint;
alter table usage_total
  add column destination_paused          bigint,
  add column destination_paused_messages bigint;
comment on column usage_pending.kinds is
  '0 committed, 1 refunded, 2 denied for an unknown reason (older versions), 3 no_quota, 4 cap_reached, 5 quota_exhausted, 6 destination_paused';
