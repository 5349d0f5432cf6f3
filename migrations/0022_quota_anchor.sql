-- serves: 0.1.0
-- Where the months and years of a quota begin (docs/decisions/interface.md#where-months-begin).

-- A day of the month ('15') or a month and a day ('04-01'). Null: where the calendar's begin.
alter table quota add column anchor text;

-- A quota with an anchor is stored as 'anchored_month' or 'anchored_year': a version that does not know the column must not open its
-- next window on the first. `not valid`: every stored value is one of those that were allowed before.
alter domain quota_period drop constraint quota_period_check;
alter domain quota_period add constraint quota_period_check
  check (value in ('hour', 'day', 'week', 'month', 'year', 'anchored_month', 'anchored_year')) not valid;
