-- What `sms-quota verify` needs to know beside the counters (docs/decisions/0030-what-verify-proves.md). Null stands for
-- "not known", in rows that were written before.

-- Whether a forced commit took units again that had been released. Such units may lie past a limit, like those of `force`.
-- The default is set in a second statement, so that existing rows keep null. No index holds the column.
alter table reservation add column retaken boolean;
alter table reservation alter column retaken set default false;

-- The part of `used` that was booked by force: by reservations with `force`, `opening_used`, and forced commits.
alter table archive add column forced bigint;

-- The time at which `live` was counted.
alter table account add column live_at timestamptz;
