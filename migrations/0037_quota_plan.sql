-- serves: 0.1.0
-- Which quotas are of the user's plan (docs/guides/plans.md).

-- The plan's id, name and version as they were given, the slot, and the fields that an administrator has changed since (`kept`). Null: a
-- quota of the user's own, or one that is of no plan any more. A version before this one leaves it, and does not note what it changes.
alter table quota add column plan jsonb;
