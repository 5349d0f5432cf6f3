-- serves: 0.1.0
-- transaction: none
-- The key of the ledger with the id before the user: an insert goes to the end of its shard instead of the page of its user, and the key
-- finds an id over all users, too. Ten million reservations take a minute or two; senders go on meanwhile.
create unique index concurrently reservation_key on reservation (shard, id, user_id);
