-- Takes off the hot path what CHECK constraints cost it. PostgreSQL reads and prepares every CHECK of a table again for
-- each statement that writes to it, whatever columns it writes: with 19 on `quota` and 11 on `reservation`, that was a
-- third of what a batch of 16 reservations cost (docs/decisions/0011-checks-and-the-hot-path.md).
--
-- What an administrator defines is held by domains, which are looked at only where the column itself is written.
-- Counters keep one CHECK a table. Columns that nothing but the engine writes, from values that its types admit, and
-- what holds between columns of a definition, are left to the service's own rules.

create domain quota_kind as text check (value in ('grant', 'cap'));
create domain quota_period as text check (value in ('hour', 'day', 'week', 'month', 'year'));
create domain quota_units as bigint check (value between 0 and 1000000000000);
create domain quota_priority as smallint check (value between 0 and 255);
create domain quota_version as bigint check (value >= 1);
create domain scope as text[] check (cardinality(value) > 0);

do $$
declare old record;
begin
  for old in select conrelid::regclass as of_table, conname from pg_constraint
    where contype = 'c' and conrelid in ('quota'::regclass, 'reservation'::regclass)
  loop
    execute format('alter table %s drop constraint %I', old.of_table, old.conname);
  end loop;
end $$;

-- Partial indexes on these columns are made anew: their conditions name the old types.
drop index quota_list_caps;

alter table quota
  alter column kind type quota_kind,
  alter column period type quota_period,
  alter column "limit" type quota_units,
  alter column rollover_limit type quota_units,
  alter column overage_limit type quota_units,
  alter column priority type quota_priority,
  alter column version type quota_version,
  alter column countries type scope,
  alter column message_types type scope,
  add constraint quota_counters check (used >= 0 and reserved >= 0 and rolled_over >= 0);

create index quota_list_caps on quota (id) where kind = 'cap' and deleted_at is null;

alter table reservation add constraint reservation_units check (
  units >= 1 and committed >= 0 and released >= 0 and refunded >= 0
  and committed + released <= units and refunded <= committed);
