-- serves: 0.1.0
-- On one PostgreSQL, a batch writes its usage as one row for all its shards, not as one for each.

-- The shards of the users, beside the other arrays; the row's own `shard` is 64 then. Null: all users are of the row's shard. A version
-- before this one neither reads nor rolls up the rows of all shards: its reports lack what others have written in the last seconds, and
-- if it is the only one that runs, what was left.
alter table usage_pending add column shards smallint[];
