-- serves: 0.1.0
-- transaction: none
-- The changes of one user's quotas.
create index concurrently quota_change_by_user on quota_change (((after ->> 'user_id')::bigint), at, shard, quota_id, version);
