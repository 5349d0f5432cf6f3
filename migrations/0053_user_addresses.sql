-- serves: 0.1.0
-- Where users have messages about their own events sent to (docs/decisions/webhooks.md#messages-to-users-themselves).
create table user_address (
  shard        smallint    not null,
  user_id      bigint      not null,
  -- Null: it was taken back.
  address      text,
  language     text        not null,
  -- Names this address in the links of its messages. Another address has another number.
  serial       bigint      not null,
  -- Until when the link that confirms it does.
  expires_at   timestamptz not null,
  -- Null: it is not confirmed, and gets no message.
  confirmed_at timestamptz,
  -- When the mail server refused it for good. It gets no message since.
  refused_at   timestamptz,
  -- When the last message to it was claimed.
  messaged_at  timestamptz,
  -- Numbers the changes, from 1.
  version      bigint      not null,
  primary key (shard, user_id)
);

-- When an address was set, confirmed and taken back. It names no address. Erased with the user.
create table user_address_change (
  shard      smallint    not null,
  user_id    bigint      not null,
  version    bigint      not null,
  action     text        not null,
  at         timestamptz not null,
  actor      text        not null,
  request_id text        not null,
  before     jsonb,
  after      jsonb       not null,
  primary key (shard, user_id, version)
);
create index user_address_change_by_time on user_address_change (at, shard, user_id, version);
create index user_address_change_by_actor on user_address_change (actor, at, shard, user_id, version);
create index user_address_change_by_request on user_address_change (request_id, at, shard, user_id, version);

-- Links that were sent in the hour which began then, for each user and each address, by a keyed hash: none can have strangers flooded.
create table link_count (
  shard  smallint    not null,
  digest bytea       not null,
  sent   integer     not null,
  since  timestamptz not null,
  primary key (shard, digest)
);
