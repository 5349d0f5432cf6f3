-- Percents that quotas have reached, newest first, for people who look at who is about to run out. Only events that
-- tell a percent have an entry, so nothing that does not reach one pays for it.
--
-- It selects by what such an event holds and not by its type, which others name too: the planner could take it for the
-- feed's reading of that type, where it would be read from end to end for each shard.
create index event_of_percent on event (at) where data ? 'percent';
