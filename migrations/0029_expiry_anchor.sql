-- serves: 0.1.0
-- What the ends of a quota that is extended by months or years keep to (docs/import-export.md).

-- The day of the month and the time of the day of the first end, by the quota's time zone, such as '31T09:00:00'. Null: never extended by a
-- duration, or not since the end was set to a later time. A version before this one leaves it, and then an end that is not on it is not
-- extended by it.
alter table quota add column expiry_anchor text;
