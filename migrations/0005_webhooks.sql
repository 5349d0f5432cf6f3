-- Webhooks: where events are sent, how far each has come, and what became of each delivery.
--
-- All of it lies in the shard of the webhook (its id modulo 64), whatever the shard of the event: what is claimed
-- together is in one place.

-- What is no user's (a webhook's end) has no user.
alter table event alter column user_id drop not null, alter column sequence drop not null;
-- Events are written in the order of time, near enough: to find those since a moment takes almost nothing.
create index event_age on event using brin (at);

-- Ids are nextval × 64 + shard, as a quota's, taken in turn over the shards.
create sequence webhook_number as bigint;

create table webhook (
  shard            smallint    not null,
  id               bigint      not null,
  url              text        not null,
  -- Null: all.
  types            text[],
  description      text,
  enabled          boolean     not null,
  -- Why the service disabled it; null if it did not.
  disabled_reason  text        check (disabled_reason in ('failing', 'gone')),
  -- Since when every attempt has failed; null after a success.
  failing_since    timestamptz,
  secret           bytea       not null,
  -- The one before, which signs as well for a while.
  previous_secret  bytea,
  previous_until   timestamptz,
  created_at       timestamptz not null,
  created_by       text        not null,
  updated_at       timestamptz not null,
  updated_by       text        not null,
  primary key (shard, id),
  check (id % 64 = shard),
  check (not enabled or disabled_reason is null),
  check ((previous_secret is null) = (previous_until is null)),
  check (cardinality(types) > 0)
);

-- Up to where the outbox was turned into deliveries, a number for each of its shards, the first at index 1. Moved in the
-- transaction that writes the deliveries. A row of its own, for it is locked while that goes on.
create table webhook_cursor (
  shard      smallint not null,
  webhook_id bigint   not null,
  positions  bigint[] not null check (cardinality(positions) = 64),
  primary key (shard, webhook_id),
  foreign key (shard, webhook_id) references webhook (shard, id) on delete cascade
) with (fillfactor = 10);

create table webhook_delivery (
  shard           smallint    not null,
  webhook_id      bigint      not null,
  -- The event's place in the outbox.
  event_shard     smallint    not null,
  number          bigint      not null,
  status          text        not null check (status in ('pending', 'delivered', 'failed')),
  -- Attempts ever begun; also what tells whose attempt it is.
  attempts        integer     not null default 0,
  -- Failed attempts in this series, and when it began; a redelivery begins another.
  failures        integer     not null default 0,
  began_at        timestamptz,
  -- When it is attempted next. While an attempt is under way, when it counts as lost.
  next_attempt_at timestamptz,
  last_attempt_at timestamptz,
  response_code   smallint,
  error           text,
  created_at      timestamptz not null,
  primary key (shard, webhook_id, event_shard, number),
  foreign key (shard, webhook_id) references webhook (shard, id) on delete cascade,
  check ((status = 'pending') = (next_attempt_at is not null))
) with (fillfactor = 70);
create index webhook_delivery_due on webhook_delivery (shard, webhook_id, next_attempt_at) where status = 'pending';
create index webhook_delivery_list on webhook_delivery (shard, webhook_id, created_at, event_shard, number);
