-- serves: 0.1.0
-- The index that is built becomes the key. It takes no time, but waits for transactions that run. A version before this one goes on; to
-- ask whether it knows a user, and to erase one, it reads all reservations of a shard. Two statements: a cluster takes no other.
alter table reservation drop constraint reservation_pkey;
alter table reservation add constraint reservation_pkey primary key using index reservation_key;
