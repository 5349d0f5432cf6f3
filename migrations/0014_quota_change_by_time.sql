-- serves: 0.1.0
-- transaction: none
-- The list of all administrators' changes, newest first; and their retention, oldest first.
create index concurrently quota_change_by_time on quota_change (at, shard, quota_id, version);
