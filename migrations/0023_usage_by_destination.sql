-- serves: 0.1.0
-- transaction: none
-- Reports over all users, also of one country or message type: who sends there. It takes the place of the index by time alone.
create index concurrently usage_by_destination on usage (bucket, country, message_type);
