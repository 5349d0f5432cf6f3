-- serves: 0.1.0
-- The sender of each logged denial, so that the log can be filtered by it (docs/decisions/0026-a-log-of-denials.md).

-- An id of `principal`. Null: not named, or written by a version before this one. No index holds the column, and existing rows
-- are not rewritten.
alter table denial add column sender integer;
