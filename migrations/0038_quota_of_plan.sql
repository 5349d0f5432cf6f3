-- serves: 0.1.0
-- transaction: none
-- The quotas of a user's plan, of which any number may have expired.
create index concurrently quota_of_plan on quota (shard, user_id, id) where plan is not null and deleted_at is null;
