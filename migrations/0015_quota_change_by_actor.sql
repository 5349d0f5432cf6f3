-- serves: 0.1.0
-- transaction: none
-- The changes by one administrator.
create index concurrently quota_change_by_actor on quota_change (actor, at, shard, quota_id, version);
