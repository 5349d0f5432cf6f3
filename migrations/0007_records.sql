-- What people look up: why a limit was moved, and what became of the reservations.

-- In the words of whoever made the change; only adjustments have one.
alter table quota_change add reason text;

comment on table idempotency is
  'Answers to creations and adjustments that carried an Idempotency-Key; `answer` is the quota as it was answered.';

-- Reservations as people look for them, newest first: a user's own, and everybody's. Without the first, a user with
-- millions would have them all read and sorted; without the second, all there are. Neither column ever changes, so
-- updates stay heap-only; neither index holds the id, which is most of a row's key: what was made in the same
-- millisecond is sorted when it is read. The second gets its entries at its end, where a page is in memory anyway.
--
-- Both begin with an expression that no other statement names: the planner once took the first for looking up
-- reservations by user and id, which is a disaster for a user with millions, and the second for the page of one user.
create index reservation_of_user on reservation (shard, (-user_id), created_at);
create index reservation_by_time on reservation ((created_at at time zone 'UTC'));
