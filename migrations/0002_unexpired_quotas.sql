-- A user's unexpired quotas. Expired ones accumulate until an administrator deletes them: a daily top-up leaves 1,100 in
-- three years. Senders and administrators' changes read the unexpired ones only, and 'infinity' stands for "never
-- expires". No send writes to it: the engine changes none of its columns.
create index quota_unexpired_of_user on quota (shard, user_id, (coalesce(expires_at, 'infinity'::timestamptz)))
  where deleted_at is null;
