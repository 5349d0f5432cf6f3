-- serves: 0.1.0
-- transaction: none
-- The erasures in the list of all administrators' changes.
create index concurrently erasure_by_time on erasure (requested_at, shard, user_id);
