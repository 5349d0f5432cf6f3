-- serves: 0.1.0
-- transaction: none
-- The quotas that were of a user's plan: ended by it, or deleted while they were of it.
create index concurrently quota_former on quota (shard, user_id, id)
  where former is not null or (plan is not null and deleted_at is not null);
