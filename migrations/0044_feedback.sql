-- serves: 0.1.0
-- Feedback: the sender says that the code of a message was entered.
alter table reservation add column verified boolean not null default false;

-- Messages whose code was entered, in the bucket of the feedback. Null: none. Feedback is for when no version before this one runs: it
-- neither adds it up nor carries the sums along when it compacts old rows.
alter table usage add column verified_messages bigint;
alter table usage_day add column verified_messages bigint;
alter table usage_month add column verified_messages bigint;
alter table usage_busy add column verified_messages bigint;
alter table usage_total add column verified_messages bigint;

-- How many of the removed reservations were verified whose first unit the window's grant paid.
alter table archive add column verified bigint not null default 0;

comment on column usage_pending.kinds is
  '0 committed, 1 refunded, 2 denied for an unknown reason (older versions), 3 no_quota, 4 cap_reached, 5 quota_exhausted, 6 destination_paused, 7 verified';
alter table usage_pending
  -- When the batch was decided, to the millisecond. Null: a version before this one wrote it.
  add column at timestamptz,
  -- When each verified message was reserved, beside the other arrays; no element for batches without one.
  add column sent_at timestamptz[];
