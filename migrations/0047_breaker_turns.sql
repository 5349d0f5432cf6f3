-- serves: 0.1.0
-- The breaker judges messages of an hour more often than those of a day, so each has the time of its last turn.
alter table breaker rename column swept_at to day_judged_at;
alter table breaker add column hour_judged_at timestamptz;
