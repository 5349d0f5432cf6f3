-- serves: 0.1.0
-- transaction: none
-- The index by destination begins with the time, and answers the same, in a version before, too.
drop index concurrently if exists usage_by_time;
