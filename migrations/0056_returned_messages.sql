-- serves: 0.1.0
-- Messages that came back: all of each was refunded at once. The breaker does not count them as sent (docs/decisions/breaker.md). Null: none,
-- or a version before this one has counted.
alter table usage add column returned_messages bigint;
