-- serves: 0.1.0
-- What a plan's quota that has ended was: what it used counts in the one that the user gets next for the slot (docs/guides/plans.md).

-- The slot, until when its window would have been open (epoch milliseconds; null: for good), and what its first window began with. Null: a
-- quota that is of a plan, was of none, or ended before this column was there. A version before this one leaves it.
alter table quota add column former jsonb;
