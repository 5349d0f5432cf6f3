-- serves: 0.1.0
-- A counter of one value that was removed too early, and then given back, was stored below zero: it let more than its limit through.
update value_counter set used = greatest(used, 0), reserved = greatest(reserved, 0), archived = greatest(archived, 0), seq = seq + 1
  where used < 0 or reserved < 0 or archived < 0;
-- `not valid`: no row is below zero any more, and none needs to be read again under the lock.
alter table value_counter add constraint value_counter_check check (used >= 0 and reserved >= 0 and archived >= 0) not valid;
