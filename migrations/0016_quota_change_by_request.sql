-- serves: 0.1.0
-- transaction: none
-- The changes of one call.
create index concurrently quota_change_by_request on quota_change (request_id, at, shard, quota_id, version);
