-- serves: 0.1.0
-- Webhooks whose messages wait for one hour of the day: {"hour": 9, "time_zone": "Europe/Berlin"}. Null: they go out at once.
alter table webhook add column digest jsonb;
