-- serves: 0.1.0
-- transaction: none
-- The changes of one user's address for messages, likewise.
create index concurrently user_address_change_by_user on user_address_change (user_id, at, shard, version);
