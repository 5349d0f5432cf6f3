-- serves: 0.1.0
-- Messages to people: webhooks of the kinds slack, teams and email, and webhooks for some users' events
-- (docs/decisions/webhooks.md#messages-to-people).
alter table webhook
  -- 'webhook', 'slack', 'teams' or 'email'. Of slack and teams `url` is what is shown, and `secret` the URL; of email `url` is empty.
  add column kind      text     not null default 'webhook',
  add column addresses text[],
  add column language  text     not null default 'en',
  -- Null: events of all users, and of none.
  add column user_ids  bigint[],
  -- Whether a webhook is enabled that versions before this one would send as another one. It is not `enabled` then, so that they neither
  -- fan out for it nor send.
  add column sends     boolean  not null default false;

-- Messages that were claimed in the minute that began then.
alter table webhook_cursor
  add column messages       integer not null default 0,
  add column messages_since timestamptz;

-- The addresses that still lack a message after the server took it for others. Null: all.
alter table webhook_delivery add column addresses text[];
