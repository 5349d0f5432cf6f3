-- serves: 0.1.0
-- transaction: none
-- Who has a plan, and in which version.
create index concurrently account_of_plan on account (plan_id, plan_version, shard, user_id) where plan_id is not null;
