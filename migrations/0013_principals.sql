-- serves: 0.1.0
-- Who made and settled reservations, and who forced or refunded units (docs/decisions/0032-senders-share-the-queue.md).

-- The subjects of senders' tokens, so that a reservation names one in four bytes. The engine adds a subject when it comes for
-- the first time, 100,000 of them at most; later ones are not named. Rows never change and are never removed.
create table principal (
  id      integer generated always as identity primary key,
  subject text    collate "C" not null unique
);

-- Null: the service itself, a principal that is not named, or a version before this one. No index holds the columns, and
-- existing rows are not rewritten.
alter table reservation
  add column made_by    integer,
  -- Who committed, released or refunded units last. An expiry leaves it.
  add column settled_by integer;

-- What was booked past the limits, and what was given back after it was used. Goes with its reservation.
create table reservation_action (
  shard          smallint    not null,
  user_id        bigint      not null,
  reservation_id text        collate "C" not null,
  action         text        not null,
  -- The units committed (force) or refunded in all, after the action. They only grow, so they tell actions apart.
  total_units    bigint      not null,
  at             timestamptz not null,
  -- Null: not named.
  principal      integer,
  request_id     text        not null,
  primary key (shard, user_id, reservation_id, action, total_units)
);
