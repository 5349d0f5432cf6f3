-- What has been told of a quota, so that it is told once.

-- The percents of `alert_at` that were told in the window the row stands in. No index holds it: a draw that crosses a
-- threshold is a heap-only update like all others.
alter table quota add column alerted smallint[] not null default '{}';

-- Whether the end of the quota was told. An administrator's change that revives it says no again. It is written without
-- a new `seq`, for nothing is decided by it.
alter table quota add column expiry_emitted boolean not null default false;
-- What ended before anybody told is old news.
update quota set expiry_emitted = true where expires_at <= now();

-- What is to be told, and nothing else: asking costs the same however many quotas have ended.
create index quota_expiry_not_emitted on quota (expires_at) where not expiry_emitted and deleted_at is null;
