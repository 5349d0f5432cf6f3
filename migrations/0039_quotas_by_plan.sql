-- serves: 0.1.0
-- transaction: none
-- The list of the quotas of a plan, over all users.
create index concurrently quota_list_by_plan on quota (((plan ->> 'id')::bigint), id) where plan is not null and deleted_at is null;
