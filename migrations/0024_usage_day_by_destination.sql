-- serves: 0.1.0
-- transaction: none
-- As of `usage`, of the days that it was compacted into.
create index concurrently usage_day_by_destination on usage_day (bucket, country, message_type);
