-- What people look up: why a limit was moved, and what became of the reservations.

-- In the words of whoever made the change; only adjustments have one.
alter table quota_change add reason text;

comment on table idempotency is
  'Answers to creations and adjustments that carried an Idempotency-Key; `answer` is the quota as it was answered.';
