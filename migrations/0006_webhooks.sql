-- Webhooks with a long backlog: to delete one, or to enable it again, writes a mark; the deliveries follow in pages
-- (docs/decisions/0022-webhooks-with-a-backlog.md).

alter table webhook
  -- When an administrator deleted it. From then on only the job that removes its deliveries, and then this row, sees it.
  add column deleted_at   timestamptz,
  -- When it was last enabled after it had been disabled. A series of attempts that began before has ended with that.
  add column restarted_at timestamptz,
  add constraint webhook_deleted check (deleted_at is null or not enabled);

-- Pending deliveries that are due from then on, and whose series began before `restarted_at`, are still to be made due at
-- once. Null: there are none.
alter table webhook_cursor add column restart_from timestamptz;

-- A check of the webhook for each delivery doubled the time of fan-out. Deliveries are inserted under the lock of the
-- webhook's row in webhook_cursor, and that row is deleted under the same lock when no delivery is left.
alter table webhook_delivery drop constraint webhook_delivery_shard_webhook_id_fkey;
