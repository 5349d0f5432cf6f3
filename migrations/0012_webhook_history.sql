-- serves: 0.1.0
-- Who changed which webhook, when, from what to what. Written in the transaction of the change. A webhook's changes stay
-- when it is removed. Version 0.1.0 does not write here: its changes are missing.
create table webhook_change (
  shard      smallint    not null,
  webhook_id bigint      not null,
  -- Numbers the recorded changes of a webhook, from 1.
  version    bigint      not null,
  action     text        not null check (action in ('created', 'updated', 'secret_rotated', 'secret_discarded', 'disabled', 'deleted')),
  at         timestamptz not null,
  actor      text        not null,
  -- Null: the service made the change by itself.
  request_id text,
  -- The webhook as the API showed it, without its secrets. Null before its creation and after its deletion.
  before     jsonb,
  after      jsonb,
  primary key (shard, webhook_id, version)
);

-- The list of all administrators' changes walks each of these tables by time, by actor or by request.
create index webhook_change_by_time on webhook_change (at, shard, webhook_id, version);
create index webhook_change_by_actor on webhook_change (actor, at, shard, webhook_id, version);
create index webhook_change_by_request on webhook_change (request_id, at, shard, webhook_id, version);
