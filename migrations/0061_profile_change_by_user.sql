-- serves: 0.1.0
-- transaction: none
-- The changes of one user's profile, in the order of the list: by the primary key they are in that of their versions.
create index concurrently profile_change_by_user on profile_change (user_id, at, shard, version);
