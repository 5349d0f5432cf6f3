-- serves: 0.1.0
-- What the list of customers shows and sorts by: a row for each account, made by a job (docs/decisions/usage.md#figures-of-customers). All
-- of it can be made again. Erased with the user.
create table customer_figures (
  shard           smallint    not null,
  user_id         bigint      not null,
  computed_at     timestamptz not null,
  -- When a window or quota begins or ends, or a day later: then it is made anew, if nothing else has happened before.
  due_at          timestamptz not null,
  -- The user's last event, and the version of the profile, that it is made of. With others it is made anew.
  sequence        bigint      not null,
  profile_version bigint      not null,
  -- The name without case and accents; without one, what sorts behind all names.
  name_key        text        not null collate "C",
  state           text        not null,
  -- The place among those at risk, highest first; 0: at none.
  urgency         bigint      not null,
  -- Shares are in millionths.
  used_share      integer     not null,
  -- Units sent on each of the last 30 days before it was made, the latest last, and on all of them.
  daily           bigint[]    not null,
  sent            bigint      not null,
  sent_before     bigint      not null,
  denied          bigint      not null,
  denied_share    integer     not null,
  unmet           bigint      not null,
  growth          integer     not null,
  -- Units per day, for the forecast. Null before a full week of use.
  daily_rate      double precision,
  -- 1970: never.
  last_message_at timestamptz not null,
  primary key (shard, user_id)
);
-- An index for each order of the list.
create index customer_figures_by_name on customer_figures (name_key, user_id);
create index customer_figures_by_urgency on customer_figures (urgency, user_id);
create index customer_figures_by_used on customer_figures (used_share, user_id);
create index customer_figures_by_sent on customer_figures (sent, user_id);
create index customer_figures_by_denied on customer_figures (denied_share, user_id);
create index customer_figures_by_unmet on customer_figures (unmet, user_id);
create index customer_figures_by_growth on customer_figures (growth, user_id);
create index customer_figures_by_last_message on customer_figures (last_message_at, user_id);

-- The walk over the accounts that makes them, shard by shard.
alter table usage_upkeep drop constraint usage_upkeep_task_check;
alter table usage_upkeep add constraint usage_upkeep_task_check
  check (task in ('day', 'month', 'busy', 'figures')) not valid;
-- When the last walk began that has ended; null: none has.
alter table usage_upkeep add column done_until timestamptz;
insert into usage_upkeep (shard, task) select shard, 'figures' from shard_head;
