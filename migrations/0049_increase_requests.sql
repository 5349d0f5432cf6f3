-- serves: 0.1.0
-- Users' requests for more units, and how administrators decided them.
create table increase_request (
  shard            smallint    not null,
  id               bigint      not null,
  user_id          bigint      not null,
  -- The grant that is to get the units.
  quota_id         bigint      not null,
  units            bigint      not null,
  -- Null: for good.
  until            timestamptz,
  reason           text        not null,
  status           text        not null,
  created_at       timestamptz not null,
  -- When it was approved, declined or withdrawn, and the subject that did it. Null while it is open.
  decided_at       timestamptz,
  decided_by       text,
  note             text,
  -- What was given, and the grant that has it. Null unless it is approved.
  granted_units    bigint,
  granted_until    timestamptz,
  granted_quota_id bigint,
  -- The window of the grant in which it was approved automatically.
  automatic_window bigint,
  -- From when it is kept for as long as the audit: its decision, or the end of that window, which knows by it of its one approval. Null: it
  -- stays, because it is open, or the window has no end.
  retained_from    timestamptz,
  primary key (shard, id)
);

-- An index for each filter of the list: of all users, of a user, and of those by status. Ids grow.
create index increase_request_by_id on increase_request (id);
create index increase_request_by_status on increase_request (status, id);
create index increase_request_of_user on increase_request (shard, user_id, id);
create index increase_request_of_user_by_status on increase_request (shard, user_id, status, id);
-- At most one in each window of a grant.
create unique index increase_request_automatic on increase_request (shard, quota_id, automatic_window)
  where automatic_window is not null;
create index increase_request_retained on increase_request (retained_from);

-- Who made, approved, declined and withdrew which request. The audit of pauses has the same form (pause_change). Erased with the user.
create table increase_request_change (
  shard               smallint    not null,
  increase_request_id bigint      not null,
  -- 1: it was made. 2: it was approved, declined or withdrawn.
  version             bigint      not null,
  user_id             bigint      not null,
  action              text        not null,
  at                  timestamptz not null,
  actor               text        not null,
  request_id          text        not null,
  -- The request as the API showed it. Null before its creation.
  before              jsonb,
  after               jsonb       not null,
  primary key (shard, increase_request_id, version)
);
create index increase_request_change_by_time on increase_request_change (at, shard, increase_request_id, version);
create index increase_request_change_by_actor on increase_request_change (actor, at, shard, increase_request_id, version);
create index increase_request_change_by_request on increase_request_change (request_id, at, shard, increase_request_id, version);
create index increase_request_change_by_user on increase_request_change (user_id, at, shard, increase_request_id, version);
