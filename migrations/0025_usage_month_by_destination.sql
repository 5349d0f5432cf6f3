-- serves: 0.1.0
-- transaction: none
-- As of `usage`, of the months.
create index concurrently usage_month_by_destination on usage_month (bucket, country, message_type);
