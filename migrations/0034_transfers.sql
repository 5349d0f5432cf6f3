-- serves: 0.1.0
-- Units that changed hands. A row lies with its giver: on the giver's side the units are booked like a send, as the reservation
-- `_transfer:{id}`, and the row names the receiver. An erasure of the receiver blanks that.
create table transfer (
  shard        smallint    not null,
  id           bigint      not null,
  user_id      bigint      not null,
  quota_id     bigint      not null,
  -- The window of the giver's grant that the units came from, and go back to.
  window_no    bigint      not null,
  window_start timestamptz not null,
  to_user_id   bigint,
  to_quota_id  bigint,
  units        bigint      not null,
  returned     bigint      not null default 0,
  reason       text,
  expires_at   timestamptz,
  at           timestamptz not null,
  actor        text        not null,
  request_id   text        not null,
  primary key (shard, id),
  constraint transfer_units check (units > 0 and returned between 0 and units)
);

create index transfer_of_giver on transfer (shard, user_id, id);
create index transfer_of_quota on transfer (shard, quota_id);
create index transfer_of_receiver on transfer (to_user_id, id) where to_user_id is not null;
-- For the list over all users: ids grow.
create index transfer_by_id on transfer (id);
