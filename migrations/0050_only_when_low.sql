-- serves: 0.1.0
-- Webhooks that get thresholds only when little is left: {"units": 100, "share": 0.1}, one or both. Null: always.
alter table webhook add column only_when_low jsonb;
