-- serves: 0.1.0
-- By how many units a change of support staff moved a limit: they move so many of each user in a day. Null: the change is another one's.
alter table quota_change add column moved_units bigint;
