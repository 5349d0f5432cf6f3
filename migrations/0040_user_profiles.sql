-- serves: 0.1.0
-- What another system calls the users: a reference, by which callers may name them, a name, and what messages to them need.

create table user_profile (
  shard      smallint    not null,
  user_id    bigint      not null check (user_id >= 0),
  -- Never changes once it is set. It is in user_ref, too, by which it is found.
  ref        text        collate "C",
  name       text,
  email      text,
  language   text,
  time_zone  text,
  -- Numbers the changes, from 1.
  version    bigint      not null,
  updated_at timestamptz not null,
  updated_by text        not null,
  primary key (shard, user_id)
);

-- The search for users by the beginning of a name.
create index user_profile_by_name on user_profile ((lower(name) collate "C"), shard, user_id) where name is not null;

-- The user that a reference names. `shard` is a bucket of the reference (shardOfReference), so that its key finds it, and keeps it unique, on a cluster, too.
create table user_ref (
  shard    smallint not null,
  ref      text     collate "C" not null,
  -- Null: an erasure has freed it. It stays reserved while a process may remember which user it named.
  user_id  bigint,
  freed_at timestamptz,
  primary key (shard, ref),
  check ((user_id is null) = (freed_at is not null))
);
create index user_ref_freed on user_ref (freed_at) where freed_at is not null;

-- Who changed which profile, when, from what to what. Written in the transaction of the change, and erased with the user.
create table profile_change (
  shard      smallint    not null,
  user_id    bigint      not null,
  version    bigint      not null,
  action     text        not null check (action in ('created', 'updated')),
  at         timestamptz not null,
  actor      text        not null,
  request_id text        not null,
  -- The profile as the API showed it before and after. Null before: there was none.
  before     jsonb,
  after      jsonb       not null,
  primary key (shard, user_id, version)
);

-- The list of all administrators' changes walks the table by time, by actor or by request.
create index profile_change_by_time on profile_change (at, shard, user_id, version);
create index profile_change_by_actor on profile_change (actor, at, shard, user_id, version);
create index profile_change_by_request on profile_change (request_id, at, shard, user_id, version);
