-- serves: 0.1.0
-- Usage by sender (docs/decisions/0025-usage-by-age.md). The usage rollup adds it to `usage_total` as dimension 3, whose `key` is
-- the id of the principal.

-- The principals whose commands caused the units, beside the other arrays: ids of `principal`. Null: the service itself, a
-- principal that is not named, or a version before this one.
alter table usage_pending add column senders integer[];
